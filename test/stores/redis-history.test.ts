import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { openStore } from '../../src/stores/registry.ts';
import { startRedis } from '../redis-server.ts';
import { appendTo, NOW } from './samples.ts';

const redis = await startRedis({ args: ['--enable-debug-command', 'local'] });
after(() => redis.stop());

it('nobody commits on a version that was read before a failover, for what was lost may have had the versions after it', async () => {
  const store = await openStore(redis.url);
  await appendTo(store, 'town', ['1', '2']);
  // What a replica that becomes the primary does.
  await redis.client.call('DEBUG', 'CHANGE-REPL-ID');
  const commit = (expectedVersion: number) =>
    store.timelines.commit({ logId: 'town', expectedVersion, nowMs: NOW, append: [], posts: [] });
  assert.deepEqual(await commit(1), { committed: false });
  const { version } = await store.timelines.readLog('town');
  assert.equal(version, 1001);
  for (const stale of [1, 2, 3, 1000]) assert.deepEqual(await commit(stale), { committed: false });
  assert.equal((await appendTo(store, 'town', ['3'])).version, 1002);
  await store.close();
});

it('nobody writes a note on a version that was read before a failover', async (t) => {
  const { notes, close } = await openStore(redis.url);
  t.after(close);
  await notes.write({ name: 'a', body: 'kept' });
  await redis.client.call('DEBUG', 'CHANGE-REPL-ID');
  const write = (expectedVersion?: number) => notes.write({ name: 'a', body: 'new', expectedVersion });
  for (const stale of [1, 2, 3, 1000]) assert.equal(await write(stale), undefined);
  assert.deepEqual((await notes.read(['a'])).get('a'), { version: 1001, body: 'kept' });
  assert.equal(await write(1001), 1002);
  await redis.client.call('DEBUG', 'CHANGE-REPL-ID');
  assert.equal(await write(), 2003, 'who expects none writes at once');
});
