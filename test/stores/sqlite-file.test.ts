import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it, type TestContext } from 'node:test';
import { ConfigError, StoreUnavailableError } from '../../src/errors.ts';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import { APPLICATION_ID, MIGRATIONS, migrate, SCHEMA_VERSION } from '../../src/stores/sqlite-schema.ts';
import type { Store } from '../../src/stores/store.ts';
import { appendTo, deleteAllExpired, HOUR, NOW, postIdsOf, samplePost, sampleRecord, written } from './samples.ts';

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
    const file = olderFile(t, 3, ['1', '2', '3']);
    const again = await openFor(t, file);
    const bytes = 3 * JSON.stringify(samplePost('1')).length;
    assert.equal(query(file, 'SELECT bytes FROM logs').bytes, bytes);
    await again.timelines.trim({ logId: 'town', beforeMs: 0, keepEntries: 9, keepKnown: 9, keepBytes: bytes - 1 });
    assert.deepEqual(await postIdsOf(again.timelines.recordsAfter({ logId: 'town', limit: 9 })), ['2', '3']);
  });

  it('finds in one that an earlier release made which record removed an entry', async (t) => {
    const file = fileOfVersion(t, 4);
    const records = [
      oldRecord(1, { postId: 'gone', removed: 1 }),
      oldRecord(2, { postId: 'again', removed: 1 }),
      oldRecord(3, { postId: 'gone', kind: 'edit' }),
      oldRecord(4, { postId: 'gone', kind: 'remove' }),
      oldRecord(5, { postId: 'again' }),
      oldRecord(6, { postId: 'lost', removed: 1 }),
    ];
    for (const record of records) run(file, record);
    run(file, `INSERT INTO logs (log, log_id, entries) VALUES (1, 'town', 4)`);
    const { timelines } = await openFor(t, file);
    const found = await timelines.recordsAfter({ logId: 'town', limit: 9 });
    assert.deepEqual(
      found.map(({ removedAt }) => removedAt),
      [`${NOW + 4}-0`, `${NOW + 5}-0`, undefined, undefined, undefined, '0-0'],
    );
    const shown = timelines.entriesBefore({ logId: 'town', upTo: `${NOW + 9}-0`, limit: 9 });
    assert.deepEqual(await postIdsOf(shown), ['again']);
  });

  it('has lost the bodies that an earlier release took for gone, until they are read again', async (t) => {
    const file = olderFile(t, 4, ['1', '2']);
    const connection = new DatabaseSync(file);
    connection.exec(`UPDATE posts SET gone_at = ${NOW} WHERE id = '1'`);
    connection.close();
    const { posts, ...store } = await openFor(t, file);
    const read = async () => (await posts.getPosts(['1', '2'])).values().map(({ post, shownBy }) => [post.id, shownBy]);
    assert.deepEqual([...(await read())], [['2', ['town']]]);
    await posts.putPosts([written(samplePost('1'))]);
    await deleteAllExpired({ posts, ...store }, NOW + 999 * HOUR);
    assert.deepEqual(
      [...(await read())],
      [
        ['1', ['town']],
        ['2', ['town']],
      ],
    );
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
  assert.equal((await leases.holders([lease.name], nowMs)).size, 0);
  assert.equal(await leases.acquire({ ...lease, nowMs, holder: 'next' }), true);
  assert.equal(await leases.acquire({ ...lease, nowMs: nowMs + 10, holder: 'third' }), false);
});

function newFile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-store-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return join(folder, 'sluice.db');
}

/** One of an earlier schema, with a log `town` that shows these posts. */
function olderFile(t: TestContext, version: number, ids: readonly string[]): string {
  const file = newFile(t);
  const connection = new DatabaseSync(file);
  migrate(connection, file, version);
  const insert = (text: string, ...values: (string | number)[]) => connection.prepare(text).run(...values);
  insert("INSERT INTO logs (log, log_id, version, entries) VALUES (1, 'town', 1, ?)", ids.length);
  for (const [n, id] of ids.entries()) {
    insert('INSERT INTO posts (id, read_at, body) VALUES (?, ?, ?)', id, NOW, JSON.stringify(samplePost(id)));
    insert('INSERT INTO shown (post_id, log, via, shown_at) VALUES (?, 1, ?, ?)', id, id, NOW);
    insert("INSERT INTO records VALUES (1, ?, ?, 'entry', ?, ?, ?, ?, 0, 0)", NOW, n, id, `uri:${id}`, NOW, NOW);
  }
  connection.close();
  return file;
}

/** As the release left it whose schema had this version. */
function fileOfVersion(t: TestContext, version: number): string {
  const file = newFile(t);
  const last = [`PRAGMA application_id = ${APPLICATION_ID}`, `PRAGMA user_version = ${version}`];
  for (const text of [...MIGRATIONS.slice(0, version), ...last]) run(file, text);
  return file;
}

/** A record of log 1 as files up to version 4 have it. */
function oldRecord(ms: number, { postId = '', kind = 'entry', removed = 0 }): string {
  return `INSERT INTO records (log, ms, n, kind, post_id, uri, sort_at, arrived_at, late, removed)
    VALUES (1, ${NOW + ms}, 0, '${kind}', '${postId}', 'uri:${postId}', ${ms}, ${NOW}, 0, ${removed})`;
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
