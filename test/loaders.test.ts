import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { RecommenderUnavailableError, StoreUnavailableError, UpstreamError } from '../src/errors.ts';
import { createHydrator, type GonePost } from '../src/loaders.ts';
import type { Visibility } from '../src/post.ts';
import type { Source } from '../src/source.ts';
import { openSqliteStore } from '../src/stores/sqlite.ts';
import type { Store } from '../src/stores/store.ts';
import { manualClock, post } from './feed/fixture.ts';
import { type FakeUpstream, fakeUpstream, show, source } from './loaders-fixture.ts';

const ANN = { userId: 'ann' };
const BOB = { userId: 'bob' };
const NOBODY = {};
const FRESH_MS = 600_000;

let store: Store;
let clock: ReturnType<typeof manualClock>;
let upstream: FakeUpstream;
/** For anyone, for the signed-in, and for ann alone: one upstream, three credentials. */
let town: Source;
let club: Source;
let home: Source;
let budget: number;
/** What was said of posts that are gone. */
let told: { logIds: readonly string[]; posts: readonly GonePost[] }[];

beforeEach(async () => {
  store = await openSqliteStore({ file: ':memory:' });
  clock = manualClock();
  upstream = fakeUpstream(clock.now);
  town = source('town', 'anyone', upstream);
  club = source('club', 'signed-in', upstream);
  home = source('home', ['ann'], upstream);
  budget = Number.POSITIVE_INFINITY;
  told = [];
});

afterEach(() => store.close());

function hydrator(sources: readonly Source[] = [home, club, town]) {
  const foundGone = (logIds: readonly string[], posts: readonly GonePost[]) => void told.push({ logIds, posts });
  const takeById = async (_: Source, count: number) => {
    const taken = Math.min(count, budget);
    budget -= taken;
    return taken;
  };
  return createHydrator({ ...store, sources, takeById, foundGone, clock });
}

/** Who of ann, bob and nobody sees the post by its id, and by a recommender that names it. */
async function seers(id: string): Promise<string[]> {
  const posts = hydrator();
  const seen: string[] = [];
  for (const [name, viewer] of Object.entries({ ann: ANN, bob: BOB, nobody: NOBODY })) {
    if (await posts.forViewer(viewer).load(id)) seen.push(name);
    const { posts: named } = await posts.forViewer(viewer).hydrate([id]);
    if (named.has(id)) seen.push(`${name}, named`);
  }
  return seen;
}

test('what a source for anyone showed everybody sees, without asking the upstream', async () => {
  await show(store, town, [post()], clock.now());
  assert.deepEqual(await seers('1@town.example'), [
    'ann',
    'ann, named',
    'bob',
    'bob, named',
    'nobody',
    'nobody, named',
  ]);
  assert.deepEqual(upstream.asked, []);
});

for (const visibility of ['PUBLIC', 'UNLISTED', 'FOLLOWERS', 'DIRECT'] satisfies Visibility[]) {
  test(`a ${visibility} post that ann's source showed reaches ann alone`, async () => {
    upstream.knows.set('1', 'gone');
    await show(store, home, [post({ visibility })], clock.now());
    assert.deepEqual(await seers('1@town.example'), ['ann', 'ann, named']);
  });
}

test('a private post stays private when its log has let go of it', async () => {
  upstream.knows.set('1', 'gone');
  await show(store, home, [post()], clock.now());
  await store.timelines.trim({ logId: home.logId, beforeMs: clock.now() + 1, keepEntries: 0, keepKnown: 0 });
  assert.deepEqual((await store.posts.getPosts(['1@town.example'])).get('1@town.example')?.shownBy, []);
  assert.deepEqual(await seers('1@town.example'), []);
});

test('a FOLLOWERS post is not shown through a source for more than named users', async () => {
  upstream.knows.set('1', 'gone');
  await show(store, club, [post({ visibility: 'FOLLOWERS' })], clock.now());
  assert.deepEqual(await seers('1@town.example'), []);
});

test('what a private source and a public one showed is seen through the public one', async () => {
  await show(store, home, [post()], clock.now());
  await show(store, town, [post()], clock.now());
  assert((await seers('1@town.example')).includes('nobody'));
});

test('a source that is not in the settings any more shows nothing', async () => {
  await show(store, source('left', 'anyone', upstream), [post()], clock.now());
  assert.equal(await hydrator().forViewer(ANN).load('1@town.example'), undefined);
});

test('an id that nobody brought is not fetched when a client names it', async () => {
  upstream.knows.set('1', post());
  for (const id of ['1@town.example', '1@elsewhere.example', 'x', '', '__proto__', '1@'.repeat(5000)]) {
    assert.equal(await hydrator().forViewer(ANN).load(id), undefined);
  }
  assert.deepEqual(upstream.asked, []);
});

