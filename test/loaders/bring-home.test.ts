import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { createHydrator } from '../../src/loaders.ts';
import type { Source } from '../../src/source.ts';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import type { Store } from '../../src/stores/store.ts';
import { manualClock, post } from '../feed/fixture.ts';
import { type FakeUpstream, fakeUpstream, show, source } from '../loaders-fixture.ts';

const numbers = Array.from({ length: 20 }, (_, index) => index + 1);
const genuine = (n: number) => post({ id: `${n}@town.example`, uri: `https://town.example/${n}`, text: 'genuine' });
const forged = (n: number) => post({ id: `9${n}@pond.example`, uri: `https://town.example/${n}`, text: 'forged' });

let store: Store;
let clock: ReturnType<typeof manualClock>;
let upstream: FakeUpstream;
let town: Source;
let pond: Source;
let asked: { logId: string; uris: readonly string[] }[];

beforeEach(async () => {
  store = await openSqliteStore({ file: ':memory:' });
  clock = manualClock();
  upstream = fakeUpstream(clock.now);
  town = source('town', 'anyone', upstream);
  pond = source('pond', 'anyone', upstream, { host: 'pond.example', url: 'https://pond.example' });
  asked = [];
});

afterEach(() => store.close());

async function hydrate(ids: readonly string[], sources: readonly Source[] = [town, pond]) {
  const timelines: Pick<Store['timelines'], 'entriesByUri'> = {
    entriesByUri: (logId, uris) => {
      asked.push({ logId, uris });
      return store.timelines.entriesByUri(logId, uris);
    },
  };
  const hydrator = createHydrator({
    posts: store.posts,
    timelines,
    sources,
    takeById: async (_, count) => count,
    clock,
  });
  return (await hydrator.forViewer({}).hydrate(ids)).posts;
}

async function remove({ id, uri, upstreamId }: ReturnType<typeof genuine>, { logId }: Source) {
  const { version } = await store.timelines.readLog(logId);
  const nowMs = clock.now();
  const record = { upstreamId, orderKey: upstreamId, revision: '', sortAtMs: nowMs, arrivedAtMs: nowMs, late: false };
  const append = [{ ...record, kind: 'remove', postId: id, uri }] as const;
  await store.timelines.commit({ logId, expectedVersion: version, nowMs, append, posts: [] });
}

test('copies from elsewhere are shown until their home has brought its own, which then stands in their places', async () => {
  const ids = numbers.map((n) => forged(n).id);
  await show(store, pond, numbers.map(forged), clock.now());
  const before = await hydrate(ids);
  assert.deepEqual(
    [...before.values()].map(({ text }) => text),
    Array(20).fill('forged'),
  );
  await show(store, town, numbers.map(genuine), clock.now());
  asked = [];
  const after = await hydrate(ids);
  assert.deepEqual([...after.keys()], ids);
  assert.deepEqual([...after.values()], numbers.map(genuine));
  assert.deepEqual(asked, [{ logId: town.logId, uris: numbers.map((n) => genuine(n).uri) }], 'one look for a page');
});

test('a repost of a copy from elsewhere shows the home copy, at any depth', async () => {
  const repost = post({ id: '5@pond.example', uri: 'https://pond.example/5', text: '', repostOf: forged(1) });
  const again = post({ id: '6@pond.example', uri: 'https://pond.example/6', text: '', repostOf: repost });
  await show(store, pond, [repost, again], clock.now());
  await show(store, town, [genuine(1)], clock.now());
  const shown = await hydrate([repost.id, again.id]);
  assert.equal(shown.get(repost.id)?.repostOf?.text, 'genuine');
  assert.equal(shown.get(again.id)?.repostOf?.repostOf?.text, 'genuine');
});

test('what its home removed is not shown by copies from elsewhere, nor by reposts of these', async () => {
  const repost = post({ id: '5@pond.example', uri: 'https://pond.example/5', text: '', repostOf: forged(1) });
  await show(store, pond, [forged(1), repost], clock.now());
  await show(store, town, [genuine(1)], clock.now());
  await remove(genuine(1), town);
  assert.equal((await hydrate([forged(1).id, repost.id])).size, 0);
});

test('a post that a recommender named, and that nobody brought, is treated alike', async () => {
  upstream.knows.set('91', forged(1));
  await show(store, town, [genuine(1)], clock.now());
  assert.equal((await hydrate([forged(1).id])).get(forged(1).id)?.text, 'genuine');
});

test('a home that the viewer may not read changes nothing', async () => {
  town = source('town', ['bob'], upstream);
  await show(store, pond, [forged(1)], clock.now());
  await show(store, town, [genuine(1)], clock.now());
  assert.equal((await hydrate([forged(1).id])).get(forged(1).id)?.text, 'forged');
});

test('a page whose posts are all at home, or of hosts that no source has, looks nothing up', async () => {
  const remote = post({ id: '7@town.example', uri: 'https://lake.example/7' });
  await show(store, town, [genuine(1), remote], clock.now());
  assert.equal((await hydrate([genuine(1).id, remote.id])).size, 2);
  assert.deepEqual(asked, []);
});
