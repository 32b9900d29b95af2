import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { RecommenderUnavailableError, StoreUnavailableError } from '../../src/errors.ts';
import type { ForYouView } from '../../src/feed/for-you.ts';
import { createTokens } from '../../src/ids/tokens.ts';
import type { RecommendedItem } from '../../src/recommenders/recommender.ts';
import type { FeedStore } from '../../src/stores/feed-store.ts';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import type { Store } from '../../src/stores/store.ts';
import { idsOf, type inOrder, manualClock, post, posts, scriptedRecommender, world } from './fixture.ts';

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

const failing = () =>
  scriptedRecommender(() => {
    throw new RecommenderUnavailableError('it is out', { retryAtMs: 123 });
  });

/** A store whose operations fail while `out`, as during an outage. */
function flaky(feeds: FeedStore) {
  const state = { out: false, calls: [] as string[] };
  const fails = Object.fromEntries(
    Object.entries(feeds).map(([name, operation]) => [
      name,
      async (...args: unknown[]) => {
        state.calls.push(name);
        if (state.out) throw new StoreUnavailableError('the store is out');
        return (operation as (...args: unknown[]) => unknown)(...args);
      },
    ]),
  );
  return { state, feeds: fails as unknown as FeedStore };
}

async function scroll(
  forYou: { page(request: never): Promise<ForYouView> },
  request: (overrides: object) => object,
  between: () => void = () => {},
): Promise<string[]> {
  const seen: string[] = [];
  let view = await forYou.page(request({}) as never);
  for (;;) {
    seen.push(...idsOf(view));
    if (!view.next) return seen;
    between();
    view = await forYou.page(request({ cursor: view.next }) as never);
  }
}

test('a first page is generated, then cached, and its next pages go on in the same order', async () => {
  const { forYou, request } = world({ feeds: store.feeds, posts: posts(50) });
  const first = await forYou.page(request({ userId }));
  const again = await forYou.page(request({ userId }));
  assert.deepEqual([first.state, again.state], ['GENERATED', 'CACHED']);
  assert.deepEqual(idsOf(again), idsOf(first));
  assert.equal(first.feed?.size, 50);

  const second = await forYou.page(request({ userId, cursor: first.next }));
  assert.equal(second.state, 'CACHED');
  assert.deepEqual(
    second.items.map(({ position }) => position),
    Array.from({ length: 20 }, (_, index) => 20 + index),
  );
  const third = await forYou.page(request({ userId, cursor: second.next }));
  assert.deepEqual(
    [...idsOf(first), ...idsOf(second), ...idsOf(third)],
    posts(50).map(({ id }) => id),
  );
  assert.equal(third.next, undefined);
});

test('50 concurrent first pages of one viewer ask the recommender once', async () => {
  let answer: (items: readonly RecommendedItem[]) => void = () => {};
  const recommender = scriptedRecommender(() => new Promise((resolve) => (answer = resolve)));
  const { forYou, request } = world({ feeds: store.feeds, posts: posts(30), recommender });
  const pages = Array.from({ length: 50 }, () => forYou.page(request({ userId })));
  while (recommender.asked.length === 0) await new Promise(setImmediate);
  answer(posts(30).map(({ id }) => ({ postId: id })));
  const views = await Promise.all(pages);
  assert.equal(recommender.asked.length, 1);
  assert.equal(new Set(views.map(({ feed }) => feed?.feedId)).size, 1);
});

test('two gateways that generate at once serve the one instance that won', async () => {
  const one = world({ feeds: store.feeds, posts: posts(30) });
  const other = world({ feeds: store.feeds, posts: posts(30) });
  const views = await Promise.all([
    one.forYou.page(one.request({ userId })),
    other.forYou.page(other.request({ userId })),
  ]);
  assert.equal(new Set(views.map(({ feed }) => feed?.feedId)).size, 1);
});

test('a generation goes on when nobody waits for its page, and drain waits for it', async () => {
  let answer: () => void = () => {};
  const recommender = scriptedRecommender(({ candidates }) => {
    const items = candidates.map(({ post: { id } }) => ({ postId: id }));
    return new Promise((resolve) => (answer = () => resolve(items)));
  });
  const { forYou, request, clock } = world({ feeds: store.feeds, posts: posts(5), recommender });
  const gone = new AbortController();
  const hydrate = async () => {
    throw gone.signal.reason;
  };
  const abandoned = forYou.page(request({ userId, hydrate }));
  while (recommender.asked.length === 0) await new Promise(setImmediate);
  gone.abort(new Error('the client went away'));
  const drained = forYou.drain();
  answer();
  await drained;
  assert.equal((await store.feeds.current(userId, clock.now())).instance?.size, 5);
  await assert.rejects(abandoned, /went away/);
});

