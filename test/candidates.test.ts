import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { createCandidates } from '../src/candidates.ts';
import { StoreUnavailableError } from '../src/errors.ts';
import { sizeOf } from '../src/post-size.ts';
import type { Source } from '../src/source.ts';
import { openSqliteStore } from '../src/stores/sqlite.ts';
import type { Store } from '../src/stores/store.ts';
import { manualClock, post } from './feed/fixture.ts';
import { fakeUpstream, show, source } from './loaders-fixture.ts';

const HOUR_MS = 3_600_000;

let store: Store;
let clock: ReturnType<typeof manualClock>;
let town: Source;
let home: Source;
/** The logs that were waited for. */
let refreshed: { logIds: readonly string[]; maxWaitMs: number }[];
let onRefresh: () => Promise<ReadonlySet<string>>;

beforeEach(async () => {
  store = await openSqliteStore({ file: ':memory:' });
  clock = manualClock();
  town = source('town', 'anyone', fakeUpstream(clock.now));
  home = source('home', ['ann'], fakeUpstream(clock.now));
  refreshed = [];
  onRefresh = async () => new Set();
});

afterEach(() => store.close());

/** Those of one gateway. */
function gateway(): ReturnType<typeof createCandidates> {
  const refresh = (logIds: readonly string[], maxWaitMs: number) => {
    refreshed.push({ logIds, maxWaitMs });
    return onRefresh();
  };
  return createCandidates({ store, sources: [home, town], refresh, clock, maxWaitMs: 1500 });
}

const candidates: ReturnType<typeof createCandidates> = (viewer) => gateway()(viewer);

/** How often the logs are looked at from now on. */
function countLooks(): () => number {
  const looks = mock.method(store.timelines, 'readLog').mock;
  return () => looks.callCount();
}

const at = (id: string, hoursAgo: number) =>
  post({ id: `${id}@town.example`, createdAtMs: clock.now() - hoursAgo * HOUR_MS });
const ids = (found: Awaited<ReturnType<typeof candidates>>) => found.candidates.map((one) => one.post.id);

test('the readable logs of the last 48 h come newest first, each post once', async () => {
  await show(store, town, [at('1', 49), at('2', 47), at('3', 1)], clock.now());
  await show(store, home, [at('4', 2), at('3', 1)], clock.now());
  assert.deepEqual(ids(await candidates({ userId: 'ann' })), ['3@town.example', '4@town.example', '2@town.example']);
  assert.deepEqual(refreshed, [{ logIds: [home.logId, town.logId], maxWaitMs: 0 }], 'woken, for the next time');
});

test("a private source's posts, and posts inside others that only it showed, are no candidates of others", async () => {
  const secret = post({ id: '9@town.example', text: 'secret', visibility: 'FOLLOWERS' });
  const quoting = post({ id: '1@town.example', quoted: secret });
  await show(store, home, [quoting, secret], clock.now());
  await show(store, town, [post({ id: '1@town.example' })], clock.now());
  await store.posts.putPosts([{ post: quoting, readAtMs: clock.now() + 1 }]);
  const found = await candidates({ userId: 'bob' });
  assert.deepEqual(ids(found), ['1@town.example']);
  assert(!JSON.stringify(found).includes('secret'));
  assert(JSON.stringify(await candidates({ userId: 'ann' })).includes('secret'));
});

test('while all readable logs are empty it waits for a poll', async () => {
  onRefresh = async () => {
    await show(store, town, [at('1', 0)], clock.now());
    return new Set();
  };
  assert.deepEqual(ids(await candidates({})), ['1@town.example']);
  assert.deepEqual(refreshed, [{ logIds: [town.logId], maxWaitMs: 1500 }]);
});

test('sources that do not answer in time are told as stale', async () => {
  onRefresh = async () => new Set([town.logId]);
  const { candidates: found, problems } = await candidates({ userId: 'ann' });
  assert.deepEqual(found, []);
  assert.deepEqual(problems, [{ code: 'STALE', message: 'town could not be read in time', sourceKey: 'town' }]);
});

test('a viewer who may read nothing gets nothing, and nobody is asked', async () => {
  town = source('town', ['bob'], fakeUpstream(clock.now));
  assert.deepEqual(await candidates({}), { candidates: [], problems: [] });
  assert.deepEqual(refreshed, []);
});

