import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StoreUnavailableError } from '../../src/errors.ts';
import type { Store } from '../../src/stores/store.ts';
import type { Use } from './contract.ts';
import { HOUR, NOW } from './samples.ts';

const MINUTE = 60_000;

/** Leases, secrets, and the store's own end. `passTime` where the store's own clock ends leases. */
export function describeLeases(use: Use, passTime: (ms: number) => Promise<void> = async () => {}): void {
  describe('leases', () => {
    const lease = { name: 'poll:town', holder: 'a', ttlMs: HOUR, nowMs: NOW };

    it('are held by one, who may renew', async (t) => {
      const { leases } = await use(t);
      assert.equal(await leases.acquire(lease), true);
      assert.equal(await leases.acquire({ ...lease, holder: 'b' }), false);
      assert.equal(await leases.acquire({ ...lease, nowMs: NOW + HOUR - 1 }), true);
      assert.equal(await leases.acquire({ ...lease, holder: 'b', nowMs: NOW + HOUR }), false);
    });

    it('are free at the end of their time', async (t) => {
      const { leases } = await use(t);
      await leases.acquire(lease);
      await passTime(HOUR - MINUTE);
      assert.equal(await leases.acquire({ ...lease, holder: 'b', nowMs: NOW + HOUR - MINUTE }), false);
      await passTime(MINUTE);
      assert.equal(await leases.acquire({ ...lease, holder: 'b', nowMs: NOW + HOUR }), true);
      assert.equal(await leases.acquire({ ...lease, nowMs: NOW + HOUR }), false);
    });

    it('are let go by their holder alone', async (t) => {
      const { leases } = await use(t);
      await leases.acquire(lease);
      await leases.release(lease.name, 'b');
      assert.equal(await leases.acquire({ ...lease, holder: 'b' }), false);
      await leases.release(lease.name, 'a');
      await leases.release(lease.name, 'a');
      assert.equal(await leases.acquire({ ...lease, holder: 'b' }), true);
    });

    it('name their holders, of any number of names, until they end', async (t) => {
      const { leases } = await use(t);
      await leases.acquire(lease);
      await leases.acquire({ ...lease, name: 'poll:city', holder: 'b', ttlMs: 2 * HOUR });
      const names = [...Array.from({ length: 10_000 }, (_, n) => `poll:${n}`), 'poll:city', 'poll:town'];
      const holders = async (nowMs: number) => Object.fromEntries(await leases.holders(names, nowMs));
      assert.deepEqual(await holders(NOW), { 'poll:town': 'a', 'poll:city': 'b' });
      await passTime(HOUR - MINUTE);
      assert.deepEqual(await holders(NOW + HOUR - MINUTE), { 'poll:town': 'a', 'poll:city': 'b' });
      await passTime(MINUTE);
      assert.deepEqual(await holders(NOW + HOUR), { 'poll:city': 'b' });
      await leases.release('poll:city', 'b');
      assert.deepEqual(await holders(NOW + HOUR), {});
    });

    it('of other names are other leases', async (t) => {
      const { leases } = await use(t);
      await leases.acquire(lease);
      assert.equal(await leases.acquire({ ...lease, name: 'poll:town:2', holder: 'b' }), true);
    });
  });

  describe('secrets', () => {
    it('are those of the first writer, byte for byte', async (t) => {
      const { secrets } = await use(t);
      const first = Buffer.from([0, 255, 128, 10, 0]);
      assert.deepEqual(await secrets.getOrCreate('tokens', first), first);
      assert.deepEqual(await secrets.getOrCreate('tokens', Buffer.from('second')), first);
      assert.deepEqual(await secrets.getOrCreate('hashes', Buffer.from('other')), Buffer.from('other'));
    });
  });

  describe('signals', () => {
    it('are heard until the listener goes', async (t) => {
      const { signals } = await use(t);
      const heard = new Set<string>();
      const stop = signals.listen((name) => heard.add(name));
      // The first ones may be lost.
      while (!heard.has('town')) await signals.send('town');
      stop();
      await signals.send('late');
      const after = new Set<string>();
      signals.listen((name) => after.add(name));
      while (!after.has('end')) await signals.send('end');
      assert.deepEqual([...heard], ['town']);
    });
  });

  describe('the store', () => {
    it('answers a ping', async (t) => {
      await (await use(t)).ping();
    });

    it('says after its close that it does not answer, and may be closed again', async (t) => {
      const store = await use(t);
      await store.timelines.readLog('town');
      await Promise.all([store.close(), store.close()]);
      await store.close();
      for (const call of calls(store)) await assert.rejects(call, StoreUnavailableError);
    });
  });
}

/** One call of every operation. */
function calls(store: Store): (() => Promise<unknown>)[] {
  const { timelines, posts, feeds, leases, notes, quotas, secrets } = store;
  const publication = {
    viewerId: 'ann',
    instance: { feedId: 'f', generatedAtMs: NOW, items: [] },
    nowMs: NOW,
    ttlMs: HOUR,
    keep: 4,
  };
  const of = { feedId: 'f', offset: 0 };
  return [
    () => timelines.readLog('town'),
    () => timelines.commit({ logId: 'town', expectedVersion: 0, nowMs: NOW, append: [], posts: [] }),
    () => timelines.known('town', ['1']),
    () => timelines.anchor('town', '1'),
    () => timelines.recordsAfter({ logId: 'town', limit: 1 }),
    () => timelines.entriesBefore({ logId: 'town', upTo: '1-0', limit: 1 }),
    () => timelines.entriesByUri('town', ['1']),
    () => timelines.liftHead('town', '1-0'),
    () => timelines.trim({ logId: 'town', beforeMs: 0, keepEntries: 1, keepKnown: 1 }),
    () => timelines.writeStatus('town', { state: 'OK', overlapMs: 0, problems: [] }),
    () => timelines.readStatus('town'),
    () => timelines.readRepair('town'),
    () => timelines.nameLogs(['town'], NOW),
    () => timelines.listLogs(),
    () => timelines.dropLog('town'),
    () => posts.getPosts(['1']),
    () => posts.putPosts([]),
    () => feeds.current('ann', NOW),
    () => feeds.newest('ann', NOW),
    () => feeds.cut({ viewerId: 'ann', feedId: 'f', offset: 0, count: 1, nowMs: NOW, ttlMs: HOUR }),
    () => feeds.publish({ ...publication, aliasTtlMs: HOUR }),
    () => feeds.publishSuccessor({ ...publication, of }),
    () => feeds.successor('ann', of, NOW),
    () => feeds.putReferences([], NOW),
    () => feeds.purge('ann'),
    () => leases.acquire({ name: 'l', holder: 'a', ttlMs: 1, nowMs: NOW }),
    () => leases.holders(['l'], NOW),
    () => leases.release('l', 'a'),
    () => notes.read(['n']),
    () => notes.write({ name: 'n', body: 'x' }),
    () => notes.remove(['n']),
    () => quotas.take({ name: 'q', count: 1, everyMs: 1, burst: 1, nowMs: NOW }),
    () => secrets.getOrCreate('s', Buffer.from('x')),
    () => store.signals.send('s'),
    () => store.generators.lease({ holder: 'a', ttlMs: 1, markMs: NOW, pauseMs: 1, nowMs: NOW }),
    () => store.generators.release('a', 0),
    () => store.ping(),
    () => store.deleteExpired(NOW),
  ];
}