test('the alias runs out by itself, however often the feed is read', async () => {
  const { forYou, request, clock } = world({ feeds: store.feeds, posts: posts(30) });
  const first = await forYou.page(request({ userId }));
  for (let minute = 0; minute < 9; minute++) {
    clock.advance(60_000);
    assert.equal((await forYou.page(request({ userId }))).feed?.feedId, first.feed?.feedId);
  }
  clock.advance(61_000);
  assert.equal((await forYou.page(request({ userId }))).state, 'GENERATED');
  const older = await forYou.page(request({ userId, cursor: first.next }));
  assert.equal(older.feed?.feedId, first.feed?.feedId, 'the old scroll goes on in its own instance');
});

test('refresh makes a new instance the current one, and calls within 5 s share it', async () => {
  const { forYou, request, clock, recommender } = world({ feeds: store.feeds, posts: posts(30) });
  const asked = () => (recommender as ReturnType<typeof inOrder>).asked.length;
  const first = await forYou.page(request({ userId }));
  const [one, other] = await Promise.all([forYou.refresh(request({ userId })), forYou.refresh(request({ userId }))]);
  clock.advance(4_999);
  const third = await forYou.refresh(request({ userId }));
  assert.equal(asked(), 2);
  assert.equal(new Set([one, other, third].map(({ feed }) => feed?.feedId)).size, 1);
  assert.notEqual(one.feed?.feedId, first.feed?.feedId);
  assert.equal((await forYou.page(request({ userId }))).feed?.feedId, one.feed?.feedId);
  assert.equal((await forYou.page(request({ userId, cursor: first.next }))).feed?.feedId, first.feed?.feedId);
  clock.advance(1);
  assert.notEqual((await forYou.refresh(request({ userId }))).feed?.feedId, one.feed?.feedId);
});

test('a scroll whose instance is gone goes on with what it has not shown, and positions count on', async () => {
  const { forYou, request, clock, recommender } = world({ feeds: store.feeds, posts: posts(60) });
  const first = await forYou.page(request({ userId }));
  clock.advance(3_600_001);
  const second = await forYou.page(request({ userId, cursor: first.next }));
  assert.equal(second.state, 'CONTINUED');
  assert.equal(second.items[0]?.position, 20);
  assert.equal(new Set([...idsOf(first), ...idsOf(second)]).size, 40);
  const [, asked] = (recommender as ReturnType<typeof inOrder>).asked;
  assert.deepEqual(asked?.exclude.toSorted(), idsOf(first).toSorted(), 'the recommender is told');
  assert.equal((await forYou.page(request({ userId, cursor: second.next }))).state, 'CACHED');
});

test('a retry finds the same successor, from another gateway too, and it never becomes the current one', async () => {
  const one = world({ feeds: store.feeds, posts: posts(60) });
  const first = await one.forYou.page(one.request({ userId }));
  one.clock.advance(3_600_001);
  const cursor = first.next;
  const second = await one.forYou.page(one.request({ userId, cursor }));
  const other = world({ feeds: store.feeds, posts: posts(60), clock: one.clock });
  const retried = await other.forYou.page(other.request({ userId, cursor }));
  assert.deepEqual([retried.feed, idsOf(retried)], [second.feed, idsOf(second)]);
  assert.equal((other.recommender as ReturnType<typeof inOrder>).asked.length, 0);
  assert.equal((await store.feeds.current(userId, one.clock.now())).instance, undefined);
});

test('with whenGone: empty a page whose instance is gone is EXPIRED and the recommender is not asked', async () => {
  const { forYou, request, clock, recommender } = world({
    feeds: store.feeds,
    posts: posts(60),
    settings: { whenGone: 'empty' },
  });
  const { next } = await forYou.page(request({ userId }));
  clock.advance(3_600_001);
  const view = await forYou.page(request({ userId, cursor: next }));
  assert.deepEqual(view, { items: [], state: 'EXPIRED', problems: [] });
  assert.equal((recommender as ReturnType<typeof inOrder>).asked.length, 1);
});

