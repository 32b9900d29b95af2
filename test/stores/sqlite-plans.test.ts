import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { it } from 'node:test';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import { cutOf, publication, reference } from './contract-feeds.ts';
import {
  appendTo,
  commitTo,
  deleteAllExpired,
  HOUR,
  NOW,
  orderKey,
  samplePost,
  sampleRecord,
  written,
} from './samples.ts';

it('every statement that the embedded store runs finds its rows by an index', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-plans-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'sluice.db');
  const prepare = t.mock.method(DatabaseSync.prototype, 'prepare');
  await runEverything(file);
  const texts = new Set(prepare.mock.calls.map((call) => call.arguments[0]));
  prepare.mock.restore();

  const connection = new DatabaseSync(file);
  t.after(() => connection.close());
  const ours = [...texts].filter((text) => !text.startsWith('PRAGMA') && !text.includes('sqlite_schema'));
  assert.ok(ours.length > 40, `only ${ours.length} statements were seen`);
  for (const text of ours) {
    const plan = connection.prepare(`EXPLAIN QUERY PLAN ${text}`).all();
    // The list of all logs is what it says.
    if (text.startsWith('SELECT log_id, named_at FROM logs')) continue;
    for (const { detail } of plan)
      assert.doesNotMatch(`${detail}`, /^SCAN (?!holder|wanted|CONSTANT ROW|\d+ CONSTANT)/, text);
    // One viewer's instances are few: those may be sorted.
    const sorts = plan.some(({ detail }) => `${detail}`.includes('TEMP B-TREE'));
    if (/FROM (records|known|posts)\b/.test(text)) assert.equal(sorts, false, text);
    // A whole log is only ever walked in order, up to a limit.
    const walksLog = plan.some(({ detail }) => /^SEARCH (records|known|shown) .*\(log=\?\)$/.test(`${detail}`));
    if (walksLog) assert.match(text, /ORDER BY[\s\S]*LIMIT/);
  }
});

async function runEverything(file: string): Promise<void> {
  const store = await openSqliteStore({ file });
  const { timelines, posts, feeds, leases, notes, quotas, secrets } = store;
  const nested = samplePost('1', { quoted: samplePost('inner') });
  await appendTo(store, 'town', ['1', '2', '3'], { posts: [written(nested)] });
  const changes = [sampleRecord('1', { kind: 'edit' }), sampleRecord('2', { kind: 'remove' })];
  await commitTo(store, 'town', { append: changes, posts: [written(samplePost('1'), NOW + 1)] });
  await timelines.known('town', ['1']);
  await timelines.anchor('town', orderKey(9));
  await timelines.recordsAfter({ logId: 'town', limit: 9 });
  await timelines.entriesBefore({ logId: 'town', upTo: `${NOW}-9`, limit: 9 });
  const before = { sortAtMs: NOW + 9, postId: '9' };
  await timelines.entriesBefore({ logId: 'town', upTo: `${NOW}-9`, before, limit: 9 });
  await timelines.entriesByUri('town', ['uri:1']);
  await timelines.liftHead('town', `${NOW + 9}-0`);
  await timelines.writeStatus('town', { state: 'OK', overlapMs: 1, problems: [] });
  await timelines.readStatus('town');
  await timelines.nameLogs(['town'], NOW);
  await timelines.listLogs();
  await posts.getPosts(['1', 'inner']);
  await posts.putPosts([written(samplePost('by id'))]);

  await feeds.putReferences([reference(1)], NOW + HOUR);
  for (const feedId of ['f1', 'f2', 'f3']) {
    const { alias } = await feeds.current('ann', NOW);
    await feeds.publish({ ...publication('ann', feedId), keep: 1, replaces: alias, aliasTtlMs: HOUR });
  }
  const of = { feedId: 'f1', offset: 1 };
  await feeds.publishSuccessor({ ...publication('ann', 's1'), of });
  await feeds.successor('ann', of, NOW);
  await feeds.newest('ann', NOW);
  await feeds.cut(cutOf('ann', 's1'));
  await leases.acquire({ name: 'l', holder: 'a', ttlMs: 1, nowMs: NOW });
  await leases.holders(['l'], NOW);
  await leases.release('l', 'a');
  await notes.write({ name: 'n', body: 'x' });
  await notes.read(['n']);
  await notes.remove(['n']);
  await quotas.take({ name: 'q', count: 1, everyMs: 1, burst: 1, nowMs: NOW });
  await secrets.getOrCreate('tokens', Buffer.from('key'));
  await store.ping();
  await timelines.trim({ logId: 'town', beforeMs: 0, keepEntries: 1, keepKnown: 1 });
  await timelines.trim({ logId: 'town', beforeMs: 0, keepEntries: 9, keepBytes: 1, keepKnown: 9 });
  await timelines.trim({ logId: 'town', beforeMs: NOW * 2, keepEntries: 0, keepKnown: 0 });
  await timelines.dropLog('town');
  await deleteAllExpired(store, NOW + 99 * HOUR);
  await store.close();
}
