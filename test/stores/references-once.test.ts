import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { Reference } from '../../src/stores/feed-store.ts';
import { openStore } from '../../src/stores/registry.ts';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import { startRedis } from '../redis-server.ts';

const HOUR_MS = 3_600_000;
const references = Array.from(
  { length: 50 },
  (_, n): Reference => ({
    hash: n.toString(16).padStart(16, '0'),
    key: `${n}@town.example`,
    postId: `${n}@town.example`,
  }),
);

test('the embedded store writes nothing for references that are kept for so long already', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-'));
  const store = await openSqliteStore({ file: join(folder, 'a.db') });
  const other = new DatabaseSync(join(folder, 'a.db'));
  t.after(async () => {
    other.close();
    await store.close();
    await rm(folder, { recursive: true });
  });
  const version = () => other.prepare('PRAGMA data_version').get()?.data_version;
  const untilMs = Date.now() + HOUR_MS;
  assert.deepEqual(await store.feeds.putReferences(references, untilMs), []);
  const before = version();
  assert.deepEqual(await store.feeds.putReferences(references, untilMs), []);
  assert.equal(version(), before);
  await store.feeds.putReferences(references, untilMs + 1);
  assert.notEqual(version(), before);
});

test('Redis writes nothing for references that are kept for so long already', async (t) => {
  const redis = await startRedis();
  const store = await openStore(redis.url);
  t.after(async () => {
    await store.close();
    await redis.stop();
  });
  const writes = async () =>
    Number(/^cmdstat_set:calls=(\d+)/m.exec(await redis.client.info('commandstats'))?.[1] ?? 0);
  const untilMs = Date.now() + HOUR_MS;
  assert.deepEqual(await store.feeds.putReferences(references, untilMs), []);
  const before = await writes();
  assert.deepEqual(await store.feeds.putReferences(references, untilMs), []);
  assert.equal(await writes(), before);
  await store.feeds.putReferences(references, untilMs + HOUR_MS);
  assert.equal(await writes(), before + references.length);
});