test('a scroll ends when a successor would hold nothing new', async () => {
  const { forYou, request, clock } = world({ feeds: store.feeds, posts: posts(60), settings: { size: 40 } });
  const seen = await scroll(
    forYou,
    (overrides) => request({ userId, ...overrides }),
    () => clock.advance(3_600_001),
  );
  assert.equal(new Set(seen).size, seen.length);
  assert(seen.length >= 58, `${seen.length} of 60: a false positive may hide one`);
});

test('another copy of a story that the scroll has shown does not come again', async () => {
  const original = post({ id: '1@town.example', uri: 'https://town.example/1' });
  const copy = post({ id: '77@pond.example', uri: 'https://town.example/1' });
  const rest = posts(6).slice(1);
  let generation = 0;
  const recommender = scriptedRecommender(() => [
    { postId: generation++ === 0 ? original.id : copy.id, canonicalId: 'story one' },
    ...rest.map(({ id }) => ({ postId: id })),
  ]);
  const { forYou, request, clock } = world({ feeds: store.feeds, posts: [original, copy, ...rest], recommender });
  const first = await forYou.page(request({ userId, limit: 2 }));
  clock.advance(3_600_001);
  const second = await forYou.page(request({ userId, limit: 10, cursor: first.next }));
  assert.deepEqual(idsOf(first), ['1@town.example', '2@town.example']);
  assert.deepEqual(idsOf(second), ['3@town.example', '4@town.example', '5@town.example', '6@town.example']);
});

test('a recommender that knows neither what was served nor more than it is asked for does not end a scroll', async () => {
  const all = posts(60);
  const stubborn = scriptedRecommender(({ limit }) => all.slice(0, limit).map(({ id }) => ({ postId: id })));
  const shortSighted = scriptedRecommender(({ candidates }) =>
    candidates.slice(0, 20).map(({ post: { id } }) => ({ postId: id })),
  );
  for (const recommender of [stubborn, shortSighted]) {
    const one = world({ feeds: store.feeds, posts: all, recommender, settings: { size: 20 } });
    const viewer = `${userId} ${recommender === stubborn}`;
    const first = await one.forYou.page(one.request({ userId: viewer, limit: 19 }));
    one.clock.advance(3_600_001);
    const second = await one.forYou.page(one.request({ userId: viewer, limit: 19, cursor: first.next }));
    assert.equal(second.items.length, 19);
  }
});

test('a post that was served under its uri does not come again under its id alone', async () => {
  // Of these uris no two look alike to a served set of one.
  const all = [1, 2, 4, 5].map((number) => post({ id: `${number}@town.example` }));
  const [served, ...rest] = all.map(({ id, uri }) => ({ postId: id, canonicalId: uri }));
  const recommender = scriptedRecommender(({ candidates }) =>
    candidates.length > 0 && served && rest[0] ? [served, rest[0]] : all.map(({ id }) => ({ postId: id })),
  );
  const { forYou, request, clock } = world({ feeds: store.feeds, posts: all, recommender });
  const first = await forYou.page(request({ userId, limit: 1 }));
  clock.advance(3_600_001);
  const candidates = async () => ({ candidates: [], problems: [] });
  const second = await forYou.page(request({ userId, cursor: first.next, candidates }));
  assert.deepEqual([idsOf(first), idsOf(second)], [['1@town.example'], rest.map(({ postId }) => postId)]);
});

test('a refresh wins over what another gateway has published meanwhile', async () => {
  const other = world({ feeds: store.feeds, posts: posts(5) });
  const recommender = scriptedRecommender(async ({ candidates }) => {
    await other.forYou.page(other.request({ userId }));
    return candidates.map(({ post: { id } }) => ({ postId: id }));
  });
  const { forYou, request, clock } = world({ feeds: store.feeds, posts: posts(5), recommender });
  const view = await forYou.refresh(request({ userId }));
  assert.equal(view.state, 'GENERATED');
  assert.equal((await store.feeds.current(userId, clock.now())).instance?.feedId, view.feed?.feedId);
});

test('a successor holds no more than the scroll can still serve', async () => {
  const { forYou, request, clock } = world({ feeds: store.feeds, posts: posts(2300), settings: { size: 2000 } });
  const first = await forYou.page(request({ userId, limit: 100 }));
  clock.advance(3_600_001);
  const second = await forYou.page(request({ userId, limit: 100, cursor: first.next }));
  assert.equal(second.feed?.size, 1900);
});

