import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { openStore } from '../../src/stores/registry.ts';
import { startRedis } from '../redis-server.ts';
import { appendTo, commitTo, NOW, sampleRecord } from './samples.ts';

const redis = await startRedis();
after(() => redis.stop());

it('an entry that an earlier release removed reads as removed before everything, until it is trimmed', async () => {
  const store = await openStore(redis.url);
  await appendTo(store, 'town', ['1', '2']);
  const removal = sampleRecord('1', { kind: 'remove' });
  await commitTo(store, 'town', { append: [removal] });
  const [removals = ''] = await redis.client.keys('*LOG:removals');
  await redis.client.del(removals);
  const removed = removals.replace(/removals$/, 'removed');
  await redis.client.sadd(removed, `${NOW}-0`);
  const records = await store.timelines.recordsAfter({ logId: 'town', limit: 9 });
  assert.deepEqual(
    records.map(({ removedAt }) => removedAt),
    ['0-0', undefined, undefined],
  );
  assert.equal((await store.timelines.entriesByUri('town', ['uri:1']))[0]?.removedAt, '0-0');
  await store.timelines.trim({ logId: 'town', beforeMs: 0, keepEntries: 1, keepKnown: 9 });
  assert.equal(await redis.client.exists(removed), 0);
  await store.close();
});

it('where an entry was removed is forgotten with it', async () => {
  const store = await openStore(redis.url);
  await appendTo(store, 'lake', ['1']);
  await commitTo(store, 'lake', { append: [sampleRecord('1', { kind: 'remove' })] });
  const [removals = ''] = await redis.client.keys('{lake}:LOG:removals');
  assert.deepEqual(await redis.client.hgetall(removals), { [`${NOW}-0`]: `${NOW}-1` });
  await store.timelines.trim({ logId: 'lake', beforeMs: NOW + 9999, keepEntries: 9, keepKnown: 9 });
  assert.equal(await redis.client.exists(removals), 0);
  await store.close();
});