test('a post that a recommender named is fetched with the credential of a source for anyone, once', async () => {
  const apart = fakeUpstream(clock.now);
  home = source('home', ['ann'], apart);
  upstream.knows.set('1', post());
  const posts = hydrator();
  assert((await posts.forViewer(ANN).hydrate(['1@town.example'])).posts.has('1@town.example'));
  assert((await posts.forViewer(BOB).hydrate(['1@town.example'])).posts.has('1@town.example'));
  assert.equal(await posts.forViewer(BOB).load('1@town.example'), undefined, 'no source has brought it');
  assert.deepEqual([upstream.asked, apart.asked], [[['1']], []]);
});

test('of posts that a recommender named 32 MB are kept, those used last', async () => {
  const all = Array.from({ length: 400 }, (_, n) => post({ id: `${n}@town.example`, text: 'x'.repeat(99_000) }));
  for (const one of all) upstream.knows.set(one.upstreamId, one);
  upstream.behave.bulk = 500;
  const posts = hydrator().forViewer(NOBODY);
  assert.equal((await posts.hydrate(all.map(({ id }) => id))).posts.size, 400, 'shown, kept or not');
  upstream.asked.length = 0;
  for (const n of [399, 100, 0]) assert.equal((await posts.hydrate([`${n}@town.example`])).posts.size, 1);
  assert.deepEqual(upstream.asked, [['0']]);
});

test('on hosts without a source for anyone, and on other hosts, a named post is not fetched', async () => {
  upstream.knows.set('1', post());
  const posts = hydrator([home, club]).forViewer(ANN);
  const { posts: shown } = await posts.hydrate(['1@town.example', '1@elsewhere.example']);
  assert.deepEqual([shown.size, upstream.asked], [0, []]);
});

test('a named post that is not open is dropped, and so is one inside it', async () => {
  const inner = post({ id: '9@town.example', visibility: 'FOLLOWERS' });
  upstream.knows.set('1', post({ visibility: 'FOLLOWERS' }));
  upstream.knows.set('2', post({ id: '2@town.example', quoted: inner }));
  upstream.knows.set('3', post({ id: '3@town.example', repostOf: inner }));
  const ids = ['1@town.example', '2@town.example', '3@town.example'];
  const { posts: shown } = await hydrator().forViewer(NOBODY).hydrate(ids);
  assert.deepEqual([...shown.keys()], ['2@town.example']);
  assert.equal(shown.get('2@town.example')?.quoted, undefined);
});

test('posts inside are left out for those who may not see them, and a repost of a hidden one is hidden', async () => {
  const inner = post({ id: '9@town.example', visibility: 'FOLLOWERS' });
  const quoting = post({ id: '1@town.example', quoted: inner });
  const repost = post({ id: '2@town.example', text: '', html: '', repostOf: inner });
  await show(store, home, [quoting, repost], clock.now());
  await show(
    store,
    town,
    [post({ id: '1@town.example' }), post({ id: '2@town.example', text: '', html: '' })],
    clock.now(),
  );
  await show(store, home, [post({ id: '3@town.example', quoted: inner })], clock.now() + 1);
  await store.posts.putPosts([quoting, repost].map((one) => ({ post: one, readAtMs: clock.now() + 2 })));

  const ann = hydrator().forViewer(ANN);
  assert.equal((await ann.load('1@town.example'))?.quoted?.id, '9@town.example');
  assert.equal((await ann.load('2@town.example'))?.repostOf?.id, '9@town.example');
  const nobody = hydrator().forViewer(NOBODY);
  assert.equal((await nobody.load('1@town.example'))?.text, quoting.text);
  assert.equal((await nobody.load('1@town.example'))?.quoted, undefined);
  const { posts: named } = await nobody.hydrate(['1@town.example', '2@town.example']);
  assert.deepEqual(
    [...named.values()].map(({ id, quoted }) => [id, quoted]),
    [['1@town.example', undefined]],
  );
});

test('a body read less than ten minutes ago is served as it is, an older one is read again and kept', async () => {
  await show(store, town, [post()], clock.now());
  upstream.knows.set('1', post({ text: 'edited' }));
  clock.advance(FRESH_MS - 1);
  assert.equal((await hydrator().forViewer(NOBODY).load('1@town.example'))?.text, 'Post 1@town.example');
  clock.advance(1);
  assert.equal((await hydrator().forViewer(NOBODY).load('1@town.example'))?.text, 'edited');
  assert.equal((await store.posts.getPosts(['1@town.example'])).get('1@town.example')?.post.text, 'edited');
  assert.deepEqual(upstream.asked, [['1']]);
});

