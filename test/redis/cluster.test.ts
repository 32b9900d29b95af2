import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { redisKeys } from '../../src/stores/redis-keys.ts';
import { openStore } from '../../src/stores/registry.ts';
import { describeStoreContract } from '../stores/contract.ts';
import { appendTo, commitTo, NOW, postIdsOf, samplePost, sampleRecord, written } from '../stores/samples.ts';
import { type Shard, startCluster } from './cluster.ts';
import { failUnderLoad } from './load.ts';
import { killWithLostTail } from './lost-tail.ts';
import { until } from './until.ts';

const BOUND = { timeout: 60_000 };
const LOGS = ['town', 'city', 'village', 'hamlet'];

const cluster = await startCluster();
after(() => cluster.stop());

const open = async () => {
  await cluster.flush();
  return openStore(cluster.spec);
};

describeStoreContract('the store on a cluster of Redis', open, {
  expiresByCall: false,
  // Leases end by the servers' clocks, which cannot be set.
  async passTime(ms) {
    for (const { client } of await cluster.primaries()) {
      for (const key of await client.keys('*LEASE:*')) {
        await client.pexpire(key, Math.max(0, (await client.pttl(key)) - ms));
      }
    }
  },
});

describe('a cluster under load whose primary is killed', () => {
  it('answers again within seconds, and keeps all but its newest writes, each once', BOUND, async (t) => {
    const stores = await Promise.all([open(), open()]);
    t.after(() => Promise.all(stores.map((store) => store.close())));
    const { primary } = await cluster.shardOf(stateOf('town'));
    const isKilled = new Map<string, boolean>();
    for (const log of LOGS) isKilled.set(log, (await cluster.shardOf(stateOf(log))).primary === primary);
    const { losses, failures } = await failUnderLoad(stores, LOGS, () => primary.kill());
    t.diagnostic(`${failures} calls failed; lost: ${JSON.stringify([...losses])}`);
    assert.ok(failures > 0);
    for (const log of LOGS) if (!isKilled.get(log)) assert.deepEqual(losses.get(log)?.entries, []);
  });
});

describe('a cluster whose failover lost the newest writes', () => {
  it('may repeat them, never skips, and shows later edits', BOUND, async (t) => {
    const store = await open();
    t.after(() => store.close());
    const log = await logWithReplica();
    const shard = await cluster.shardOf(stateOf(log));
    const post = await postElsewhere(shard);
    const edit = (text: string, readAtMs: number) => ({
      append: [sampleRecord(post, { kind: 'edit' as const, revision: text })],
      posts: [written(samplePost(post, { text }), readAtMs)],
    });
    const textOf = async () => (await store.posts.getPosts([post])).get(post)?.post.text;

    await appendTo(store, log, [post, '2', '3']);
    await killWithLostTail(shard, `${redisKeys('').log(log)}ballast`, async () => {
      await appendTo(store, log, ['4', '5', '6']);
      await commitTo(store, log, edit('second', NOW + 1));
    });
    await until('the log can be read', async () => (await store.timelines.readLog(log)).version === 1);
    assert.equal(await textOf(), 'second');
    const passed = `${NOW}-6`;
    assert.equal((await store.timelines.readLog(log)).head, `${NOW}-2`, 'the tail is lost');

    await store.timelines.liftHead(log, passed);
    const stale = { logId: log, expectedVersion: 1, nowMs: NOW, append: [], posts: [] };
    assert.deepEqual(await store.timelines.commit(stale), { committed: false }, 'what was lost may have been built on');
    assert.equal((await store.timelines.readLog(log)).version, 1001);
    await commitTo(store, log, edit('third', NOW + 2));
    assert.equal(await textOf(), 'third');
    await appendTo(store, log, ['4', '5', '6']);
    const again = await postIdsOf(store.timelines.recordsAfter({ logId: log, after: passed, limit: 9 }));
    assert.deepEqual(again, [post, '4', '5', '6']);
  });
});

describe('a cluster whose failover lost what a log shows, and not the log', () => {
  it('has the posts for whoever reads the log', BOUND, async (t) => {
    const store = await open();
    t.after(() => store.close());
    const nowMs = Date.now();
    const post = await postElsewhere(await cluster.shardOf(stateOf('town')));
    const key = `${redisKeys('').posts}${post}`;
    await appendTo(store, 'town', ['2', post], { append: [sampleRecord(post, { arrivedAtMs: nowMs })], nowMs });
    await (await cluster.shardOf(key)).primary.client.del(key);
    assert.equal((await store.posts.getPosts([post])).size, 0);
    await store.timelines.recordsAfter({ logId: 'town', limit: 9 });
    const found = (await store.posts.getPosts([post])).get(post);
    assert.deepEqual([found?.post.text, found?.shownBy], [`text of ${post}`, ['town']]);
  });
});

describe('a cluster whose primary hangs', () => {
  it('answers again within seconds, and not by what hangs', BOUND, async (t) => {
    const stores = await Promise.all([open(), open()]);
    t.after(() => Promise.all(stores.map((store) => store.close())));
    const { primary } = await cluster.shardOf(stateOf(await logWithReplica()));
    t.after(() => primary.thaw());
    const { failures } = await failUnderLoad(stores, LOGS, async () => primary.freeze());
    assert.ok(failures > 0);
  });
});

/** A log whose primary has a replica still. */
async function logWithReplica(): Promise<string> {
  for (let n = 0; n < 1000; n += 1) if ((await cluster.shardOf(stateOf(`log-${n}`))).replica) return `log-${n}`;
  throw new Error('no primary has a replica');
}

/** A post whose body this shard does not keep. */
async function postElsewhere({ primary }: Shard): Promise<string> {
  for (let n = 10; ; n += 1) {
    if ((await cluster.shardOf(`${redisKeys('').posts}${n}`)).primary !== primary) return `${n}`;
  }
}

function stateOf(logId: string): string {
  return `${redisKeys('').log(logId)}state`;
}
