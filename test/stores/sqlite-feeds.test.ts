import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it, type TestContext } from 'node:test';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import type { Store } from '../../src/stores/store.ts';
import { cutOf, hash, publication, reference } from './contract-feeds.ts';
import { appendTo, HOUR, NOW } from './samples.ts';

const LONG = { aliasTtlMs: 9 * HOUR };
const FIRST = { count: 1, ttlMs: HOUR };
const OF = { feedId: 'f0', offset: 3 };

/** A file in which `f1` is current and `s1` a successor, both of two items, with the posts that they name. */
async function publishBoth(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-feeds-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'sluice.db');
  const open = async (): Promise<Store> => {
    const store = await openSqliteStore({ file });
    t.after(() => store.close());
    return store;
  };
  const store = await open();
  const items = [1, 2].map((n) => ({ hash: hash(n) }));
  await appendTo(store, 'town', ['1', '2']);
  await store.feeds.putReferences([reference(1), reference(2)], NOW + 99 * HOUR);
  await store.feeds.publish({ ...publication('ann', 'f1', { items }), ...LONG });
  await store.feeds.publishSuccessor({ ...publication('ann', 's1', { items }), of: OF });
  const other = new DatabaseSync(file);
  t.after(() => other.close());
  return { file, open, store, other };
}

it('pages of cached feeds write nothing', async (t) => {
  const { file, store } = await publishBoth(t);
  const before = statSync(`${file}-wal`).size;
  for (let page = 0; page < 50; page += 1) {
    const nowMs = NOW + page * 1000;
    assert.ok((await store.feeds.current('ann', nowMs, FIRST)).cut);
    assert.ok(await store.feeds.cut(cutOf('ann', 's1', { offset: 1, nowMs })));
    assert.equal((await store.posts.getPosts(['1', '2'])).size, 2);
  }
  assert.equal(statSync(`${file}-wal`).size, before);
});

it('a life is lengthened once no other process is writing any more, and nobody waits for that', async (t) => {
  const { store, other } = await publishBoth(t);
  const cut = (nowMs: number) => store.feeds.cut(cutOf('ann', 'f1', { nowMs }));
  other.exec('BEGIN IMMEDIATE');
  assert.ok(await cut(NOW + HOUR / 2));
  assert.equal(await store.feeds.newest('ann', NOW + HOUR), undefined, 'not yet');
  other.exec('ROLLBACK');
  assert.ok(await cut(NOW + HOUR / 2));
  assert.ok(await store.feeds.newest('ann', NOW + HOUR));
});

describe('an instance of a version that this release cannot read', () => {
  it('is gone, its life is not lengthened, and others take its place', async (t) => {
    const { open, store, other } = await publishBoth(t);
    other.exec("UPDATE instances SET body = CAST(substr(body, 1, 4) || x'09' || substr(body, 6) AS BLOB)");
    const { feeds } = await open();
    assert.deepEqual(await feeds.current('ann', NOW, FIRST), { alias: 'f1' });
    for (const feedId of ['f1', 's1']) {
      assert.equal(await feeds.cut(cutOf('ann', feedId, { nowMs: NOW + HOUR / 2 })), undefined);
    }
    assert.equal(await feeds.newest('ann', NOW), undefined);
    assert.equal(await feeds.successor('ann', OF, NOW), undefined);
    assert.equal(await store.feeds.cut(cutOf('ann', 'f1')), undefined, 'for who had read it before, too');
    const longer = other.prepare('SELECT feed_id FROM instances WHERE expires_at > ?').all(NOW + HOUR);
    assert.deepEqual(longer, []);
    assert.equal((await feeds.publish({ ...publication('ann', 'f2'), ...LONG, replaces: 'f1' })).feedId, 'f2');
    assert.equal((await feeds.publishSuccessor({ ...publication('ann', 's2'), of: OF })).feedId, 's2');
  });
});

it('an instance that was damaged is gone for all processes, and others take its place', async (t) => {
  const { open, store, other } = await publishBoth(t);
  other.exec("UPDATE instances SET body = CAST(body || 'more' AS BLOB)");
  const { feeds } = await open();
  assert.deepEqual(await feeds.current('ann', NOW, FIRST), { alias: 'f1' });
  assert.equal(await feeds.cut(cutOf('ann', 's1')), undefined);
  for (const each of [feeds, store.feeds]) {
    assert.equal(await each.cut(cutOf('ann', 'f1')), undefined);
    assert.equal(await each.successor('ann', OF, NOW), undefined);
  }
});

describe('an instance of which a reference was lost', () => {
  it('is gone for all processes, and others take its place', async (t) => {
    const { open, store, other } = await publishBoth(t);
    other.prepare('DELETE FROM story_references WHERE hash = ?').run(hash(2));
    const { feeds } = await open();
    assert.equal(await feeds.cut(cutOf('ann', 'f1', { offset: 1 })), undefined);
    assert.equal(await feeds.cut(cutOf('ann', 's1')), undefined);
    for (const each of [feeds, store.feeds]) {
      assert.deepEqual(await each.current('ann', NOW, FIRST), { alias: 'f1' });
      assert.equal(await each.successor('ann', OF, NOW), undefined);
    }
    assert.equal((await feeds.publishSuccessor({ ...publication('ann', 's2'), of: OF })).feedId, 's2');
  });
});
