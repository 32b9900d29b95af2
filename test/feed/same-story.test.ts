import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { RecommenderUnavailableError } from '../../src/errors.ts';
import type { Post } from '../../src/post.ts';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import type { Store } from '../../src/stores/store.ts';
import { candidatesOf, idsOf, post, posts, scriptedRecommender, world } from './fixture.ts';

const HOUR_MS = 3_600_000;
const original = post({ id: '1@town.example', uri: 'https://town.example/1' });
const copy = post({ id: '77@pond.example', uri: 'https://town.example/1' });
const repost = post({ id: '8@town.example', uri: 'https://town.example/8', text: '', html: '', repostOf: original });
const others = [...'abcd'].map((letter) => post({ id: `${letter}@town.example` }));
const [a] = others;

let store: Store;
before(async () => {
  store = await openSqliteStore({ file: ':memory:' });
});
after(() => store.close());

/** Viewers of different tests never meet. */
let userId = '';
let tests = 0;
beforeEach(() => {
  userId = `viewer ${tests++}`;
});

/** Gives these posts in turn, a list a generation, by their ids alone. */
function inTurn(...generations: (readonly (Post | undefined)[])[]) {
  return scriptedRecommender(() => (generations.shift() ?? []).flatMap((one) => (one ? [{ postId: one.id }] : [])));
}

test('an original, its reposts and its copies on other servers are one story, be it that no recommender says so', async () => {
  for (const [index, order] of [
    [original, repost, copy],
    [repost, copy, original],
    [copy, original, repost],
  ].entries()) {
    const all = [original, repost, copy, ...others];
    const { forYou, request } = world({ feeds: store.feeds, posts: all, recommender: inTurn([...order, a]) });
    const view = await forYou.page(request({ userId: `${userId} ${index}` }));
    assert.deepEqual(idsOf(view), [order[0]?.id, a?.id]);
  }
});

for (const [served, later] of [
  [original, repost],
  [original, copy],
  [repost, original],
  [repost, copy],
  [copy, repost],
] as const) {
  test(`after ${served.id} a scroll that goes on leaves out ${later.id}, a candidate or not`, async () => {
    const all = [original, repost, copy, ...others];
    for (const known of [candidatesOf(all), []]) {
      const viewer = `${userId} ${known.length}`;
      const recommender = inTurn([served, a], [later, ...others]);
      const { forYou, request, clock } = world({ feeds: store.feeds, posts: all, recommender });
      const first = await forYou.page(request({ userId: viewer, limit: 1 }));
      assert.deepEqual(idsOf(first), [served.id]);
      clock.advance(HOUR_MS + 1);
      const candidates = async () => ({ candidates: known, problems: [] });
      const second = await forYou.page(request({ userId: viewer, cursor: first.next, candidates }));
      assert(!idsOf(second).includes(later.id));
      assert(second.items.length >= 3, 'a false positive may hide one');
    }
  });
}

test('a post that was named by its id alone does not come again as a repost', async () => {
  const all = [original, repost, ...others];
  const { forYou, request, clock } = world({
    feeds: store.feeds,
    posts: all,
    recommender: inTurn([original, a], [repost, ...others]),
  });
  const nothing = async () => ({ candidates: [], problems: [] });
  const first = await forYou.page(request({ userId, limit: 1, candidates: nothing }));
  clock.advance(HOUR_MS + 1);
  const second = await forYou.page(request({ userId, cursor: first.next }));
  assert(!idsOf(second).includes(repost.id));
});

test('a scroll repeats nothing when another began in its successor and both go on from one place', async () => {
  let isOut = false;
  let generations = 0;
  // The last ten are twins of the first ten, which only the recommender knows; its third answer begins with them.
  const all = posts(40);
  const recommender = scriptedRecommender(() => {
    if (isOut) throw new RecommenderUnavailableError('out');
    const items = all.map(({ id }, index) => ({ postId: id, canonicalId: `story ${index % 30}` }));
    return ++generations === 3 ? items.toReversed() : items;
  });
  const { forYou, request, clock } = world({ feeds: store.feeds, posts: all, recommender });
  const first = await forYou.page(request({ userId, limit: 10 }));
  clock.advance(HOUR_MS + 1);
  const second = await forYou.page(request({ userId, limit: 10, cursor: first.next }));
  isOut = true;
  const other = await forYou.page(request({ userId, limit: 10 }));
  assert.equal(other.feed?.feedId, second.feed?.feedId, 'the successor is the newest live instance');
  isOut = false;
  clock.advance(HOUR_MS + 1);
  await forYou.page(request({ userId, limit: 10, cursor: other.next }));
  const third = await forYou.page(request({ userId, limit: 10, cursor: second.next }));
  const seen = [first, second, third].flatMap(idsOf).map((id) => Number.parseInt(id, 10) % 30);
  assert.equal(new Set(seen).size, seen.length);
  assert(third.items.length > 0);
});