test('one request takes all ids of a host and credential, asked for in whatever way', async () => {
  const pond = fakeUpstream(clock.now);
  const shared = source('tag', 'anyone', upstream, { credentialId: town.credentialId });
  const sources = [town, shared, home, source('pond', 'anyone', pond, { host: 'pond.example' })];
  const [a, b, c, d] = ['1@town.example', '2@town.example', '3@town.example', '4@pond.example'].map((id) =>
    post({ id }),
  );
  assert(a && b && c && d && sources[3]);
  await show(store, town, [a], clock.now());
  await show(store, shared, [b], clock.now());
  await show(store, home, [c], clock.now());
  await show(store, sources[3], [d], clock.now());
  for (const one of [a, b, c]) upstream.knows.set(one.upstreamId, one);
  pond.knows.set('4', d);
  clock.advance(FRESH_MS);
  const ann = hydrator(sources).forViewer(ANN);
  await Promise.all([ann.hydrate([a.id, b.id, c.id]), ann.load(d.id), ann.load(a.id)]);
  assert.deepEqual(upstream.asked.toSorted(), [['1', '2'], ['3']]);
  assert.deepEqual(pond.asked, [['4']]);
});

test('a post of which a read by id says that it is gone is hidden on that page alone, and told for every log that shows it', async () => {
  await show(store, town, [post()], clock.now());
  await show(store, home, [post()], clock.now());
  upstream.knows.set('1', 'gone');
  clock.advance(FRESH_MS);
  assert.equal(await hydrator().forViewer(NOBODY).load('1@town.example'), undefined);
  assert.deepEqual(told, [
    { logIds: [home.logId, town.logId], posts: [{ postId: '1@town.example', upstreamId: '1' }] },
  ]);
  upstream.knows.set('1', post());
  assert.equal((await hydrator().forViewer(NOBODY).load('1@town.example'))?.id, '1@town.example');
});

test("that one account gets a post no more does not take it from another's source", async () => {
  const apart = fakeUpstream(clock.now);
  const bobs = source('bobs', ['bob'], apart);
  const followers = post({ visibility: 'FOLLOWERS' });
  await show(store, home, [followers], clock.now());
  await show(store, bobs, [followers], clock.now());
  upstream.knows.set('1', 'gone');
  apart.knows.set('1', followers);
  clock.advance(FRESH_MS);
  const posts = hydrator([home, bobs, town]);
  assert.equal(await posts.forViewer(ANN).load('1@town.example'), undefined);
  assert.equal((await posts.forViewer(BOB).load('1@town.example'))?.id, '1@town.example');
  assert.deepEqual(
    told.map(({ logIds }) => logIds),
    [[home.logId]],
  );
});

test('what a source for anyone showed too is read again with its credential', async () => {
  const apart = fakeUpstream(clock.now);
  home = source('home', ['ann'], apart);
  await show(store, home, [post()], clock.now());
  await show(store, town, [post()], clock.now());
  upstream.knows.set('1', post());
  clock.advance(FRESH_MS);
  assert(await hydrator().forViewer(ANN).load('1@town.example'));
  assert.deepEqual([upstream.asked, apart.asked], [[['1']], []]);
});

test('a private post that is read again beside public ones of the same credential does not count as gone', async () => {
  const mine = fakeUpstream(clock.now);
  home = source('home', ['ann'], mine, { credentialId: town.credentialId });
  const followers = post({ id: '2@town.example', visibility: 'FOLLOWERS' });
  await show(store, town, [post()], clock.now());
  await show(store, home, [followers], clock.now());
  // As the adapters of sources for anyone have it.
  upstream.knows.set('1', post()).set('2', 'gone');
  mine.knows.set('2', followers);
  clock.advance(FRESH_MS);
  const { posts: shown } = await hydrator().forViewer(ANN).hydrate(['1@town.example', '2@town.example']);
  assert.deepEqual([...shown.keys()], ['1@town.example', '2@town.example']);
  assert.deepEqual([upstream.asked, mine.asked], [[['1']], [['2']]]);
});

test('a private post is never asked for with the credential of others', async () => {
  const apart = fakeUpstream(clock.now);
  home = source('home', ['ann'], apart);
  const followers = post({ visibility: 'FOLLOWERS' });
  await show(store, home, [followers], clock.now());
  apart.knows.set('1', followers);
  clock.advance(FRESH_MS);
  assert(await hydrator().forViewer(ANN).load('1@town.example'));
  assert.deepEqual([upstream.asked, apart.asked], [[], [['1']]]);
});

