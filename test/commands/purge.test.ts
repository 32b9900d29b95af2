import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { openStore } from '../../src/stores/registry.ts';
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
  assert.match(nobody.stderr, /^sluice: purge needs --viewer ID/);
  const nowhere = await runSluice(['purge', '--viewer', 'ann']);
  assert.equal(nowhere.code, 2);
  assert.match(nowhere.stderr, /^sluice: no sluice\.config\.\* in .*: purge needs the settings that name the store\n$/);
});
