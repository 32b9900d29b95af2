import assert from 'node:assert/strict';
import { after, describe, it, type TestContext } from 'node:test';
import { openStore } from '../../src/stores/registry.ts';
import type { Store } from '../../src/stores/store.ts';
import { freePort, startRedis } from '../redis-server.ts';
import { publication } from '../stores/contract-feeds.ts';
import { appendTo, HOUR, NOW } from '../stores/samples.ts';
import { useFeeds, useLog, useTheRest } from './operations.ts';
import { until } from './until.ts';

const redis = await startRedis();
after(() => redis.stop());

const LOG_PARTS = [
  ...['state', 'records', 'live', 'time', 'removals', 'uris', 'uses', 'known', 'order', 'shown', 'bytes', 'inside'],
  ...['outbox', 'sweep', 'status'],
];

/** What must be there for ever: logs, the bodies that they show, and what the gateways have in common. */
const ENDLESS = [
  ...LOG_PARTS.map((part) => `{town}:LOG:${part}`),
  ...['body:town1', 'body:town2', 'body:nested', 'body:again'],
  ...['LOGS', 'SECRET:tokens', 'NOTE:town%20a', '{ids}:GENERATORS:marks'],
];

const ODD = [
  ...[
    'a',
    'a:',
    'a:current',
    'a}:HOMEPAGE:current',
    'x',
    '{x}',
    '{x',
    'x}',
    '}{',
    '{}',
    '',
    ' ',
    '%',
    '%25',
    '*',
    '?',
    '[a]',
  ],
  ...[
    '\ud800',
    '\ud801',
    '\udc00',
    '\ufffd',
    '%uD800',
    'ä',
    'a\u0308',
    '\u0000',
    '🦊',
    'post',
    'body',
    'ids',
    'SECRET:tokens',
  ],
];

async function openEmpty(t: TestContext, keyPrefix?: string): Promise<Store> {
  const store = await openStore({ kind: 'redis', url: redis.url, keyPrefix });
  t.after(() => store.close());
  return store;
}

async function allKeys(): Promise<readonly string[]> {
  return (await redis.client.keys('*')).toSorted();
}

/** What `work` made. */
async function newKeys(work: () => Promise<unknown>): Promise<readonly string[]> {
  const before = new Set(await allKeys());
  await work();
  return (await allKeys()).filter((key) => !before.has(key));
}

describe('every key', () => {
  it('ends by itself, but for logs, what they show, secrets and marks', async (t) => {
    await redis.client.flushall();
    const store = await openEmpty(t);
    await useFeeds(store, 'ann');
    await useLog(store, 'town');
    await useTheRest(store);
    const keys = await allKeys();
    const endless: string[] = [];
    for (const key of keys) if ((await redis.client.pttl(key)) === -1) endless.push(key);
    assert.deepEqual(endless.toSorted(), ENDLESS.toSorted());
    for (const ending of [
      'body:fetched',
      'body:town3',
      'body:trimmed',
      '{ann}:HOMEPAGE:current',
      'LEASE:poll%3Atown',
      'QUOTA:by%20id',
    ]) {
      assert.ok(keys.includes(ending), ending);
    }
  });

  it('of one viewer lies in one slot, and every key of one log in one slot', async (t) => {
    await redis.client.flushall();
    const store = await openEmpty(t, 'sluice:');
    const slots = await startSlots(t);
    for (const id of ODD) {
      const ofViewer = (await newKeys(() => useFeeds(store, id))).filter((key) => !key.startsWith('sluice:post:'));
      assert.ok(ofViewer.length >= 4, `${ofViewer}`);
      assert.equal((await slots(ofViewer)).size, 1, `${ofViewer}`);
      const ofLog = (await newKeys(() => useLog(store, id))).filter((key) => /:LOG:/.test(key));
      assert.ok(ofLog.length >= 12, `${ofLog}`);
      assert.equal((await slots(ofLog)).size, 1, `${ofLog}`);
    }
  });
});

describe('viewers and logs with odd names', () => {
  it('have keys of their own, and nothing of another', async (t) => {
    await redis.client.flushall();
    const store = await openEmpty(t);
    for (const [n, id] of ODD.entries()) {
      assert.deepEqual(await store.feeds.current(id, NOW), {});
      assert.equal((await store.timelines.readLog(id)).version, 0);
      await store.feeds.publish({ ...publication(id, `f${n}`), aliasTtlMs: HOUR });
      await appendTo(store, id, [`${n + 1}`]);
      assert.equal(await store.leases.acquire({ name: `poll:${id}`, holder: `h${n}`, ttlMs: HOUR, nowMs: NOW }), true);
    }
    for (const [n, id] of ODD.entries()) {
      assert.equal((await store.feeds.current(id, NOW)).instance?.feedId, `f${n}`);
      const records = await store.timelines.recordsAfter({ logId: id, limit: 9 });
      assert.deepEqual(
        records.map(({ postId }) => postId),
        [`${n + 1}`],
      );
      assert.deepEqual((await store.posts.getPosts([`${n + 1}`])).get(`${n + 1}`)?.shownBy, [id]);
    }
    await store.feeds.purge('*');
    await store.feeds.purge('a');
    const left = [];
    for (const id of ODD) if ((await store.feeds.current(id, NOW)).instance) left.push(id);
    assert.deepEqual(
      left,
      ODD.filter((id) => id !== '*' && id !== 'a'),
    );
  });
});

describe('deployments with prefixes of their own', () => {
  it('share one Redis and see nothing of each other', async (t) => {
    await redis.client.flushall();
    const prefixes = [undefined, 'one:', 'one:two:', 'body:', 'post:', '1'];
    const stores = await Promise.all(prefixes.map((prefix) => openEmpty(t, prefix)));
    const made = new Set<string>();
    for (const [n, store] of stores.entries()) {
      const keys = await newKeys(async () => {
        assert.deepEqual(await store.secrets.getOrCreate('tokens', Buffer.from(`${n}`)), Buffer.from(`${n}`));
        await useFeeds(store, 'ann');
        await useLog(store, 'town');
        await useTheRest(store);
      });
      assert.ok(keys.every((key) => key.startsWith(prefixes[n] ?? '')));
      for (const key of keys) made.add(key);
      assert.equal(keys.length * (n + 1), made.size, 'one deployment wrote into another');
    }
    const [first, second] = stores;
    assert.ok(first && second);
    assert.ok((await first.feeds.purge('ann')) > 0);
    assert.deepEqual(await first.feeds.current('ann', NOW), {});
    assert.equal((await second.feeds.current('ann', NOW)).instance?.feedId, 'f1');

    const heard: string[] = [];
    second.signals.listen((name) => heard.push(name));
    await until('a signal is heard', async () => {
      await first.signals.send('poll:town');
      await second.signals.send('poll:city');
      return heard.length > 0;
    });
    assert.deepEqual(new Set(heard), new Set(['poll:city']));
  });
});

/** The slots of keys, as a server of a cluster tells them. */
async function startSlots(t: TestContext): Promise<(keys: readonly string[]) => Promise<ReadonlySet<number>>> {
  const server = await startRedis({ args: ['--cluster-enabled', 'yes', '--cluster-port', `${await freePort()}`] });
  t.after(() => server.stop());
  return async (keys) => new Set(await Promise.all(keys.map((key) => server.client.cluster('KEYSLOT', key))));
}
