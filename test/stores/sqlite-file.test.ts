import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it, type TestContext } from 'node:test';
import { ConfigError, StoreUnavailableError } from '../../src/errors.ts';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import { SCHEMA_VERSION } from '../../src/stores/sqlite-schema.ts';
import type { Store } from '../../src/stores/store.ts';
import { appendTo, postIdsOf, samplePost, sampleRecord, written } from './samples.ts';

describe('opening a file', () => {
  it('makes one that its owner alone can read, side files too', async (t) => {
    const file = newFile(t);
    await openFor(t, file);
    for (const name of [file, `${file}-wal`, `${file}-shm`]) assert.equal(statSync(name).mode & 0o777, 0o600);
  });

  it('keeps what is in one that is there', async (t) => {
    const file = newFile(t);
    const state = await appendTo(await openFor(t, file), 'town', ['1']);
    const again = await openFor(t, file);
    assert.deepEqual(await again.timelines.readLog('town'), state);
    assert.equal(query(file, 'PRAGMA user_version').user_version, SCHEMA_VERSION);
    assert.equal(query(file, 'PRAGMA journal_mode').journal_mode, 'wal');
  });

  it('counts the bytes of one that an earlier release made', async (t) => {
    const file = newFile(t);
    const store = await openFor(t, file);
    await appendTo(store, 'town', ['1', '2', '3']);
    await store.close();
    const { bytes } = query(file, 'SELECT bytes FROM logs');
    for (const trigger of ['shown_more', 'shown_again', 'shown_no_more']) run(file, `DROP TRIGGER ${trigger}`);
    for (const table of ['logs', 'shown']) run(file, `ALTER TABLE ${table} DROP COLUMN bytes`);
    run(file, 'PRAGMA user_version = 3');
    const again = await openFor(t, file);
    assert.ok(Number(bytes) > 500);
    assert.deepEqual(query(file, 'SELECT bytes FROM logs'), query(file, `SELECT ${bytes} AS bytes`));
    await again.timelines.trim({
      logId: 'town',
      beforeMs: 0,
      keepEntries: 9,
      keepKnown: 9,
      keepBytes: Number(bytes) - 1,
    });
    assert.deepEqual(await postIdsOf(again.timelines.recordsAfter({ logId: 'town', limit: 9 })), ['2', '3']);
  });

  it('takes an empty file for a new one', async (t) => {
    const file = newFile(t);
    writeFileSync(file, '');
    await (await openFor(t, file)).ping();
  });

  it('works when many do it at once', async (t) => {
    const file = newFile(t);
    const stores = await Promise.all(Array.from({ length: 5 }, () => openFor(t, file)));
    for (const [index, store] of stores.entries()) await appendTo(store, 'town', [`${index}`]);
    assert.equal((await stores[0]?.timelines.readLog('town'))?.version, 5);
  });

  it('waits for another process that is making it', async (t) => {
    const file = newFile(t);
    const other = new DatabaseSync(file);
    t.after(() => other.close());
    other.exec('BEGIN EXCLUSIVE');
    const sleep = t.mock.fn(async () => other.exec('COMMIT'));
    const store = await openSqliteStore({
      file,
      busyTimeoutMs: 1,
      clock: { now: Date.now, monotonic: Date.now, sleep },
    });
    t.after(() => store.close());
    await store.ping();
    assert.equal(sleep.mock.callCount(), 1);
  });

  it('refuses one of a newer release, and leaves it as it is', async (t) => {
    const file = newFile(t);
    await (await openFor(t, file)).close();
    query(file, `PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
    const before = readFileSync(file);
    await assert.rejects(
      openSqliteStore({ file }),
      configError(
        new RegExp(`newer Sluice: required schema version ${SCHEMA_VERSION} or lower, got ${SCHEMA_VERSION + 1}`),
      ),
    );
    assert.deepEqual(readFileSync(file), before);
  });

  it('refuses what is not a database, and leaves it as it is', async (t) => {
    const file = newFile(t);
    const text = 'These are minutes of a meeting. '.repeat(200);
    writeFileSync(file, text);
    await assert.rejects(openSqliteStore({ file }), configError(/is not a SQLite database/));
    assert.equal(readFileSync(file, 'utf8'), text);
  });

  it('refuses a database of another program', async (t) => {
    const file = newFile(t);
    query(file, 'CREATE TABLE songs (title TEXT)');
    await assert.rejects(openSqliteStore({ file }), configError(/database of another program/));
    assert.equal(query(file, 'SELECT count(*) AS tables FROM sqlite_schema').tables, 1);
  });

  it('refuses a path that cannot be a file', async (t) => {
    const file = newFile(t);
    mkdirSync(file);
    await assert.rejects(openSqliteStore({ file }), configError(/cannot be opened/));
    await assert.rejects(openSqliteStore({ file: join(file, 'no', 'such.db') }), configError(/cannot be opened/));
    await assert.rejects(openSqliteStore({ file: '' }), configError(/empty path/));
  });
});

describe('an outage', () => {
  it('of a full disk loses nothing that was acknowledged, and half of no commit stays', async (t) => {
    const file = newFile(t);
    const store = await openFor(t, file, { maxPages: 80 });
    const acknowledged: string[] = [];
    const fill = async () => {
      for (let id = 1; ; id++) {
        const ids = [`${id * 2}`, `${id * 2 + 1}`];
        const posts = ids.map((each) => written(samplePost(each, { text: 'x'.repeat(3_000) })));
        await appendTo(store, 'town', ids, { posts });
        acknowledged.push(...ids);
      }
    };
    await assert.rejects(fill, outage(/full/));
    assert.ok(acknowledged.length > 4);
    await assertHolds(store, acknowledged);
    await store.close();

    const again = await openFor(t, file);
    await assertHolds(again, acknowledged);
    await appendTo(again, 'town', ['9999']);
  });

  it('of a file that another process writes is told once the wait is over', async (t) => {
    const file = newFile(t);
    const store = await openFor(t, file, { busyTimeoutMs: 1 });
    const other = new DatabaseSync(file);
    t.after(() => other.close());
    other.exec('BEGIN IMMEDIATE');
    await assert.rejects(appendTo(store, 'town', ['1']), outage(/locked/));
    assert.equal((await store.timelines.readLog('town')).version, 0);
    other.exec('ROLLBACK');
    await appendTo(store, 'town', ['1']);
  });

  it('of a damaged file is told, and is not a miss', async (t) => {
    const file = newFile(t);
    const store = await openFor(t, file);
    await appendTo(store, 'town', ['1', '2', '3']);
    await store.close();
    const bytes = readFileSync(file);
    for (const table of ['logs', 'posts']) {
      const page = Number(query(file, `SELECT rootpage FROM sqlite_schema WHERE name = '${table}'`).rootpage);
      bytes.fill(0x5a, (page - 1) * 4_096, page * 4_096);
    }
    writeFileSync(file, bytes);
    const damaged = await openFor(t, file);
    await assert.rejects(damaged.timelines.readLog('town'), outage(/malformed/));
    await assert.rejects(damaged.posts.getPosts(['1']), outage(/malformed/));
  });

  it('of a value that cannot be read is told, and is not a miss', async (t) => {
    const file = newFile(t);
    const store = await openFor(t, file);
    await appendTo(store, 'town', ['1']);
    query(file, `UPDATE posts SET body = '{"id":'`);
    await assert.rejects(store.posts.getPosts(['1']), outage(/not JSON/));
  });

  it('is not made of a caller who hands in what cannot be kept', async (t) => {
    const store = await openFor(t, newFile(t));
    const append = [sampleRecord('1'), sampleRecord('2', { sortAtMs: Number.NaN })];
    await assert.rejects(
      appendTo(store, 'town', ['1'], { append }),
      (error) => !(error instanceof StoreUnavailableError),
    );
    assert.equal((await store.timelines.readLog('town')).version, 0);
  });
});

async function assertHolds(store: Store, ids: readonly string[]): Promise<void> {
  assert.deepEqual(await postIdsOf(store.timelines.recordsAfter({ logId: 'town', limit: 9_999 })), ids);
  assert.equal((await store.timelines.readLog('town')).version, ids.length / 2);
  assert.equal((await store.posts.getPosts(ids)).size, ids.length);
}

it('a lease of a gateway that died does not outlive a clock that was set back by hours', async (t) => {
  const { leases } = await openFor(t, newFile(t));
  const lease = { name: 'poll:town', ttlMs: 5000, nowMs: Date.UTC(2026, 10, 20) };
  assert.equal(await leases.acquire({ ...lease, holder: 'dead' }), true);
  const nowMs = lease.nowMs - 7_200_000;
  assert.equal(await leases.acquire({ ...lease, nowMs, holder: 'next' }), true);
  assert.equal(await leases.acquire({ ...lease, nowMs: nowMs + 10, holder: 'third' }), false);
});

function newFile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-store-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, 'sluice.db');
}

async function openFor(t: TestContext, file: string, limits: { maxPages?: number; busyTimeoutMs?: number } = {}) {
  const store = await openSqliteStore({ file, ...limits });
  t.after(() => store.close());
  return store;
}

/** Runs one statement over a connection of its own. */
function query(file: string, text: string): Record<string, unknown> {
  const connection = new DatabaseSync(file);
  try {
    return connection.prepare(text).get() ?? {};
  } finally {
    connection.close();
  }
}

function run(file: string, text: string): void {
  const connection = new DatabaseSync(file);
  connection.exec(text);
  connection.close();
}

function configError(message: RegExp) {
  return (error: unknown) => error instanceof ConfigError && message.test(error.message);
}

function outage(message: RegExp) {
  return (error: unknown) =>
    error instanceof StoreUnavailableError && message.test(error.message) && error.cause instanceof Error;
}
