import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { openStore } from '../../src/stores/registry.ts';
import { appendTo } from '../stores/samples.ts';
import { folder, runSluice } from './run-sluice.ts';

const sources = { town: { kind: 'mastodon', url: 'https://town.example', timeline: { type: 'public' } } };

it('purge removes the feeds of one viewer from the store of the settings', async () => {
  const cwd = folder({ 'sluice.config.json': JSON.stringify({ sources, store: 'sqlite:feeds.db' }) });
  const nowMs = Date.now();
  const read = async () => {
    const store = await openStore(`sqlite:${join(cwd, 'feeds.db')}`);
    const found = await Promise.all(['ann', 'bob'].map((viewer) => store.feeds.newest(viewer, nowMs)));
    await store.close();
    return found.map((header) => header?.feedId);
  };
  const store = await openStore(`sqlite:${join(cwd, 'feeds.db')}`);
  for (const viewerId of ['ann', 'bob']) {
    const instance = { feedId: `of-${viewerId}`, generatedAtMs: nowMs, items: [] };
    await store.feeds.publish({ viewerId, instance, nowMs, ttlMs: 3_600_000, aliasTtlMs: 60_000, keep: 4 });
  }
  await store.close();
  assert.deepEqual(await read(), ['of-ann', 'of-bob']);

  const purged = await runSluice(['purge', '--viewer', 'ann'], { cwd });
  assert.equal(purged.stderr, '');
  assert.equal(purged.stdout, 'removed 1 feed instance of "ann"; old cursors behave as gone\n');
  assert.deepEqual(await read(), [undefined, 'of-bob']);
});

it('purge says what it needs', async () => {
  const nobody = await runSluice(['purge']);
  assert.equal(nobody.code, 2);
  assert.match(nobody.stderr, /^sluice: purge needs --viewer ID or --source ID/);
  const nowhere = await runSluice(['purge', '--viewer', 'ann']);
  assert.equal(nowhere.code, 2);
  assert.match(nowhere.stderr, /^sluice: no sluice\.config\.\* in .*: purge needs the settings that name the store\n$/);
});

it('purge removes all that a source brought, also one that is no longer in the settings, and no other', async () => {
  const cwd = folder({ 'sluice.config.json': JSON.stringify({ sources, store: 'sqlite:logs.db' }) });
  const store = await openStore(`sqlite:${join(cwd, 'logs.db')}`);
  for (const [id, key] of Object.entries({ 1: 'town', 2: 'former' })) {
    await store.notes.write({ name: `source:${key}`, body: `log-of-${key}` });
    await appendTo(store, `log-of-${key}`, [id]);
  }
  await store.close();

  const purged = await runSluice(['purge', '--source', 'former'], { cwd });
  assert.deepEqual([purged.stderr, purged.stdout], ['', 'removed all that former brought\n']);
  const again = await runSluice(['purge', '--source', 'former'], { cwd });
  assert.match(again.stderr, /--source: required a source that a gateway has read, got former/);
  const left = await openStore(`sqlite:${join(cwd, 'logs.db')}`);
  const found = await left.posts.getPosts(['1', '2']);
  assert.deepEqual([...found.keys()], ['1']);
  await left.close();
});
