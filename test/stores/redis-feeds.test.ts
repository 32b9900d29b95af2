import assert from 'node:assert/strict';
import { after, beforeEach, describe, it, type TestContext } from 'node:test';
import { openStore } from '../../src/stores/registry.ts';
import type { Store } from '../../src/stores/store.ts';
import { startRedis } from '../redis-server.ts';
import { cutOf, hash, publication, reference } from './contract-feeds.ts';
import { HOUR, NOW } from './samples.ts';

const redis = await startRedis();
after(() => redis.stop());
beforeEach(() => redis.client.flushall());

const LONG = { aliasTtlMs: 9 * HOUR };
const FIRST = { count: 1, ttlMs: HOUR };
const OF = { feedId: 'f0', offset: 3 };

async function open(t: TestContext): Promise<Store> {
  const store = await openStore(redis.url);
  t.after(() => store.close());
  return store;
}

/** `f1` is current and `s1` a successor, both of two items. */
async function publishBoth(t: TestContext): Promise<Store> {
  const store = await open(t);
  const items = [1, 2].map((n) => ({ hash: hash(n) }));
  await store.feeds.putReferences([reference(1), reference(2)], Date.now() + 2 * HOUR);
  await store.feeds.publish({ ...publication('ann', 'f1', { items }), ...LONG });
  await store.feeds.publishSuccessor({ ...publication('ann', 's1', { items }), of: OF });
  return store;
}

describe('an instance of a version that this release cannot read', () => {
  it('is gone, its life is not lengthened, and others take its place', async (t) => {
    const before = await publishBoth(t);
    const keys = ['f1', 's1'].map((feedId) => `{ann}:HOMEPAGE:${feedId}`);
    for (const key of keys) await redis.client.setrange(key, 4, '\u0009');
    for (const key of keys) await redis.client.pexpire(key, 60_000);
    const { feeds } = await open(t);
    assert.deepEqual(await feeds.current('ann', NOW, FIRST), { alias: 'f1' });
    for (const feedId of ['f1', 's1']) {
      assert.equal(await feeds.cut(cutOf('ann', feedId, { nowMs: NOW + HOUR / 2 })), undefined);
    }
    assert.equal(await feeds.newest('ann', NOW), undefined);
    assert.equal(await feeds.successor('ann', OF, NOW), undefined);
    assert.equal(await before.feeds.cut(cutOf('ann', 'f1')), undefined, 'for who had read it before, too');
    for (const key of keys) assert.ok((await redis.client.pttl(key)) <= 60_000);
    assert.equal((await feeds.publish({ ...publication('ann', 'f2'), ...LONG, replaces: 'f1' })).feedId, 'f2');
    assert.equal((await feeds.publishSuccessor({ ...publication('ann', 's2'), of: OF })).feedId, 's2');
  });
});

it('references that are there for long enough are not written again', async (t) => {
  const { feeds } = await open(t);
  const key = `post:${hash(1)}`;
  const put = () => feeds.putReferences([reference(1)], Date.now() + HOUR);
  await put();
  await redis.client.pexpire(key, 0.97 * HOUR);
  await put();
  assert.ok((await redis.client.pttl(key)) <= 0.97 * HOUR);
  await redis.client.pexpire(key, 0.9 * HOUR);
  await put();
  assert.ok((await redis.client.pttl(key)) > 0.97 * HOUR);
});

it('what an instance names is kept for two lives more, once a life', async (t) => {
  const { feeds } = await publishBoth(t);
  const key = `post:${hash(2)}`;
  await redis.client.pexpire(key, HOUR / 2);
  // Of all times that lie a life behind one another, one begins a new life.
  for (let nowMs = NOW; nowMs <= NOW + HOUR; nowMs += HOUR / 10) await feeds.cut(cutOf('ann', 'f1', { nowMs }));
  assert.ok((await redis.client.pttl(key)) > 1.9 * HOUR);
});

it('an instance that was damaged is gone for all gateways, and others take its place', async (t) => {
  const before = await publishBoth(t);
  for (const feedId of ['f1', 's1']) await redis.client.append(`{ann}:HOMEPAGE:${feedId}`, 'more');
  const { feeds } = await open(t);
  assert.deepEqual(await feeds.current('ann', NOW, FIRST), { alias: 'f1' });
  assert.equal(await feeds.cut(cutOf('ann', 's1')), undefined);
  for (const store of [feeds, before.feeds]) {
    assert.equal(await store.cut(cutOf('ann', 'f1')), undefined);
    assert.equal(await store.successor('ann', OF, NOW), undefined);
  }
});

describe('an instance of which a reference was lost', () => {
  it('is gone for all gateways, and others take its place', async (t) => {
    const first = await publishBoth(t);
    await redis.client.del(`post:${hash(2)}`);
    const { feeds } = await open(t);
    assert.equal(
      (await feeds.cut(cutOf('ann', 'f1', { count: 1 })))?.items[0]?.postId,
      'post 1',
      'of others it is there',
    );
    assert.equal(await feeds.cut(cutOf('ann', 'f1', { offset: 1 })), undefined);
    assert.equal(await feeds.cut(cutOf('ann', 's1')), undefined);
    for (const store of [feeds, first.feeds]) {
      assert.deepEqual(await store.current('ann', NOW, FIRST), { alias: 'f1' });
      assert.equal(await store.cut(cutOf('ann', 'f1')), undefined);
      assert.equal(await store.successor('ann', OF, NOW), undefined);
    }
    assert.equal((await feeds.publishSuccessor({ ...publication('ann', 's2'), of: OF })).feedId, 's2');
  });

  it('of its first page dangles', async (t) => {
    await publishBoth(t);
    await redis.client.del(`post:${hash(1)}`);
    const { feeds } = await open(t);
    assert.deepEqual(await feeds.current('ann', NOW, FIRST), { alias: 'f1' });
  });
});
