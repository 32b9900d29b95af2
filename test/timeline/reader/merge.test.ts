import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { byArrival, byDisplay, type Lane, mergeLanes } from '../../../src/timeline/reader/merge.ts';

const ascending = (a: number, b: number) => a - b;

/** A log of numbers that counts how often it is read. */
function laneOf(items: readonly number[], reads: number[] = []): Lane<number> {
  return async (last, limit) => {
    reads.push(limit);
    const from = last === undefined ? 0 : items.indexOf(last) + 1;
    return items.slice(from, from + limit);
  };
}

test('merged lanes give every item once, in order, whatever is taken at a time', async () => {
  const lanes = fc.uniqueArray(fc.tuple(fc.nat(4), fc.nat(500)), { selector: ([, item]) => item, maxLength: 60 });
  const counts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(lanes, counts, fc.integer({ min: 1, max: 6 }), async (pairs, sizes, chunk) => {
      const items = pairs.map(([, item]) => item).sort(ascending);
      const parts = [0, 1, 2, 3, 4].map((lane) =>
        items.filter((item) => pairs.some(([l, i]) => l === lane && i === item)),
      );
      const merged = mergeLanes(
        parts.map((part) => laneOf(part)),
        ascending,
        chunk,
      );
      const taken: number[] = [];
      for (let turn = 0; await merged.hasMore(); turn += 1) {
        const batch = await merged.take(sizes[turn % sizes.length] ?? 1);
        assert.ok(batch.length > 0);
        taken.push(...batch);
      }
      assert.deepEqual(taken, items);
      assert.deepEqual(await merged.take(1), []);
    }),
  );
});

test('a lane is read again only when its items are used up, and never after its end', async () => {
  const reads: [number[], number[]] = [[], []];
  const merged = mergeLanes([laneOf([1, 2, 3, 4, 5], reads[0]), laneOf([9], reads[1])], ascending, 2);
  assert.deepEqual(await merged.take(2), [1, 2]);
  assert.deepEqual(reads, [[2], [2]]);
  assert.deepEqual(await merged.take(9), [3, 4, 5, 9]);
  assert.deepEqual(reads, [[2, 4], [2]]);
});

test('reads of a long lane double up to 400 items', async () => {
  const reads: number[] = [];
  const items = Array.from({ length: 2000 }, (_, index) => index);
  assert.equal((await mergeLanes([laneOf(items, reads)], ascending, 41).take(1500)).length, 1500);
  assert.deepEqual(reads, [41, 82, 164, 328, 400, 400, 400]);
});

test('no lanes have nothing', async () => {
  const merged = mergeLanes([], ascending, 2);
  assert.deepEqual([await merged.take(3), await merged.hasMore()], [[], false]);
});

const record = (logId: string, position: string, sortAtMs: number, postId: string) => ({
  logId,
  position,
  kind: 'entry' as const,
  postId,
  uri: `https://origin.example/${postId}`,
  sortAtMs,
  arrivedAtMs: sortAtMs,
  late: false,
});
const state = (tag: string) => ({ tag, joined: '0-0', passed: '0-0', history: true });
const cursor = new Map([
  ['x', state('2222222222222222')],
  ['y', state('1111111111111111')],
]);

test('records arrive by position as numbers, then by tag', () => {
  const records = [
    record('x', '10-0', 0, 'a'),
    record('x', '9-10', 0, 'b'),
    record('x', '9-9', 0, 'c'),
    record('y', '10-0', 0, 'd'),
  ];
  assert.deepEqual(
    records.sort(byArrival(cursor)).map((each) => each.postId),
    ['c', 'b', 'd', 'a'],
  );
});

test('entries are shown by time, then by post id, both descending, copies of one post by tag', () => {
  const records = [
    record('x', '1-0', 5, 'b'),
    record('x', '2-0', 7, 'a'),
    record('y', '3-0', 5, 'b'),
    record('y', '4-0', 5, 'c'),
  ];
  assert.deepEqual(
    records.sort(byDisplay(cursor)).map((each) => each.position),
    ['2-0', '4-0', '3-0', '1-0'],
  );
});
