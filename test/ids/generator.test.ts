import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { IdsUnavailableError } from '../../src/errors.ts';
import { createIdGenerator } from '../../src/ids/generator.ts';
import { CECOCHAT, decodeSnowflake } from '../../src/ids/snowflake.ts';

const START = Date.UTC(2026, 10, 20);
const PER_MS = 16_384; // 2^14

function clocked(options: { toleranceMs?: number; maxBorrowMs?: number; generator?: number } = {}) {
  const clock = { ms: START };
  return { clock, ids: createIdGenerator({ generator: 7, now: () => clock.ms, ...options }) };
}

const parts = (id: string | undefined) => decodeSnowflake(CECOCHAT, id ?? '');

test('an id is the time, the generator and a sequence from 0', () => {
  const { clock, ids } = clocked({ generator: 255 });
  assert.deepEqual(parts(ids.next()), { timeMs: START, generator: 255, sequence: 0 });
  assert.deepEqual(parts(ids.next()), { timeMs: START, generator: 255, sequence: 1 });
  clock.ms += 3;
  assert.deepEqual(parts(ids.next()), { timeMs: START + 3, generator: 255, sequence: 0 });
});

test('ids are strictly increasing and of this generator, whatever the clock does and whoever asks', () => {
  const step = fc.record({
    clockMs: fc.oneof(fc.constant(0), fc.integer({ min: -50, max: 50 }), fc.integer({ min: -5000, max: 5000 })),
    count: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 5 }), fc.constant(PER_MS)),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), fc.nat({ max: 255 }), (steps, generator) => {
      const { clock, ids } = clocked({ generator, toleranceMs: 100, maxBorrowMs: 3 });
      let last = 0n;
      let highestClock = 0;
      for (const { clockMs, count } of steps) {
        clock.ms += clockMs;
        const refused = clock.ms < highestClock - 100;
        try {
          for (const id of count === 1 ? [ids.next()] : ids.batch(count)) {
            if (BigInt(id) <= last) assert.fail(`${id} after ${last}`);
            last = BigInt(id);
          }
          assert.ok(!refused);
          highestClock = Math.max(highestClock, clock.ms);
          const { timeMs, generator: by } = parts(String(last));
          assert.equal(by, generator);
          assert.ok(timeMs >= clock.ms && timeMs <= highestClock + 3);
        } catch (error) {
          if (!(error instanceof IdsUnavailableError)) throw error;
        }
      }
    }),
    { numRuns: 60 },
  );
});

test('a full sequence borrows the next ms, and the clock catches up', () => {
  const { clock, ids } = clocked();
  ids.batch(PER_MS);
  assert.deepEqual(parts(ids.next()), { timeMs: START + 1, generator: 7, sequence: 0 });
  clock.ms += 1;
  assert.deepEqual(parts(ids.next()), { timeMs: START + 1, generator: 7, sequence: 1 });
  clock.ms += 1;
  assert.deepEqual(parts(ids.next()), { timeMs: START + 2, generator: 7, sequence: 0 });
});

test('a batch is one generator, ascending, and may cross into the next ms', () => {
  const { ids } = clocked();
  ids.next();
  const batch = ids.batch(PER_MS);
  assert.equal(batch.length, PER_MS);
  assert.deepEqual(parts(batch[0]), { timeMs: START, generator: 7, sequence: 1 });
  assert.deepEqual(parts(batch.at(-2)), { timeMs: START, generator: 7, sequence: PER_MS - 1 });
  assert.deepEqual(parts(batch.at(-1)), { timeMs: START + 1, generator: 7, sequence: 0 });
  assert.ok(batch.every((id, at) => at === 0 || BigInt(id) > BigInt(batch[at - 1] ?? '')));
});

test('borrowing is bounded, refuses without using ids up, and goes on with the clock', () => {
  const { clock, ids } = clocked({ maxBorrowMs: 1 });
  ids.batch(PER_MS);
  ids.batch(PER_MS - 1);
  assert.throws(() => ids.batch(2), IdsUnavailableError);
  assert.deepEqual(parts(ids.next()), { timeMs: START + 1, generator: 7, sequence: PER_MS - 1 });
  assert.throws(() => ids.next(), IdsUnavailableError);
  clock.ms += 1;
  assert.deepEqual(parts(ids.next()), { timeMs: START + 2, generator: 7, sequence: 0 });
});

test('a clock that steps back within the tolerance keeps logical time', () => {
  const { clock, ids } = clocked({ toleranceMs: 100 });
  ids.next();
  clock.ms -= 100;
  assert.deepEqual(parts(ids.next()), { timeMs: START, generator: 7, sequence: 1 });
});

test('a clock that steps back beyond the tolerance is refused until it is back', () => {
  const { clock, ids } = clocked({ toleranceMs: 100 });
  ids.next();
  clock.ms -= 101;
  assert.throws(() => ids.next(), IdsUnavailableError);
  assert.throws(() => ids.batch(2), IdsUnavailableError);
  clock.ms += 1;
  assert.deepEqual(parts(ids.next()), { timeMs: START, generator: 7, sequence: 1 });
});

test('small steps back do not add up beyond the tolerance', () => {
  const { clock, ids } = clocked({ toleranceMs: 100 });
  ids.next();
  clock.ms -= 60;
  ids.next();
  clock.ms -= 60;
  assert.throws(() => ids.next(), IdsUnavailableError);
});

test('a clock outside the layout is refused, and changes nothing', () => {
  const { clock, ids } = clocked();
  for (const bad of [CECOCHAT.epochMs - 1, CECOCHAT.epochMs + 2 ** 41, Number.NaN, Number.POSITIVE_INFINITY]) {
    clock.ms = bad;
    assert.throws(() => ids.next(), IdsUnavailableError, String(bad));
  }
  clock.ms = START;
  assert.deepEqual(parts(ids.next()), { timeMs: START, generator: 7, sequence: 0 });
});

test('a clock with fractions of a ms is rounded down', () => {
  const { clock, ids } = clocked();
  clock.ms += 0.75;
  assert.equal(parts(ids.next()).timeMs, START);
});

test('two generators never give one id at the same time', () => {
  const a = clocked({ generator: 1 }).ids.batch(100);
  const b = clocked({ generator: 2 }).ids.batch(100);
  assert.equal(new Set([...a, ...b]).size, 200);
});

test('a batch has 2 to 16,384 ids', () => {
  const { ids } = clocked();
  for (const bad of [-1, 0, 1, 1.5, PER_MS + 1, Number.NaN]) assert.throws(() => ids.batch(bad), RangeError);
  assert.equal(ids.batch(2).length, 2);
});

test('a generator is 0 to 255, and bounds are not negative', () => {
  for (const generator of [-1, 256, 0.5, Number.NaN]) assert.throws(() => clocked({ generator }), RangeError);
  assert.throws(() => clocked({ toleranceMs: -1 }), RangeError);
  assert.throws(() => clocked({ maxBorrowMs: Number.NaN }), RangeError);
});
