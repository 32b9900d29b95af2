import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { RecommenderUnavailableError, StoreUnavailableError } from '../../src/errors.ts';
import type { ForYouView, Hydrate } from '../../src/feed/for-you.ts';
import type { PostId } from '../../src/post.ts';
import type { FeedStore } from '../../src/stores/feed-store.ts';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import type { Store } from '../../src/stores/store.ts';
import { idsOf, posts, scriptedRecommender, world } from './fixture.ts';

const HOUR_MS = 3_600_000;

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

/** A store that refuses one call, counted from when it was armed. */
function refusingOnce(feeds: FeedStore) {
  const state = { left: Number.POSITIVE_INFINITY, hit: false };
  const refuses = Object.entries(feeds).map(([name, operation]) => [
    name,
    async (...args: unknown[]) => {
      if (state.left-- === 0) {
        state.hit = true;
        throw new StoreUnavailableError('this one call failed');
      }
      return (operation as (...args: unknown[]) => unknown)(...args);
    },
  ]);
  return { state, feeds: Object.fromEntries(refuses) as FeedStore };
}

type Scene = 'nothing there' | 'cached' | 'alias expired' | 'refresh' | 'next page' | 'next page, gone';

for (const scene of [
  'nothing there',
  'cached',
  'alias expired',
  'refresh',
  'next page',
  'next page, gone',
] as Scene[]) {
  test(`whichever single call the store refuses, first pages are served and cursors stay valid: ${scene}`, async () => {
    for (let call = 0; ; call++) {
      const { state, feeds } = refusingOnce(store.feeds);
      const { forYou, request, clock } = world({ feeds, posts: posts(60) });
      const viewer = `${userId} ${call}`;
      const first = scene === 'nothing there' ? undefined : await forYou.page(request({ userId: viewer }));
      if (scene === 'alias expired') clock.advance(600_001);
      if (scene === 'next page, gone') clock.advance(HOUR_MS + 1);
      const cursor = scene.startsWith('next page') ? first?.next : undefined;
      const asked = request({ userId: viewer, cursor });
      state.left = call;
      const answer = await (scene === 'refresh' ? forYou.refresh(asked) : forYou.page(asked)).catch((error) => error);
      state.left = Number.POSITIVE_INFINITY;
      if (!state.hit) return assert(call > 0);
      if (cursor) assert(answer instanceof StoreUnavailableError);
      const view: ForYouView = cursor ? await forYou.page(asked) : answer;
      if (!cursor) assert.equal(view.problems[0]?.code, 'STORE_UNAVAILABLE');
      const next = await forYou.page(request({ userId: viewer, cursor: view.next }));
      const seen = [...(cursor && first ? idsOf(first) : []), ...idsOf(view), ...idsOf(next)];
      assert.equal(new Set(seen).size, seen.length);
      assert(seen.length >= (cursor ? 58 : 39), `${seen.length}: a false positive may hide one`);
    }
  });
}

test('a recommender that never answers is given up, told so, and keeps nobody waiting', async () => {
  const recommender = scriptedRecommender(() => new Promise(() => {}));
  const { forYou, request, clock } = world({ feeds: store.feeds, posts: posts(5), recommender });
  const page = forYou.page(request({ userId }));
  while (recommender.asked.length === 0) await new Promise(setImmediate);
  clock.advance(10_000);
  const view = await page;
  assert.equal(view.items.length, 5);
  assert.deepEqual(view.problems, [
    {
      code: 'RECOMMENDER_UNAVAILABLE',
      message: 'the recommender did not answer within 10000 ms',
      retryAtMs: undefined,
    },
  ]);
  assert.equal(recommender.asked[0]?.signal?.aborted, true);
  await forYou.drain();
});

test('a recommender that names its own time is waited for so long, and its signal stays quiet when it answers', async () => {
  let answer: () => void = () => {};
  const slow = scriptedRecommender(({ candidates }) => {
    const items = candidates.map(({ post: { id } }) => ({ postId: id }));
    return new Promise((resolve) => (answer = () => resolve(items)));
  });
  const recommender = { ...slow, maxMs: 60_000 };
  const { forYou, request, clock } = world({ feeds: store.feeds, posts: posts(5), recommender });
  const page = forYou.page(request({ userId }));
  while (slow.asked.length === 0) await new Promise(setImmediate);
  clock.advance(59_999);
  answer();
  assert.deepEqual((await page).problems, []);
  clock.advance(1);
  assert.equal(slow.asked[0]?.signal?.aborted, false);
});

test('a recommender that fails after an empty answer is stood in for, not answered by the empty instance', async () => {
  let isOut = false;
  const recommender = scriptedRecommender(() => {
    if (isOut) throw new RecommenderUnavailableError('out');
    return [];
  });
  const { forYou, request, clock } = world({ feeds: store.feeds, posts: posts(5), recommender });
  await forYou.page(request({ userId }));
  const read = await forYou.page(request({ userId }));
  assert.deepEqual([read.state, read.items], ['CACHED', []], 'which lengthens its life');
  isOut = true;
  clock.advance(5_001);
  assert.equal((await forYou.page(request({ userId }))).items.length, 5);
});

/** Hydrates all but these, of which nothing can be had now; a batch of these alone throws. */
function without(all: Hydrate, out: ReadonlySet<PostId>, error: Error): Hydrate {
  return async (ids) => {
    const rest = ids.filter((id) => !out.has(id));
    if (rest.length === 0) throw error;
    return all(rest);
  };
}

test('a page is shown as far as it was found when its refill cannot be had, and the next one goes on there', async () => {
  for (const error of [new RecommenderUnavailableError('down'), new StoreUnavailableError('out')]) {
    const { forYou, request, hidden } = world({ feeds: store.feeds, posts: posts(40) });
    const ids = posts(40).map(({ id }) => id);
    for (const id of ids.slice(0, 3)) hidden.add(id);
    const out = new Set(ids.slice(11, 20));
    const viewer = `${userId} ${error.message}`;
    const hydrate = without(request().hydrate, out, error);
    const view = await forYou.page(request({ userId: viewer, limit: 10, hydrate }));
    assert.deepEqual(idsOf(view), ids.slice(3, 11));
    assert.equal(view.problems[0]?.message, error.message);
    const next = await forYou.page(request({ userId: viewer, limit: 10, cursor: view.next }));
    assert.equal(idsOf(next)[0], '12@town.example');
  }
});

test('posts that cannot be had now at the head of a feed do not hide the rest of it', async () => {
  const { forYou, request } = world({ feeds: store.feeds, posts: posts(40) });
  const out = new Set(posts(6).map(({ id }) => id));
  const hydrate = without(request().hydrate, out, new RecommenderUnavailableError('down'));
  const view = await forYou.page(request({ userId, limit: 5, hydrate }));
  assert.equal(idsOf(view)[0], '7@town.example');
  assert.equal(view.problems[0]?.code, 'RECOMMENDER_UNAVAILABLE');
});

test('when part of a feed cannot be had and the rest of it is hidden the page fails, retryably', async () => {
  const { forYou, request, hidden } = world({ feeds: store.feeds, posts: posts(40) });
  for (const { id } of posts(40).slice(6)) hidden.add(id);
  const out = new Set(posts(6).map(({ id }) => id));
  const hydrate = without(request().hydrate, out, new RecommenderUnavailableError('down'));
  await assert.rejects(forYou.page(request({ userId, limit: 5, hydrate })), RecommenderUnavailableError);
});
