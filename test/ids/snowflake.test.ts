import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  CECOCHAT,
  decodeSnowflake,
  encodeSnowflake,
  highestId,
  isSnowflake,
  lowestId,
  MASTODON,
  PIXELFED,
  type SnowflakeLayout,
  TAKAHE,
  TWITTER,
} from '../../src/ids/snowflake.ts';

const LAYOUTS = { TWITTER, MASTODON, CECOCHAT, PIXELFED, TAKAHE };
const anyLayout = fc.constantFrom<SnowflakeLayout>(...Object.values(LAYOUTS), {
  epochMs: 1420070400000,
  timeBits: 42,
  generatorBits: 10,
  sequenceBits: 12,
});
const idOf = anyLayout.chain((layout) =>
  fc.record({
    layout: fc.constant(layout),
    timeMs: fc.integer({ min: 0, max: 2 ** layout.timeBits - 1 }).map((time) => layout.epochMs + time),
    generator: fc.integer({ min: 0, max: 2 ** layout.generatorBits - 1 }),
    sequence: fc.integer({ min: 0, max: 2 ** layout.sequenceBits - 1 }),
  }),
);

test('a Twitter id is time, machine and sequence', () => {
  // From the API's documentation: posted 2021-11-15T19:08:05Z.
  const id = String(((BigInt(Date.UTC(2021, 10, 15, 19, 8, 5, 69)) - 1288834974657n) << 22n) | (338n << 12n) | 2n);
  assert.equal(id, '1460323737035677698');
  assert.deepEqual(decodeSnowflake(TWITTER, id), {
    timeMs: Date.UTC(2021, 10, 15, 19, 8, 5, 69),
    generator: 338,
    sequence: 2,
  });
});

test('a Mastodon id is Unix ms and 16 bits, without a generator', () => {
  const timeMs = Date.UTC(2026, 10, 20, 21, 52, 0, 123);
  const id = encodeSnowflake(MASTODON, { timeMs, sequence: 0xbeef });
  assert.equal(id, String(BigInt(timeMs) * 65536n + 0xbeefn));
  assert.deepEqual(decodeSnowflake(MASTODON, id), { timeMs, generator: undefined, sequence: 0xbeef });
});

test('a CecoChat id is ms since 2021, 8 bits and 14 bits', () => {
  assert.equal(CECOCHAT.epochMs, Date.UTC(2021, 0));
  const id = encodeSnowflake(CECOCHAT, { timeMs: CECOCHAT.epochMs + 5, generator: 3, sequence: 9 });
  assert.equal(id, String(5n * 2n ** 22n + 3n * 2n ** 14n + 9n));
});

test('what is encoded decodes back, in every layout', () => {
  fc.assert(
    fc.property(idOf, ({ layout, timeMs, generator, sequence }) => {
      const id = encodeSnowflake(layout, { timeMs, generator, sequence });
      const parts = decodeSnowflake(layout, id);
      assert.deepEqual(parts, { timeMs, generator: layout.generatorBits === 0 ? undefined : generator, sequence });
    }),
  );
});

test('an id lies from the lowest to the highest of its ms, and outside those of its neighbours', () => {
  fc.assert(
    fc.property(idOf, ({ layout, timeMs, generator, sequence }) => {
      const id = BigInt(encodeSnowflake(layout, { timeMs, generator, sequence }));
      assert.ok(BigInt(lowestId(layout, timeMs)) <= id && id <= BigInt(highestId(layout, timeMs)));
      if (timeMs > layout.epochMs)
        assert.equal(BigInt(highestId(layout, timeMs - 1)) + 1n, BigInt(lowestId(layout, timeMs)));
    }),
  );
});

test('parts that do not fit are refused', () => {
  const timeMs = TWITTER.epochMs;
  for (const parts of [
    { timeMs: timeMs - 1, sequence: 0 },
    { timeMs: timeMs + 2 ** 41, sequence: 0 },
    { timeMs: timeMs + 0.5, sequence: 0 },
    { timeMs: Number.NaN, sequence: 0 },
    { timeMs, sequence: 4096 },
    { timeMs, sequence: -1 },
    { timeMs, sequence: 0, generator: 1024 },
  ]) {
    assert.throws(() => encodeSnowflake(TWITTER, parts), RangeError);
  }
  assert.throws(() => encodeSnowflake(MASTODON, { timeMs, sequence: 0, generator: 1 }), RangeError);
});

test('what is no id of the layout is refused', () => {
  for (const bad of [
    '',
    'abc',
    '-1',
    '1.0',
    '0x10',
    ' 1',
    '1\n',
    '01',
    '1e3',
    '9'.repeat(20),
    '1'.repeat(10_000),
    '٣',
  ]) {
    assert.throws(() => decodeSnowflake(TWITTER, bad), RangeError, bad);
    assert.equal(isSnowflake(bad), false, bad);
  }
  assert.throws(() => decodeSnowflake(TWITTER, String(2n ** 63n)), RangeError);
  assert.equal(decodeSnowflake(MASTODON, String(2n ** 64n - 1n)).timeMs, 2 ** 48 - 1);
});

test('a Snowflake is a decimal from 1 to 2^63 - 1', () => {
  assert.deepEqual(['0', '1', String(2n ** 63n - 1n), String(2n ** 63n)].map(isSnowflake), [false, true, true, false]);
});