test("another viewer's copy of a story leaves an instance as it was", async () => {
  const own = post({ id: '1@town.example', uri: 'https://town.example/1' });
  const theirs = post({ id: '77@pond.example', uri: 'https://town.example/1' });
  const naming = (id: string) => scriptedRecommender(() => [{ postId: id, canonicalId: 'https://town.example/1' }]);
  const ann = world({ feeds: store.feeds, posts: [own], recommender: naming(own.id) });
  const bob = world({ feeds: store.feeds, posts: [theirs], recommender: naming(theirs.id) });
  await ann.forYou.page(ann.request({ userId }));
  assert.deepEqual(idsOf(await bob.forYou.page(bob.request({ userId: `${userId} b` }))), [theirs.id]);
  assert.deepEqual(idsOf(await ann.forYou.page(ann.request({ userId }))), [own.id]);
});

test('hidden posts are left out and the page is filled up with at most 3 more batches', async () => {
  const { forYou, request, hidden, hydrations } = world({ feeds: store.feeds, posts: posts(300) });
  for (const { id } of posts(299)) hidden.add(id);
  const view = await forYou.page(request({ userId, limit: 10 }));
  assert.deepEqual(idsOf(view), ['300@town.example']);
  assert.equal(view.next, undefined);
  assert.equal(hydrations.length, 4);
  assert.equal(new Set(hydrations.flat()).size, 300);
});

test('when the rest of an instance is hidden the page before it is the last', async () => {
  const { forYou, request, hidden } = world({ feeds: store.feeds, posts: posts(100) });
  for (const { id } of posts(100).slice(10)) hidden.add(id);
  const view = await forYou.page(request({ userId, limit: 10 }));
  assert.equal(view.items.length, 10);
  assert.equal(view.next, undefined);
});

test('a page whose posts cannot be had fails with what hydrate threw, and its cursor stays good', async () => {
  const { forYou, request } = world({ feeds: store.feeds, posts: posts(40) });
  const first = await forYou.page(request({ userId }));
  const hydrate = async () => {
    throw new RecommenderUnavailableError('nothing can be had');
  };
  await assert.rejects(forYou.page(request({ userId, cursor: first.next, hydrate })), /nothing can be had/);
  assert.equal((await forYou.page(request({ userId, cursor: first.next }))).items.length, 20);
});

test('a recommender that fails on a first page leaves the previous live instance, with a problem', async () => {
  const recommender = scriptedRecommender(({ candidates }) => {
    if (recommender.asked.length > 1) throw new RecommenderUnavailableError('it is out', { retryAtMs: 123 });
    return candidates.map(({ post: { id } }) => ({ postId: id }));
  });
  const { forYou, request, clock } = world({ feeds: store.feeds, posts: posts(30), recommender });
  const first = await forYou.page(request({ userId }));
  clock.advance(601_000);
  for (const view of [await forYou.page(request({ userId })), await forYou.refresh(request({ userId }))]) {
    assert.equal(view.feed?.feedId, first.feed?.feedId);
    assert.deepEqual(view.problems, [{ code: 'RECOMMENDER_UNAVAILABLE', message: 'it is out', retryAtMs: 123 }]);
  }
});

test('without a previous instance the local recommender stands in, for seconds', async () => {
  const recommender = failing();
  const local = scriptedRecommender(({ candidates }) =>
    candidates.map(({ post: { id } }) => ({ postId: id })).reverse(),
  );
  const { forYou, request, clock } = world({ feeds: store.feeds, posts: posts(30), recommender, local });
  const view = await forYou.page(request({ userId }));
  assert.equal(view.state, 'GENERATED');
  assert.equal(view.problems[0]?.code, 'RECOMMENDER_UNAVAILABLE');
  assert.equal(idsOf(view)[0], '30@town.example');
  await forYou.page(request({ userId }));
  assert.equal(recommender.asked.length, 1);
  clock.advance(5_001);
  await forYou.page(request({ userId }));
  assert.equal(recommender.asked.length, 2);
});

test('a recommender that fails when a scroll must go on is an error, and the cursor works again later', async () => {
  let out = false;
  const recommender = scriptedRecommender(({ candidates }) => {
    if (out) throw new Error('a bug inside');
    return candidates.map(({ post: { id } }) => ({ postId: id }));
  });
  const { forYou, request, clock } = world({ feeds: store.feeds, posts: posts(40), recommender });
  const { next } = await forYou.page(request({ userId }));
  clock.advance(3_600_001);
  out = true;
  await assert.rejects(forYou.page(request({ userId, cursor: next })), RecommenderUnavailableError);
  out = false;
  assert.equal((await forYou.page(request({ userId, cursor: next }))).state, 'CONTINUED');
});

