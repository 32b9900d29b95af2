import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canGoOnAfter, cursorAfter, firstCursor, successorCursor } from '../../src/feed/cursor.ts';
import { itemHash, nameHash } from '../../src/feed/story.ts';
import { hasServed } from '../../src/ids/served-set.ts';
import { createTokens, type FeedCursor, MAX_TOKEN_LENGTH } from '../../src/ids/tokens.ts';
import { HASH_KEY } from './fixture.ts';

const FEED = 'a'.repeat(16);
const tokens = createTokens([Buffer.alloc(32)]);
const names = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `${from + index}@a.example`);
const hashes = (ids: readonly string[]) => ids.map((id) => itemHash(HASH_KEY, { postId: id, names: [id] }));
const knows = (cursor: FeedCursor, ids: readonly string[]) =>
  ids.every((id) => hasServed(cursor.served, nameHash(HASH_KEY, id)));

test('in the first instance the served set is made of all items from its beginning', () => {
  const cursor = cursorAfter(firstCursor(FEED), hashes(names(0, 40)));
  assert.deepEqual([cursor.offset, cursor.base, cursor.served.count], [40, 0, 40]);
  assert(knows(cursor, names(0, 40)));
});

test('a successor starts where the scroll was, and adds what it serves', () => {
  const gone = cursorAfter(firstCursor(FEED), hashes(names(0, 40)));
  const start = successorCursor('b'.repeat(16), gone);
  assert.deepEqual([start.offset, start.base, start.successor], [0, 40, true]);
  const after = cursorAfter(cursorAfter(start, hashes(names(40, 50))), hashes(names(50, 60)));
  assert.equal(after.offset, 20);
  assert(knows(after, names(0, 60)));
  assert.equal(successorCursor('c'.repeat(16), after).base, 60);
});

test('however the pages were cut, the same place is the same token', () => {
  const start = successorCursor(FEED, cursorAfter(firstCursor(FEED), hashes(names(0, 5))));
  const whole = cursorAfter(start, hashes(names(5, 30)));
  const inSteps = cursorAfter(cursorAfter(start, hashes(names(5, 11))), hashes(names(11, 30)));
  assert.equal(tokens.sealFeedCursor('ann', inSteps), tokens.sealFeedCursor('ann', whole));
});

test('what can go on fits into a token, and past 2,000 stories nothing goes on', () => {
  for (const count of [1000, 2000]) {
    for (const split of [0, 1, 500, 999, 1000, 1999, 2000].filter((at) => at <= count)) {
      const first = cursorAfter(firstCursor(FEED), hashes(names(0, split)));
      const later = { ...successorCursor(FEED, first), base: Number.MAX_SAFE_INTEGER - 5000 };
      const [start, served] = split === count ? [firstCursor(FEED), names(0, count)] : [later, names(split, count)];
      assert(canGoOnAfter(start, hashes(served)), `${split} of ${count} in the first instance`);
      const full = cursorAfter(start, hashes(served));
      assert(tokens.sealFeedCursor('ann', full).length <= MAX_TOKEN_LENGTH);
    }
  }
  assert(!canGoOnAfter(firstCursor(FEED), hashes(names(0, 2001))));
  const start = successorCursor(FEED, cursorAfter(firstCursor(FEED), hashes(names(0, 1990))));
  assert(canGoOnAfter(start, hashes(names(1990, 2000))));
  assert(!canGoOnAfter(start, hashes(names(1990, 2010))));
});
