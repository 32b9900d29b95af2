import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { openStore } from '../../src/stores/registry.ts';
import { startRedis } from '../redis-server.ts';

const NOW = Date.UTC(2026, 10, 20);
const PAUSE_MS = 60_000;

const redis = await startRedis({ args: ['--enable-debug-command', 'local'] });
after(() => redis.stop());

it('after a failover nobody has a generator for a while, and all marks are a reserve further on', async () => {
  const store = await openStore(redis.url);
  const lease = (holder: string, generator?: number) =>
    store.generators.lease({ holder, generator, ttlMs: PAUSE_MS, markMs: NOW, pauseMs: PAUSE_MS, nowMs: NOW });
  const passPause = () => redis.client.del('{ids}:GENERATORS:pause');

  assert.equal(await lease('a'), 'paused', 'a Redis that was never used may have forgotten all');
  assert.ok((await redis.client.pttl('{ids}:GENERATORS:pause')) > PAUSE_MS / 2);
  await passPause();
  assert.deepEqual(await lease('a'), { generator: 0, afterMs: 0 });

  // What a replica that becomes the primary does.
  await redis.client.call('DEBUG', 'CHANGE-REPL-ID');
  assert.equal(await lease('a', 0), 'paused');
  assert.equal(await lease('b'), 'paused', 'the marks are raised once');
  await passPause();
  assert.deepEqual(await lease('a', 0), { generator: 0, afterMs: NOW + PAUSE_MS });
  await store.close();
});
