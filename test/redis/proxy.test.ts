import assert from 'node:assert/strict';
import { after, describe, it, type TestContext } from 'node:test';
import { StoreUnavailableError } from '../../src/errors.ts';
import { connectRedis } from '../../src/stores/redis-client.ts';
import { openStore } from '../../src/stores/registry.ts';
import type { Store } from '../../src/stores/store.ts';
import { startRedis } from '../redis-server.ts';
import { cutOf } from '../stores/contract-feeds.ts';
import { NOW, postIdsOf, samplePost, sampleRecord, written } from '../stores/samples.ts';
import { failUnderLoad } from './load.ts';
import { samplePublication } from './scrolling.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';
import { until } from './until.ts';

const BOUND = { timeout: 60_000 };
/** Beyond the deadline of a call. */
const LATE_MS = 2_500;

// What it was told it keeps over a kill: the system has it.
const redis = await startRedis({ args: ['--appendonly', 'yes', '--appendfsync', 'no'] });
after(() => redis.stop());

async function openThroughProxy(t: TestContext, prefix: string) {
  const proxy = await startTcpProxy(redis.port);
  t.after(() => proxy.stop());
  const store = await openStore({ kind: 'redis', url: proxy.url, keyPrefix: `${prefix}:` });
  t.after(() => store.close());
  return { proxy, store };
}

const TROUBLES: Readonly<Record<string, (proxy: TcpProxy) => void>> = {
  'resets connections': (proxy) => proxy.cut(),
  'refuses connections': (proxy) => proxy.refuse(),
  'takes what is asked, and answers nothing': (proxy) => proxy.lose('asked'),
  'loses answers': (proxy) => proxy.lose('answered'),
  'holds answers back, and gives them late': (proxy) => proxy.hold('answered'),
  'holds back what is asked, and gives it late': (proxy) => proxy.hold('asked'),
  'gives every answer late': (proxy) => proxy.delay(LATE_MS),
  "ends the store's side of connections": (proxy) => proxy.halfClose('client'),
  "ends the server's side of connections, and does not tell": (proxy) => proxy.halfClose('server'),
};

describe('a store whose network', { ...BOUND, concurrency: true }, () => {
  for (const [name, begin] of Object.entries(TROUBLES)) {
    it(`${name}: calls end, go on soon after, and nothing is lost or there twice`, async (t) => {
      const { proxy, store } = await openThroughProxy(t, name.replaceAll(/\W/g, '-'));
      const { losses, failures } = await failUnderLoad([store], ['town'], async (progress) => {
        begin(proxy);
        await until('calls fail', () => progress.failures() > 0);
        proxy.heal();
      });
      assert.ok(failures > 0);
      assert.deepEqual([...losses.values()], [{ entries: [], bodies: [] }]);
    });
  }

  it('gives a publication late: it changes nothing of what others published since', async (t) => {
    const { proxy, store } = await openThroughProxy(t, 'late');
    const other = await openStore({ kind: 'redis', url: redis.url, keyPrefix: 'late:' });
    t.after(() => other.close());
    await store.feeds.publish(samplePublication('ann', 'first'));
    proxy.hold('asked');
    const late = store.feeds.publish({ ...samplePublication('ann', 'late'), replaces: 'first' });
    await assert.rejects(late, { name: 'StoreUnavailableError', message: /no answer within 2000 ms/ });
    await other.feeds.publish({ ...samplePublication('ann', 'second'), replaces: 'first' });
    proxy.heal();
    await until('the store answers', async () => (await store.feeds.current('ann', Date.now())).alias === 'second');
    assert.equal(await other.feeds.cut(cutOf('ann', 'late')), undefined);
  });
});

describe('a commit', BOUND, () => {
  const commitOnce = async (store: Store) => {
    const { version } = await store.timelines.readLog('town');
    const commit = { logId: 'town', expectedVersion: version, nowMs: NOW, append: [sampleRecord('1')] };
    return { version, commit: () => store.timelines.commit({ ...commit, posts: [written(samplePost('1'))] }) };
  };
  const entries = (store: Store) => postIdsOf(store.timelines.recordsAfter({ logId: 'town', limit: 9 }));

  it('whose answer was cut off is there, and is not made again', async (t) => {
    const { proxy, store } = await openThroughProxy(t, 'answer');
    const { version, commit } = await commitOnce(store);
    proxy.hold('answered');
    const refused = assert.rejects(commit(), StoreUnavailableError);
    await until('Redis has it', async () => (await redis.client.exists('answer:{town}:LOG:state')) === 1);
    proxy.cut();
    await refused;
    proxy.heal();
    await until('the store answers', async () => (await store.timelines.readLog('town')).version === version + 1);
    assert.deepEqual(await commit(), { committed: false });
    assert.deepEqual(await entries(store), ['1']);
    assert.equal((await store.posts.getPosts(['1'])).get('1')?.post.text, 'text of 1');
  });

  it('that was cut off before it came is not there, and can be made', async (t) => {
    const { proxy, store } = await openThroughProxy(t, 'asked');
    const { version, commit } = await commitOnce(store);
    proxy.lose('asked');
    const refused = assert.rejects(commit(), StoreUnavailableError);
    await proxy.lost();
    proxy.cut();
    await refused;
    proxy.heal();
    await until('the store answers', async () => (await store.timelines.readLog('town')).version === version);
    assert.equal((await commit()).committed, true);
    assert.deepEqual(await entries(store), ['1']);
  });
});

describe('a Redis', BOUND, () => {
  it('that is killed and started again goes on with what it kept, without the scripts it knew', async (t) => {
    const store = await openStore({ kind: 'redis', url: redis.url, keyPrefix: 'restart:' });
    t.after(() => store.close());
    const { losses, failures } = await failUnderLoad([store], ['town'], () => redis.restart());
    assert.ok(failures > 0);
    assert.deepEqual([...losses.values()], [{ entries: [], bodies: [] }]);
  });

  it('that forgets its scripts is told them again, and nobody notices', async (t) => {
    const store = await openStore({ kind: 'redis', url: redis.url, keyPrefix: 'scripts:' });
    t.after(() => store.close());
    const { losses, failures } = await failUnderLoad([store], ['town'], async () => {
      await redis.client.script('FLUSH');
    });
    assert.equal(failures, 0);
    assert.deepEqual([...losses.values()], [{ entries: [], bodies: [] }]);
  });

  it('that takes connections and answers nothing is not waited for at start', async (t) => {
    const proxy = await startTcpProxy(redis.port);
    t.after(() => proxy.stop());
    proxy.lose('asked');
    const connecting = connectRedis(
      { kind: 'redis', url: proxy.url },
      { mayEvict: false, log: () => {}, startMs: 200 },
    );
    await assert.rejects(connecting, { name: 'StoreUnavailableError', message: /cannot be reached/ });
  });
});