test('an empty generation is the current one for seconds alone', async () => {
  const { forYou, request, clock, catalogue, recommender } = world({ feeds: store.feeds, posts: [] });
  const empty = await forYou.page(request({ userId }));
  assert.deepEqual([empty.items, empty.next], [[], undefined]);
  catalogue.push(post());
  assert.equal((await forYou.page(request({ userId }))).items.length, 0);
  assert.equal((recommender as ReturnType<typeof inOrder>).asked.length, 1);
  clock.advance(5_001);
  assert.equal((await forYou.page(request({ userId }))).items.length, 1);
});

test('while the store is out a first page is served, and its scroll goes on once the store is back', async () => {
  const { state, feeds } = flaky(store.feeds);
  const { forYou, request } = world({ feeds, posts: posts(60) });
  state.out = true;
  const first = await forYou.page(request({ userId }));
  assert.equal(first.items.length, 20);
  assert.deepEqual(
    first.problems.map(({ code }) => code),
    ['STORE_UNAVAILABLE'],
  );
  await assert.rejects(forYou.page(request({ userId, cursor: first.next })), StoreUnavailableError);
  state.out = false;
  const second = await forYou.page(request({ userId, cursor: first.next }));
  assert.equal(second.state, 'CONTINUED');
  assert.equal(new Set([...idsOf(first), ...idsOf(second)]).size, 40);
});

test('a store that fails between generating and publishing costs a problem, not the page', async () => {
  const { state, feeds } = flaky(store.feeds);
  const recommender = scriptedRecommender(({ candidates }) => {
    state.out = true;
    return candidates.map(({ post: { id } }) => ({ postId: id }));
  });
  const { forYou, request } = world({ feeds, posts: posts(30), recommender });
  const view = await forYou.page(request({ userId }));
  assert.equal(view.items.length, 20);
  assert.equal(view.problems[0]?.code, 'STORE_UNAVAILABLE');
  assert.equal(recommender.asked.length, 1);
});

test('a store that fails between finding and reading the current instance costs a problem, not the page', async () => {
  const { state, feeds } = flaky(store.feeds);
  const current: FeedStore['current'] = async (...args) => {
    const found = await feeds.current(...args);
    state.out = found.instance !== undefined;
    return found;
  };
  const { forYou, request, hidden, catalogue } = world({ feeds: { ...feeds, current }, posts: posts(30) });
  await forYou.page(request({ userId }));
  // Nothing of what came with the instance is visible: more has to be read.
  for (const { id } of catalogue.slice(0, 21)) hidden.add(id);
  const view = await forYou.page(request({ userId }));
  assert.equal(view.state, 'GENERATED');
  assert.equal(view.problems[0]?.code, 'STORE_UNAVAILABLE');
});

test('a first page survives candidates that the store does not give, while there is a live instance', async () => {
  const { forYou, request, clock } = world({ feeds: store.feeds, posts: posts(30) });
  const candidates = async () => {
    throw new StoreUnavailableError('the logs are out');
  };
  await assert.rejects(forYou.page(request({ userId, candidates })), StoreUnavailableError);
  await forYou.page(request({ userId }));
  clock.advance(601_000);
  const view = await forYou.page(request({ userId, candidates }));
  assert.deepEqual([view.items.length, view.problems[0]?.code], [20, 'STORE_UNAVAILABLE']);
});

test('after 2,000 stories the scroll ends, and every cursor on the way is a token', async () => {
  const { forYou, request, clock } = world({ feeds: store.feeds, posts: posts(2300) });
  const tokens = createTokens([Buffer.alloc(32)]);
  const seen = await scroll(
    forYou,
    (overrides) => {
      const asked = request({ userId, limit: 100, ...overrides });
      if (asked.cursor) assert(tokens.sealFeedCursor(userId, asked.cursor).length <= 4096);
      return asked;
    },
    () => clock.advance(3_600_001),
  );
  assert.equal(new Set(seen).size, seen.length);
  assert(seen.length > 1950 && seen.length <= 2003, `${seen.length} stories`);
});