test('an upstream that fails is served from the record, whatever its age, and told by name', async () => {
  await show(store, town, [post()], clock.now());
  clock.advance(100 * FRESH_MS);
  upstream.behave = { throws: new UpstreamError('RATE_LIMITED', 'too many', { retryAtMs: clock.now() + 90_000 }) };
  const posts = hydrator();
  for (let page = 0; page < 3; page++) {
    const { posts: shown, problems } = await posts.forViewer(NOBODY).hydrate(['1@town.example']);
    assert.equal(shown.size, 1);
    assert.deepEqual(problems, [
      { code: 'RATE_LIMITED', message: 'too many', retryAtMs: clock.now() + 90_000, sourceKey: 'town' },
    ]);
  }
  assert.equal(upstream.asked.length, 1, 'it is left alone until then');
  upstream.behave = {};
  upstream.knows.set('1', post({ text: 'back' }));
  clock.advance(90_000);
  assert.equal((await posts.forViewer(NOBODY).load('1@town.example'))?.text, 'back');
});

test('an upstream that hangs holds no page up for longer than 3 s', async () => {
  await show(store, town, [post()], clock.now());
  clock.advance(FRESH_MS);
  upstream.behave = { hangs: true };
  const page = hydrator().forViewer(NOBODY).hydrate(['1@town.example']);
  while (upstream.asked.length === 0) await new Promise(setImmediate);
  clock.advance(3_000);
  const { posts: shown, problems } = await page;
  assert.deepEqual([shown.size, problems[0]?.code, problems[0]?.sourceKey], [1, 'UNAVAILABLE', 'town']);
});

test('without budget the record is served, and where there is no bulk each id costs a request', async () => {
  const three = ['1', '2', '3'].map((id) => post({ id: `${id}@town.example` }));
  await show(store, town, three, clock.now());
  for (const one of three) upstream.knows.set(one.upstreamId, post({ ...one, text: 'new' }));
  clock.advance(FRESH_MS);
  budget = 2;
  upstream.behave = { bulk: 1 };
  const { posts: shown, problems } = await hydrator()
    .forViewer(NOBODY)
    .hydrate(three.map(({ id }) => id));
  assert.deepEqual(upstream.asked, [['1', '2']]);
  assert.deepEqual(
    [...shown.values()].map(({ text }) => text),
    ['new', 'new', 'Post 3@town.example'],
  );
  assert.deepEqual(problems, []);
});

test('when nothing at all can be had hydration fails, retryably; when something is, it does not', async () => {
  upstream.behave = { throws: new UpstreamError('UNAVAILABLE', 'down') };
  await assert.rejects(
    hydrator().forViewer(NOBODY).hydrate(['1@town.example', '2@town.example']),
    (error) => error instanceof RecommenderUnavailableError && /none of the 2 posts .* down$/.test(error.message),
  );
  await assert.rejects(
    hydrator().forViewer(NOBODY).hydrate(['1@town.example', '1@elsewhere.example']),
    RecommenderUnavailableError,
    'that another can never be had does not make it an empty page',
  );
  await show(store, town, [post()], clock.now());
  const { posts: shown } = await hydrator().forViewer(NOBODY).hydrate(['1@town.example', '2@town.example']);
  assert.deepEqual([...shown.keys()], ['1@town.example']);
});

test('of posts that cannot be read now hydration says so, and of those that are gone nothing', async () => {
  upstream.behave = { throws: new UpstreamError('UNAVAILABLE', 'down') };
  await show(store, town, [post()], clock.now());
  const hydrated = await hydrator()
    .forViewer(NOBODY)
    .hydrate(['1@town.example', '2@town.example', '1@elsewhere.example']);
  assert.deepEqual([...(hydrated.unavailable ?? [])], ['2@town.example']);
});

test('an upstream that answers another post than was asked for is not believed', async () => {
  upstream.knows.set('1', post({ id: '2@town.example' }));
  await assert.rejects(hydrator().forViewer(NOBODY).hydrate(['1@town.example']), RecommenderUnavailableError);
});

test('an outage of the store is an error, never a miss', async () => {
  await show(store, town, [post()], clock.now());
  await store.close();
  await assert.rejects(hydrator().forViewer(ANN).load('1@town.example'), StoreUnavailableError);
  await assert.rejects(hydrator().forViewer(ANN).hydrate(['1@town.example']), StoreUnavailableError);
  store = await openSqliteStore({ file: ':memory:' });
});

test('a store that cannot be written does not spoil what was read', async () => {
  await show(store, town, [post()], clock.now());
  upstream.knows.set('1', post({ text: 'new' }));
  clock.advance(FRESH_MS);
  const posts = {
    ...store.posts,
    putPosts: async () => {
      throw new StoreUnavailableError('the disk is full');
    },
  };
  const readOnly = createHydrator({ ...store, posts, sources: [town], takeById: async (_, count) => count, clock });
  const { posts: shown, problems } = await readOnly.forViewer(NOBODY).hydrate(['1@town.example']);
  assert.deepEqual([shown.get('1@town.example')?.text, problems[0]?.code], ['new', 'STORE_UNAVAILABLE']);
});
