import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sinceIdBelowLatest, sinceIdByRetrievedAt } from '../../src/ids/since-id.ts';
import { MASTODON, type SnowflakeLayout, TWITTER } from '../../src/ids/snowflake.ts';

const K = 1000; // ms, as published
const T = 400_000_000_000; // ms of id time
const id = (time: number, low = 0): bigint => (BigInt(time) << 22n) | BigInt(low);
const unix = (time: number): number => TWITTER.epochMs + time;
const statusId = (unixMs: number, low = 0): bigint => (BigInt(unixMs) << 16n) | BigInt(low);

const GOLDEN: readonly {
  name: string;
  layout: SnowflakeLayout;
  latest: bigint;
  retrievedAtMs: number;
  kMs: number;
  expected: bigint;
}[] = [
  {
    name: 'a poll that was sent k after the newest id starts just below the newest id',
    layout: TWITTER,
    latest: id(T, 77),
    retrievedAtMs: unix(T + K),
    kMs: K,
    expected: id(T) - 1n, // (T + 1000 - 1000) << 22, minus 1: inside [lower, latest]
  },
  {
    name: 'a poll that was sent long after the newest id starts at the newest id',
    layout: TWITTER,
    latest: id(T, 77),
    retrievedAtMs: unix(T + K + 1),
    kMs: K,
    expected: id(T, 77), // (T + 1) << 22, minus 1, lies above latest: the upper clamp
  },
  {
    name: 'a poll that was sent half a k after the newest id starts half a k below it',
    layout: TWITTER,
    latest: id(T, 77),
    retrievedAtMs: unix(T + 500),
    kMs: K,
    expected: id(T - 500) - 1n, // T + 500 - 1000
  },
  {
    name: 'a clock that runs behind re-reads k and no more',
    layout: TWITTER,
    latest: id(T, 77),
    retrievedAtMs: unix(T - 3_600_000),
    kMs: K,
    expected: id(T - K) - 1n, // the lower clamp: latest's time minus k
  },
  {
    name: 'a clock before the epoch gives the lower bound, not a negative id',
    layout: TWITTER,
    latest: id(T, 77),
    retrievedAtMs: 0,
    kMs: K,
    expected: id(T - K) - 1n, // time2sf is max(0, ..) << 22 = 0, minus 1 = -1: the lower clamp
  },
  {
    name: 'an id of exactly k is given back: the overflow guard',
    layout: TWITTER,
    latest: id(K, 5),
    retrievedAtMs: unix(T),
    kMs: K,
    expected: id(K, 5), // timestamp <= k
  },
  {
    name: 'an id of just more than k has room below',
    layout: TWITTER,
    latest: id(K + 1, 5),
    retrievedAtMs: unix(0),
    kMs: K,
    expected: id(1) - 1n, // (1001 - 1000) << 22, minus 1
  },
  {
    name: 'a sequential id of before November 2010 is given back',
    layout: TWITTER,
    latest: 20n,
    retrievedAtMs: unix(T),
    kMs: K,
    expected: 20n, // 20 >> 22 = 0 <= k
  },
  {
    name: 'k = 0 reads the newest ms again, as an id of it may still come',
    layout: TWITTER,
    latest: id(T, 77),
    retrievedAtMs: unix(T),
    kMs: 0,
    expected: id(T) - 1n,
  },
  {
    name: 'Mastodon shifts by 16 from the Unix epoch',
    layout: MASTODON,
    latest: statusId(1_785_000_000_000, 9),
    retrievedAtMs: 1_785_000_030_000,
    kMs: 60_000,
    expected: statusId(1_784_999_970_000) - 1n, // 30 s after the newest id, minus 60 s
  },
];

for (const { name, layout, latest, retrievedAtMs, kMs, expected } of GOLDEN) {
  test(name, () => {
    assert.equal(sinceIdByRetrievedAt(layout, { latestId: String(latest), retrievedAtMs, kMs }), String(expected));
  });
}

test('the plain floor lies k of id time below the newest id', () => {
  const latestId = String(id(T, 77));
  assert.equal(sinceIdBelowLatest(TWITTER, { latestId, kMs: 5000 }), String(id(T - 5000) - 1n));
  assert.equal(sinceIdBelowLatest(TWITTER, { latestId: String(id(5000)), kMs: 5000 }), String(id(5000)));
  const status = String(statusId(1_785_000_000_000, 9));
  assert.equal(sinceIdBelowLatest(MASTODON, { latestId: status, kMs: 1000 }), String(statusId(1_784_999_999_000) - 1n));
});

for (const lateMs of [600, 2200, 4100]) {
  test(`a post ${lateMs} ms below the newest id lies above the plain floor of 5 s, and a published k of 1 s ${lateMs > 1000 ? 'loses' : 'keeps'} it`, () => {
    const late = id(T - lateMs, 3);
    const latestId = String(id(T, 77));
    assert.ok(late > BigInt(sinceIdBelowLatest(TWITTER, { latestId, kMs: 5000 })));
    assert.equal(late > BigInt(sinceIdBelowLatest(TWITTER, { latestId, kMs: 1000 })), lateMs <= 1000);
  });
}