test('items that are junk are left out, and an answer that is no list counts as a failure', async () => {
  const junk = [null, 7, {}, { postId: 3 }, { postId: 'no host' }, { postId: '1@town.example', reason: 'x' }];
  const twice = [
    { postId: '1@town.example' },
    { postId: '2@town.example', reason: { kind: 'ODD', text: 'x'.repeat(300) } },
  ];
  const lines = scriptedRecommender(() => [...junk, ...twice] as never);
  const { forYou, request } = world({ feeds: store.feeds, posts: posts(3), recommender: lines });
  const view = await forYou.page(request({ userId }));
  assert.deepEqual(idsOf(view), ['1@town.example', '2@town.example']);
  assert.deepEqual(view.items[1]?.reason, { kind: 'OTHER', text: 'x'.repeat(80) });

  for (const answer of [undefined, null, 'posts', { items: [] }]) {
    const odd = world({ feeds: store.feeds, posts: posts(3), recommender: scriptedRecommender(() => answer as never) });
    const stood = await odd.forYou.page(odd.request({ userId: `${userId} ${JSON.stringify(answer)}` }));
    assert.deepEqual([stood.items.length, stood.problems[0]?.code], [3, 'RECOMMENDER_UNAVAILABLE']);
  }
});

test('ids of hosts that no source has take no place, and are counted', async () => {
  const named = ['1@elsewhere.example', '1@town.example', '2@elsewhere.example', '2@town.example'];
  const recommender = scriptedRecommender(() => named.map((postId) => ({ postId })));
  const lines: string[] = [];
  const settings = { feeds: store.feeds, posts: posts(3), recommender };
  const { forYou, request } = world({
    ...settings,
    hasHost: (host) => host === 'town.example',
    log: (line) => lines.push(line),
  });
  const view = await forYou.page(request({ userId }));
  assert.deepEqual(idsOf(view), ['1@town.example', '2@town.example']);
  assert.equal(view.feed?.size, 2);
  assert.deepEqual(lines, ['recommender: dropped 2 items without a post id of a configured host']);
});

test('of items with one canonical id, and of one post id, the first stays', async () => {
  const recommender = scriptedRecommender(() => [
    { postId: '1@town.example', canonicalId: 'a' },
    { postId: '2@town.example', canonicalId: 'a' },
    { postId: '1@town.example', canonicalId: 'b' },
    { postId: '3@town.example' },
  ]);
  const { forYou, request } = world({ feeds: store.feeds, posts: posts(3), recommender });
  assert.deepEqual(idsOf(await forYou.page(request({ userId }))), ['1@town.example', '3@town.example']);
});

test('a hash that stands for another post is salted, and an item that finds no free hash is given up', async () => {
  const refused: string[] = [];
  const refusals = new Map([
    ['2@town.example', 2],
    ['3@town.example', Number.POSITIVE_INFINITY],
  ]);
  const putReferences: FeedStore['putReferences'] = async (references, expiresAtMs) => {
    const taken = references.filter(({ postId }) => (refusals.get(postId) ?? 0) > 0);
    for (const { postId, hash } of taken) {
      refusals.set(postId, (refusals.get(postId) ?? 0) - 1);
      refused.push(hash);
    }
    await store.feeds.putReferences(
      references.filter((one) => !taken.includes(one)),
      expiresAtMs,
    );
    return taken.map(({ hash }) => hash);
  };
  const { forYou, request } = world({ feeds: { ...store.feeds, putReferences }, posts: posts(4) });
  const view = await forYou.page(request({ userId }));
  assert.deepEqual(idsOf(view), ['1@town.example', '2@town.example', '4@town.example']);
  assert(refused.length > 3);
  assert.equal(new Set(refused).size, refused.length, 'each salt gives another hash');
  assert.deepEqual(idsOf(await forYou.page(request({ userId }))), idsOf(view));
});

test('problems of the candidates and of hydration are told once each', async () => {
  const { forYou, request } = world({ feeds: store.feeds, posts: posts(3) });
  const stale = { code: 'STALE', message: 'town did not answer', sourceKey: 'town' } as const;
  const candidates = async () => ({ candidates: [], problems: [stale, stale] });
  assert.deepEqual((await forYou.page(request({ userId, candidates }))).problems, [stale]);
});

test('drain returns at once when nothing is under way', async () => {
  await world({ feeds: store.feeds, posts: [], clock: manualClock() }).forYou.drain();
});
