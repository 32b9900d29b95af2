import assert from 'node:assert/strict';
import { after, before, mock, test } from 'node:test';
import { RecommenderUnavailableError } from '../../src/errors.ts';
import { localRecommender } from '../../src/recommenders/local.ts';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import type { Store } from '../../src/stores/store.ts';
import { countBlocks } from '../upstreams/count-steps.ts';
import { candidatesOf, idsOf, manualClock, posts, scriptedRecommender, world } from './fixture.ts';

let store: Store;
before(async () => {
  store = await openSqliteStore({ file: ':memory:' });
});
after(() => store.close());

const viewers = (name: string, count: number) => Array.from({ length: count }, (_, n) => `${name} ${n}`);

/** One list for all, as viewers have it who may read the same sources. */
function sharing(count: number) {
  const list = candidatesOf(posts(count));
  return { candidates: async () => ({ candidates: list, problems: [] }) };
}

test('what feeds of one list name is hashed once', async () => {
  const { forYou, request } = world({ feeds: store.feeds, posts: posts(500), recommender: localRecommender });
  const shared = sharing(500);
  const steps = (userId: string) =>
    countBlocks(
      () => forYou.page(request({ ...shared, userId, limit: 1 })),
      ['/feed/story.ts', '/ids/story-hash.ts', '/ids/sip-hash.ts'],
    );
  const [first, second] = [await steps('hash 1'), await steps('hash 2')];
  assert.ok(second * 5 <= first, `${second} blocks after ${first}`);
});

test('feeds of some minutes keep what they name for one time, two lives of theirs at least', async () => {
  const clock = manualClock();
  const { forYou, request } = world({ feeds: store.feeds, posts: posts(50), clock });
  const put = mock.method(store.feeds, 'putReferences');
  await forYou.page(request({ userId: 'refs 1' }));
  clock.advance(30_000);
  await forYou.page(request({ userId: 'refs 2' }));
  const [first, second] = put.mock.calls.map(({ arguments: [, expiresAtMs] }) => expiresAtMs);
  put.mock.restore();
  assert.equal(first, second);
  const lives = ((second ?? 0) - clock.now()) / 3_600_000;
  assert.ok(lives >= 2 && lives <= 2.05, `${lives} lives`);
});

test('at most 32 feeds are made at a time', async () => {
  let [running, most] = [0, 0];
  const recommender = scriptedRecommender(async ({ candidates }) => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return candidates.map(({ post }) => ({ postId: post.id }));
  });
  const { forYou, request } = world({ feeds: store.feeds, posts: posts(20), recommender });
  const pages = await Promise.all(viewers('crowd', 100).map((userId) => forYou.page(request({ userId }))));
  assert.ok(pages.every(({ state, items }) => state === 'GENERATED' && items.length === 20));
  assert.equal(most, 32);
});

test('who waits in line too long for a feed is told to ask again, and those before are served', async () => {
  const clock = manualClock();
  const { promise, resolve } = Promise.withResolvers<void>();
  const recommender = {
    ...scriptedRecommender(async ({ candidates }) => {
      await promise;
      return candidates.map(({ post }) => ({ postId: post.id }));
    }),
    maxMs: 60_000,
  };
  const { forYou, request } = world({ feeds: store.feeds, posts: posts(20), recommender, clock });
  const pages = Promise.allSettled(viewers('line', 40).map((userId) => forYou.page(request({ userId }))));
  for (let turn = 0; turn < 20; turn += 1) await new Promise((done) => setImmediate(done));
  clock.advance(10_000);
  resolve();
  const failed = (await pages).flatMap((page) => (page.status === 'rejected' ? [page.reason] : []));
  assert.equal(failed.length, 8);
  for (const error of failed) {
    assert(error instanceof RecommenderUnavailableError);
    assert.equal(error.retryAtMs, clock.now() + 1_000);
  }
});

test('who waits in line too long is shown the feed of before, where there is one', async () => {
  const clock = manualClock();
  const { promise, resolve } = Promise.withResolvers<void>();
  let isSlow = false;
  const recommender = {
    ...scriptedRecommender(async ({ candidates }) => {
      if (isSlow) await promise;
      return candidates.map(({ post }) => ({ postId: post.id }));
    }),
    maxMs: 60_000,
  };
  const { forYou, request } = world({ feeds: store.feeds, posts: posts(20), recommender, clock });
  const before = await forYou.page(request({ userId: 'zoe' }));
  isSlow = true;
  const others = viewers('others', 32).map((userId) => forYou.page(request({ userId })));
  for (let turn = 0; turn < 20; turn += 1) await new Promise((done) => setImmediate(done));
  const page = forYou.refresh(request({ userId: 'zoe' }));
  for (let turn = 0; turn < 20; turn += 1) await new Promise((done) => setImmediate(done));
  clock.advance(10_000);
  const { state, feed, problems } = await page;
  assert.deepEqual([state, feed?.feedId], ['CACHED', before.feed?.feedId]);
  assert.deepEqual(
    problems.map(({ code }) => code),
    ['RECOMMENDER_UNAVAILABLE'],
  );
  resolve();
  await Promise.all(others);
});

test('a crowd that waits for the same candidates leaves turns to others while its feeds are made', async () => {
  const { forYou, request } = world({ feeds: store.feeds, posts: posts(500), recommender: localRecommender });
  const { promise, resolve } = Promise.withResolvers<void>();
  const shared = await sharing(500).candidates();
  const candidates = async () => {
    await promise;
    return shared;
  };
  const pages = Promise.all(viewers('turns', 30).map((userId) => forYou.page(request({ candidates, userId }))));
  let turns = 0;
  let counting = setImmediate(function count() {
    turns += 1;
    counting = setImmediate(count);
  });
  resolve();
  await pages;
  clearImmediate(counting);
  assert.ok(turns >= 30, `others had ${turns} turns meanwhile`);
});

test('a successor is made of what the scroll has not served, out of the shared list', async () => {
  const { forYou, request, catalogue } = world({ feeds: store.feeds, posts: posts(60), recommender: localRecommender });
  const shared = { candidates: async () => ({ candidates: list, problems: [] }) };
  const list = candidatesOf(catalogue);
  const first = await forYou.page(request({ ...shared, userId: 'successor' }));
  await store.feeds.purge('successor');
  const seen = idsOf(first);
  let view = first;
  while (view.next) {
    view = await forYou.page(request({ ...shared, userId: 'successor', cursor: view.next }));
    seen.push(...idsOf(view));
  }
  // One story in a thousand seems to have been served.
  assert.equal(new Set(seen).size, seen.length);
  assert.ok(seen.length >= 58, `${seen.length} of 60`);
});
