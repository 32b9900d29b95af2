import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { RecommenderUnavailableError, UpstreamError } from '../../src/errors.ts';
import { createForYou } from '../../src/feed/for-you.ts';
import { createHydrator, type PostLoader } from '../../src/loaders.ts';
import type { Source } from '../../src/source.ts';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import type { Store } from '../../src/stores/store.ts';
import { idsOf, inOrder, manualClock, posts, STORY_KEYS, watchStrictly } from '../feed/fixture.ts';
import { type FakeUpstream, fakeUpstream, show, source } from '../loaders-fixture.ts';

const BULK = 20;
const WAIT_MS = 1_500;

let store: Store;
let clock: ReturnType<typeof manualClock>;
let upstream: FakeUpstream;
let town: Source;
let budget: number;
let loader: PostLoader;
/** Known upstream alone. */
const named = posts(100);
const ids = named.map(({ id }) => id);

beforeEach(async () => {
  store = await openSqliteStore({ file: ':memory:' });
  clock = manualClock();
  upstream = fakeUpstream(clock.now);
  upstream.behave = { bulk: BULK };
  for (const one of named) upstream.knows.set(one.upstreamId, one);
  town = source('town', 'anyone', upstream);
  budget = Number.POSITIVE_INFINITY;
  const takeById = async (_: Source, count: number) => {
    const taken = Math.min(count, budget);
    budget -= taken;
    return taken;
  };
  loader = createHydrator({ ...store, sources: [town], takeById, clock, budgetWaitMs: WAIT_MS }).forViewer({});
});

afterEach(() => store.close());

/** Lets everything happen that does not wait for the clock. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => String(from + n));

test('what a recommender named is read ahead in full requests, in the order of the scroll', async () => {
  await loader.readAhead(ids);
  await settle();
  assert.deepEqual(
    upstream.asked,
    [0, 1, 2, 3, 4].map((n) => numbers(BULK * n + 1, BULK * (n + 1))),
  );
  const { posts: shown } = await loader.hydrate(ids);
  assert.equal(shown.size, 100);
  assert.equal(upstream.asked.length, 5);
});

test('what a source has brought is not read ahead', async () => {
  await show(store, town, named.slice(0, 90), clock.now());
  await loader.readAhead(ids);
  await settle();
  assert.deepEqual(upstream.asked, [numbers(91, 100)]);
});

test('a page takes what is under way already, and fills the room of its own request with what comes next', async () => {
  budget = 0;
  await loader.readAhead(ids);
  await settle();
  budget = 1;
  const page = await loader.hydrate(ids.slice(0, 5));
  assert.equal(page.posts.size, 5);
  assert.deepEqual(upstream.asked, [numbers(1, 20)]);
  const next = await loader.hydrate(ids.slice(5, 20));
  assert.equal(next.posts.size, 15);
  assert.equal(upstream.asked.length, 1);
});

test('two pages that want the same posts at once read them once', async () => {
  const pages = await Promise.all([loader.hydrate(ids.slice(0, 20)), loader.hydrate(ids.slice(0, 20))]);
  assert.deepEqual(
    pages.map(({ posts: shown }) => shown.size),
    [20, 20],
  );
  assert.equal(upstream.asked.length, 1);
});

test('a page waits for the budget for as long as it may', async () => {
  budget = 1;
  const page = loader.hydrate(ids.slice(0, 25));
  await settle();
  clock.advance(1_000);
  await settle();
  budget = 1;
  clock.advance(400);
  assert.equal((await page).posts.size, 25);
  assert.deepEqual(upstream.asked, [numbers(1, 20), numbers(21, 25)]);
});

test('what the budget did not allow in time is told as nothing to be had, or left out beside what was', async () => {
  budget = 1;
  const some = loader.hydrate(ids.slice(0, 25));
  for (let waited = 0; waited < WAIT_MS; waited += 100) {
    await settle();
    clock.advance(100);
  }
  assert.equal((await some).posts.size, 20);
  const none = loader.hydrate(ids.slice(20, 25));
  none.catch(() => {});
  for (let waited = 0; waited < WAIT_MS; waited += 100) {
    await settle();
    clock.advance(100);
  }
  await assert.rejects(none, RecommenderUnavailableError);
});

test('where each post costs a request, those that no page asks for are not read', async () => {
  upstream.behave = { bulk: 1 };
  await loader.readAhead(ids);
  await settle();
  assert.deepEqual(upstream.asked, [['1']]);
});

test('nothing more is read ahead from a host that fails', async () => {
  upstream.behave = { bulk: BULK, throws: new UpstreamError('UNAVAILABLE', 'down') };
  await loader.readAhead(ids);
  await settle();
  clock.advance(60_000);
  await settle();
  assert.equal(upstream.asked.length, 1);
});

test('what the budget does not allow within a minute is not read ahead any more', async () => {
  budget = 0;
  await loader.readAhead(ids);
  await settle();
  clock.advance(60_000);
  budget = 9;
  await settle();
  clock.advance(1_000);
  await settle();
  assert.equal(upstream.asked.length, 0);
});

test('a scroll through posts that are all named goes on page after page, with as few requests as hold them', async () => {
  const order = inOrder();
  const forYou = createForYou({
    feeds: store.feeds,
    recommender: { recommend: async () => ids.map((postId) => ({ postId })) },
    local: order,
    storyKeys: STORY_KEYS,
    clock,
    watch: watchStrictly(),
    settings: { size: 500, instanceTtlSeconds: 3600, currentTtlSeconds: 600, whenGone: 'continue' },
  });
  budget = 6;
  const request = {
    userId: 'ann',
    limit: 7,
    candidates: async () => ({ candidates: [], problems: [] }),
    hydrate: loader.hydrate,
    readAhead: loader.readAhead,
  };
  const seen: string[] = [];
  let view = await forYou.page(request);
  for (;;) {
    seen.push(...idsOf(view));
    if (!view.next) break;
    await settle();
    view = await forYou.page({ ...request, cursor: view.next });
  }
  assert.deepEqual(seen, ids);
  assert.ok(upstream.asked.length <= 6, `${upstream.asked.length} requests`);
});