test('a post that is still invisible 61 s after the newest id is lost by the shortcut, and kept by the floor', () => {
  const late = id(T - 4100, 3);
  const latestId = String(id(T, 77));
  assert.ok(late <= BigInt(sinceIdByRetrievedAt(TWITTER, { latestId, retrievedAtMs: unix(T + 61_000), kMs: 5000 })));
  assert.ok(late > BigInt(sinceIdBelowLatest(TWITTER, { latestId, kMs: 5000 })));
});

const layout = fc.constantFrom(TWITTER, MASTODON);
const timeMs = fc.oneof(fc.integer({ min: 0, max: 20_000 }), fc.integer({ min: 0, max: 2 ** 41 - 1 }));
const latestId = fc
  .tuple(layout, timeMs, fc.integer({ min: 0, max: 65_535 }))
  .map(([of, time, low]) => ({ of, id: (BigInt(time) << BigInt(of.generatorBits + of.sequenceBits)) | BigInt(low) }));
const kMs = fc.oneof(fc.constant(0), fc.constant(1000), fc.integer({ min: 0, max: 10_000_000 }));
/** Around the id's own time, and anywhere. */
const clock = fc.oneof(fc.integer({ min: -20_000, max: 20_000 }), fc.integer({ min: -(2 ** 42), max: 2 ** 42 }));
const timeOf = (of: SnowflakeLayout, latest: bigint): number =>
  of.epochMs + Number(latest >> BigInt(of.generatorBits + of.sequenceBits));
const since = (of: SnowflakeLayout, latest: bigint, retrievedAtMs: number, k: number): bigint =>
  BigInt(sinceIdByRetrievedAt(of, { latestId: String(latest), retrievedAtMs, kMs: k }));

test('the since_id is never above the newest id', () => {
  fc.assert(
    fc.property(latestId, clock, kMs, (latest, drift, k) => {
      assert.ok(since(latest.of, latest.id, timeOf(latest.of, latest.id) + drift, k) <= latest.id);
      assert.ok(BigInt(sinceIdBelowLatest(latest.of, { latestId: String(latest.id), kMs: k })) <= latest.id);
    }),
  );
});

test('the since_id is never negative', () => {
  fc.assert(
    fc.property(latestId, clock, kMs, (latest, drift, k) => {
      assert.ok(since(latest.of, latest.id, timeOf(latest.of, latest.id) + drift, k) >= 0n);
      assert.ok(BigInt(sinceIdBelowLatest(latest.of, { latestId: String(latest.id), kMs: k })) >= 0n);
    }),
  );
});

test('a higher newest id never lowers the since_id, where its time is above k', () => {
  fc.assert(
    fc.property(latestId, fc.bigInt({ min: 0n, max: 2n ** 40n }), clock, kMs, (latest, more, drift, k) => {
      const sentAt = timeOf(latest.of, latest.id) + drift;
      fc.pre(timeOf(latest.of, latest.id) - latest.of.epochMs > k);
      assert.ok(since(latest.of, latest.id, sentAt, k) <= since(latest.of, latest.id + more, sentAt, k));
    }),
  );
});

test('the since_id is never later than a faster clock would allow', () => {
  fc.assert(
    fc.property(latestId, clock, fc.nat({ max: 100_000 }), kMs, (latest, drift, ahead, k) => {
      const sentAt = timeOf(latest.of, latest.id) + drift;
      assert.ok(since(latest.of, latest.id, sentAt, k) <= since(latest.of, latest.id, sentAt + ahead, k));
    }),
  );
});

test('the shortcut never reads more than the plain floor', () => {
  fc.assert(
    fc.property(latestId, clock, kMs, (latest, drift, k) => {
      const floor = BigInt(sinceIdBelowLatest(latest.of, { latestId: String(latest.id), kMs: k }));
      assert.ok(floor <= since(latest.of, latest.id, timeOf(latest.of, latest.id) + drift, k));
    }),
  );
});

test('fractions of a ms are rounded to the side that reads again', () => {
  const latest = String(id(T));
  const half = sinceIdByRetrievedAt(TWITTER, { latestId: latest, retrievedAtMs: unix(T) + 0.5, kMs: 0.5 });
  assert.equal(half, sinceIdByRetrievedAt(TWITTER, { latestId: latest, retrievedAtMs: unix(T), kMs: 1 }));
});

test('what is no id, no overlap and no time is refused', () => {
  for (const bad of ['', 'abc', '-5', '1.5', '01', '9'.repeat(30)]) {
    assert.throws(() => sinceIdBelowLatest(TWITTER, { latestId: bad, kMs: K }), RangeError);
  }
  for (const bad of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
    assert.throws(() => sinceIdBelowLatest(TWITTER, { latestId: '20', kMs: bad }), RangeError);
  }
  assert.throws(() => sinceIdByRetrievedAt(TWITTER, { latestId: '20', retrievedAtMs: Number.NaN, kMs: K }), RangeError);
});