test('at most 5,000 come, the newest', async () => {
  const many = (key: string, from: number) =>
    Array.from({ length: 3000 }, (_, index) =>
      post({ id: `${key}${from + index}@town.example`, createdAtMs: clock.now() - (from + index) }),
    );
  await show(store, town, many('a', 0), clock.now());
  await show(store, home, many('b', 3000), clock.now());
  let turns = 0;
  const count = () => {
    turns++;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const found = await candidates({ userId: 'ann' });
  clearImmediate(counting);
  assert(turns >= 20, `others had ${turns} turns meanwhile`);
  assert.equal(found.candidates.length, 5000);
  assert.deepEqual([ids(found)[0], ids(found).at(-1)], ['a0@town.example', 'b4999@town.example']);
});

test("where a post's home copy is a candidate no other is, and reposts of another show that one", async () => {
  const pond = source('pond', 'anyone', fakeUpstream(clock.now), { host: 'pond.example', url: 'https://pond.example' });
  const genuine = (id: string) =>
    post({ id: `${id}@town.example`, uri: `https://town.example/${id}`, text: 'genuine' });
  const forged = (id: string) => post({ id: `9${id}@pond.example`, uri: `https://town.example/${id}`, text: 'forged' });
  const repost = (id: string) =>
    post({ id: `8${id}@pond.example`, uri: `https://pond.example/8${id}`, text: '', repostOf: forged(id) });
  await show(store, town, [genuine('1')], clock.now());
  await show(store, pond, [forged('1'), repost('1'), forged('2'), repost('2')], clock.now());
  const { candidates: found } = await createCandidates({
    store,
    sources: [town, pond],
    refresh: async () => new Set(),
    clock,
    maxWaitMs: 0,
  })({});
  const shown = found.map(({ post: one }) => [one.id, one.repostOf?.id]);
  assert.deepEqual(shown.toSorted(), [
    ['1@town.example', undefined],
    ['81@pond.example', '1@town.example'],
    ['82@pond.example', '92@pond.example'],
    ['92@pond.example', undefined],
  ]);
});

test('at most about 64 MB come, the newest', async () => {
  const large = Array.from({ length: 700 }, (_, index) =>
    post({ id: `${index}@town.example`, createdAtMs: clock.now() - index, text: 'x'.repeat(99_700) }),
  );
  await show(store, town, large, clock.now());
  const found = await candidates({});
  const bytes = found.candidates.reduce((sum, one) => sum + sizeOf(one.post), 0);
  assert(bytes >= 64_000_000 && bytes <= 64_110_000, `${bytes} bytes`);
  assert.deepEqual(
    ids(found),
    large.slice(0, found.candidates.length).map(({ id }) => id),
  );
});

test('an outage of the store is an error', async () => {
  await store.close();
  await assert.rejects(candidates({ userId: 'ann' }), StoreUnavailableError);
  store = await openSqliteStore({ file: ':memory:' });
});

test('posts of one source, however large, leave others their room', async () => {
  const large = Array.from({ length: 700 }, (_, index) =>
    post({ id: `${index}@town.example`, createdAtMs: clock.now() - index, text: 'x'.repeat(99_700) }),
  );
  await show(store, town, large, clock.now());
  const own = Array.from({ length: 20 }, (_, index) =>
    post({ id: `${9000 + index}@town.example`, createdAtMs: clock.now() - 60_000 - index }),
  );
  await show(store, home, own, clock.now());
  const found = ids(await candidates({ userId: 'ann' }));
  assert.deepEqual(
    own.filter(({ id }) => !found.includes(id)),
    [],
  );
});

test('of one uri in one source there is one candidate, however often it came', async () => {
  const same = Array.from({ length: 6_000 }, (_, index) =>
    post({ id: `${index}@town.example`, uri: 'https://pond.example/1', createdAtMs: clock.now() - index }),
  );
  const others = [at('9001', 1), at('9002', 2)];
  await show(store, town, [...same, ...others], clock.now());
  assert.deepEqual(ids(await candidates({})), ['0@town.example', '9001@town.example', '9002@town.example']);
});

test('all who may read the same sources share one list, made once for some seconds', async () => {
  await show(store, town, [at('1', 1)], clock.now());
  const looks = countLooks();
  const ask = gateway();
  const viewers = Array.from({ length: 100 }, (_, n) => ({ userId: `viewer ${n}` }));
  const lists = await Promise.all(viewers.map(ask));
  clock.advance(4_999);
  lists.push(await ask({}));
  assert.equal(new Set(lists.map((one) => one.candidates)).size, 1);
  assert.equal(looks(), 1);
  assert.equal(refreshed.length, 1);
});

test('who may read other sources, with the same posts, has another list', async () => {
  await show(store, town, [at('1', 1)], clock.now());
  await show(store, home, [at('2', 1)], clock.now());
  const ask = gateway();
  assert.deepEqual(ids(await ask({ userId: 'ann' })), ['2@town.example', '1@town.example']);
  assert.deepEqual(ids(await ask({ userId: 'bob' })), ['1@town.example']);
  assert.deepEqual(ids(await ask({ userId: 'ann' })), ['2@town.example', '1@town.example']);
});

test('while one makes the next list the others have the former one, but none of more than 15 s', async () => {
  await show(store, town, [at('1', 1)], clock.now());
  const ask = gateway();
  await ask({});
  await show(store, town, [at('2', 0)], clock.now());
  const looks = countLooks();
  clock.advance(5_000);
  for (let n = 0; n < 10; n += 1) assert.deepEqual(ids(await ask({})), ['1@town.example']);
  while ((await ask({})).candidates.length < 2) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(looks(), 1);
  await show(store, town, [at('3', 0)], clock.now());
  clock.advance(15_000);
  assert.deepEqual(ids(await ask({})), ['3@town.example', '2@town.example', '1@town.example']);
});

test('that there is nothing is not kept', async () => {
  const ask = gateway();
  assert.deepEqual(ids(await ask({})), []);
  await show(store, town, [at('1', 0)], clock.now());
  assert.deepEqual(ids(await ask({})), ['1@town.example']);
});

test('a list that could not be made is made at the next request', async () => {
  await show(store, town, [at('1', 1)], clock.now());
  const ask = gateway();
  const broken = mock.method(store.timelines, 'readLog', async () => {
    throw new StoreUnavailableError('out');
  });
  await assert.rejects(ask({}), StoreUnavailableError);
  broken.mock.restore();
  assert.deepEqual(ids(await ask({})), ['1@town.example']);
});
