import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cursorAfter as after, canGoOnAfter, firstCursor, successorCursor } from '../../src/feed/cursor.ts';
import { nameHash } from '../../src/feed/story.ts';
import { hasServed } from '../../src/ids/served-set.ts';
import { createTokens, type FeedCursor, MAX_TOKEN_LENGTH } from '../../src/ids/tokens.ts';
import { STORY_KEYS } from './fixture.ts';

const FEED = 'a'.repeat(16);
const tokens = createTokens([Buffer.alloc(32)]);
const names = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `${from + index}@a.example`);
const hashes = (ids: readonly string[]) => ids.map((id) => nameHash(STORY_KEYS.current, id));
const passed = (start: FeedCursor, ids: readonly string[], shownAs: readonly string[] = []) => ({
  offset: start.successor ? start.offset + ids.length : ids.length,
  names: hashes(ids),
  shownAs: hashes(shownAs),
  count: ids.length + shownAs.length,
});
const cursorAfter = (start: FeedCursor, ids: readonly string[], shownAs?: readonly string[]) =>
  after(start, passed(start, ids, shownAs));
const canGoOn = (start: FeedCursor, ids: readonly string[]) => canGoOnAfter(start, passed(start, ids));
const knows = (cursor: FeedCursor, ids: readonly string[]) =>
  ids.every((id) => hasServed(cursor.served, nameHash(STORY_KEYS.current, id)));

test('in the first instance the served set is made of all items from its beginning', () => {
  const cursor = cursorAfter(firstCursor(FEED), names(0, 40));
  assert.deepEqual([cursor.offset, cursor.base, cursor.served.count], [40, 0, 40]);
  assert(knows(cursor, names(0, 40)));
});

test('what the first instance has shown under other names stays known when its set is made anew', () => {
  const cursor = cursorAfter(firstCursor(FEED), names(0, 3), ['a']);
  const later = cursorAfter(cursorAfter(cursor, names(0, 30), ['b']), names(0, 60));
  assert(knows(later, [...names(0, 60), 'a', 'b']));
  assert.equal(later.served.count, 62);
});

test('a successor starts where the scroll was, and adds what it serves', () => {
  const gone = cursorAfter(firstCursor(FEED), names(0, 40));
  const start = successorCursor('b'.repeat(16), gone);
  assert.deepEqual([start.offset, start.base, start.successor], [0, 40, true]);
  const after = cursorAfter(cursorAfter(start, names(40, 50)), names(50, 60));
  assert.equal(after.offset, 20);
  assert(knows(after, names(0, 60)));
  assert.equal(successorCursor('c'.repeat(16), after).base, 60);
});

test('however the pages were cut, the same place is the same token', () => {
  const start = successorCursor(FEED, cursorAfter(firstCursor(FEED), names(0, 5)));
  const whole = cursorAfter(start, names(5, 30));
  const inSteps = cursorAfter(cursorAfter(start, names(5, 11)), names(11, 30));
  assert.equal(tokens.sealFeedCursor('ann', inSteps), tokens.sealFeedCursor('ann', whole));
});

test('what can go on fits into a token, and past 2,000 stories nothing goes on', () => {
  for (const count of [1000, 2000]) {
    for (const split of [0, 1, 500, 999, 1000, 1999, 2000].filter((at) => at <= count)) {
      const first = cursorAfter(firstCursor(FEED), names(0, split));
      const later = { ...successorCursor(FEED, first), base: Number.MAX_SAFE_INTEGER - 5000 };
      const [start, served] = split === count ? [firstCursor(FEED), names(0, count)] : [later, names(split, count)];
      assert(canGoOn(start, served), `${split} of ${count} in the first instance`);
      const full = cursorAfter(start, served);
      assert(tokens.sealFeedCursor('ann', full).length <= MAX_TOKEN_LENGTH);
    }
  }
  assert(!canGoOn(firstCursor(FEED), names(0, 2001)));
  const start = successorCursor(FEED, cursorAfter(firstCursor(FEED), names(0, 1990)));
  assert(canGoOn(start, names(1990, 2000)));
  assert(!canGoOn(start, names(1990, 2010)));
});
