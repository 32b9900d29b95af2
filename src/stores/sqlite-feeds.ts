import type { EncodedPublication, FeedRecords, InstancePlace, LiveHeader } from './feed-records.ts';
import type { InstanceHeader, SuccessorKey } from './feed-store.ts';
import { READABLE } from './instance-codec.ts';
import type { Sql, SqliteDatabase } from './sqlite-database.ts';
import { deleteExpiredReferences, findReference, lengthenReferences, writeReferences } from './sqlite-references.ts';

interface InstanceRow {
  readonly feed_id: string;
  readonly generated_at: number;
  readonly size: number;
  readonly expires_at: number;
}

const HEADER = 'feed_id, generated_at, size, expires_at';

const IS_READABLE = `substr(body, 1, 5) IN (${READABLE.map((start) => `x'${start}'`)})`;

/** Feed instances as rows; an expired one is as good as none, and is removed in time. */
export function sqliteFeeds(db: SqliteDatabase): FeedRecords {
  return {
    current: async (viewerId, nowMs) =>
      db.read((sql) => {
        const viewer = viewerKey(viewerId);
        const alias = findAlias(sql, viewer, nowMs);
        const instance = alias === undefined ? undefined : findInstance(sql, viewer, alias, nowMs);
        return { ...(alias !== undefined && { alias }), ...(instance && { instance }) };
      }),
    newest: async (viewerId, nowMs) =>
      db.read((sql) => {
        const newest = `SELECT ${HEADER} FROM instances WHERE viewer = ? AND expires_at > ? AND ${IS_READABLE}
          ORDER BY generated_at DESC, feed_id DESC LIMIT 1`;
        return withoutExpiry(header(sql.get<InstanceRow>(newest, viewerKey(viewerId), nowMs)));
      }),
    read: async ({ viewerId, feedId }, nowMs) =>
      db.read((sql) => {
        const text = 'SELECT body, expires_at FROM instances WHERE viewer = ? AND feed_id = ? AND expires_at > ?';
        const row = sql.get<InstanceRow & { body: Uint8Array }>(text, viewerKey(viewerId), feedId, nowMs);
        return row && { bytes: row.body, expiresAtMs: row.expires_at };
      }),
    expiry: async ({ viewerId, feedId }) =>
      db.read((sql) => {
        const text = 'SELECT expires_at FROM instances WHERE viewer = ? AND feed_id = ?';
        return sql.get<InstanceRow>(text, viewerKey(viewerId), feedId)?.expires_at;
      }),
    renew: async (place, renewal) => db.writeIfFree((sql) => renew(sql, place, renewal)),
    remove: async ({ viewerId, feedId }) => {
      db.write((sql) => sql.run('DELETE FROM instances WHERE viewer = ? AND feed_id = ?', viewerKey(viewerId), feedId));
    },
    readReferences: async (hashes) => db.read((sql) => hashes.map((hash) => findReference(sql, hash))),
    publish: async (publication) => db.write((sql) => publishCurrent(sql, publication)),
    publishSuccessor: async (publication) => db.write((sql) => publishSuccessor(sql, publication)),
    successor: async (viewerId, of, nowMs) =>
      db.read((sql) => withoutExpiry(findSuccessor(sql, viewerKey(viewerId), of, nowMs))),
    purge: async (viewerId) =>
      db.writeDurably((sql) => {
        sql.run('DELETE FROM aliases WHERE viewer = ?', viewerKey(viewerId));
        return sql.run('DELETE FROM instances WHERE viewer = ?', viewerKey(viewerId));
      }),
    putReferences: async (references, expiresAtMs) => db.write((sql) => writeReferences(sql, references, expiresAtMs)),
  };
}
/** Removes at most `limit` expired rows of each kind; true when there may be more. */
export function deleteExpiredFeeds(sql: Sql, nowMs: number, limit: number): boolean {
  const instances = 'DELETE FROM instances WHERE rowid IN (SELECT rowid FROM instances WHERE expires_at <= ? LIMIT ?)';
  const aliases = 'DELETE FROM aliases WHERE viewer IN (SELECT viewer FROM aliases WHERE expires_at <= ? LIMIT ?)';
  const full = [instances, aliases].map((text) => sql.run(text, nowMs, limit) === limit);
  return deleteExpiredReferences(sql, nowMs, limit) || full.includes(true);
}

/** JSON, because SQLite's text would make one of all ids that differ in lone surrogates. */
function viewerKey(viewerId: string): string {
  return JSON.stringify(viewerId);
}

function findAlias(sql: Sql, viewer: string, nowMs: number): string | undefined {
  const text = 'SELECT feed_id FROM aliases WHERE viewer = ? AND expires_at > ?';
  return sql.get<{ feed_id: string }>(text, viewer, nowMs)?.feed_id;
}

function findInstance(sql: Sql, viewer: string, feedId: string, nowMs: number): LiveHeader | undefined {
  const text = `SELECT ${HEADER} FROM instances WHERE viewer = ? AND feed_id = ? AND expires_at > ? AND ${IS_READABLE}`;
  return header(sql.get<InstanceRow>(text, viewer, feedId, nowMs));
}

function findSuccessor(sql: Sql, viewer: string, of: SuccessorKey, nowMs: number): LiveHeader | undefined {
  const text = `SELECT ${HEADER} FROM instances
    WHERE viewer = ? AND of_feed = ? AND of_offset = ? AND expires_at > ? AND ${IS_READABLE}`;
  return header(sql.get<InstanceRow>(text, viewer, of.feedId, of.offset, nowMs));
}

function header(row: InstanceRow | undefined): LiveHeader | undefined {
  return row && { feedId: row.feed_id, generatedAtMs: row.generated_at, size: row.size, expiresAtMs: row.expires_at };
}

function withoutExpiry(live: LiveHeader | undefined): InstanceHeader | undefined {
  if (!live) return undefined;
  const { expiresAtMs: _, ...rest } = live;
  return rest;
}

function renew(
  sql: Sql,
  { viewerId, feedId }: InstancePlace,
  { nowMs, ttlMs, hashes }: Parameters<FeedRecords['renew']>[1],
): void {
  const row = sql.get<{ references_until: number }>(
    `UPDATE instances SET expires_at = max(expires_at, ?1 + ?2), read_at = max(read_at, ?1)
       WHERE viewer = ?3 AND feed_id = ?4 AND expires_at > ?1 RETURNING references_until`,
    nowMs,
    ttlMs,
    viewerKey(viewerId),
    feedId,
  );
  if (!row || row.references_until >= nowMs + ttlMs) return;
  // A life more than needed, so that a scroll pays for this once a life.
  const until = nowMs + 2 * ttlMs;
  lengthenReferences(sql, hashes, until);
  const text = 'UPDATE instances SET references_until = ? WHERE viewer = ? AND feed_id = ?';
  sql.run(text, until, viewerKey(viewerId), feedId);
}

type CurrentPublication = Parameters<FeedRecords['publish']>[0];

function publishCurrent(sql: Sql, publication: CurrentPublication): InstanceHeader {
  const { viewerId, header: made, nowMs, replaces, aliasTtlMs } = publication;
  const viewer = viewerKey(viewerId);
  const alias = findAlias(sql, viewer, nowMs);
  const winner = alias === undefined ? undefined : findInstance(sql, viewer, alias, nowMs);
  if (alias !== replaces && winner) return withoutExpiry(winner) ?? made;
  const point = `INSERT INTO aliases (viewer, feed_id, expires_at) VALUES (?, ?, ?)
    ON CONFLICT (viewer) DO UPDATE SET feed_id = excluded.feed_id, expires_at = excluded.expires_at`;
  sql.run(point, viewer, made.feedId, nowMs + aliasTtlMs);
  return makeLive(sql, publication);
}

type SuccessorPublication = Parameters<FeedRecords['publishSuccessor']>[0];

function publishSuccessor(sql: Sql, publication: SuccessorPublication): InstanceHeader {
  const { viewerId, of, nowMs } = publication;
  return withoutExpiry(findSuccessor(sql, viewerKey(viewerId), of, nowMs)) ?? makeLive(sql, publication);
}

/** Writes the instance and takes the viewer back to `keep`. A publication that is sent twice changes nothing. */
function makeLive(sql: Sql, publication: EncodedPublication & { of?: SuccessorKey }): InstanceHeader {
  const { viewerId, header: made, bytes, nowMs, ttlMs, of } = publication;
  const { feedId, generatedAtMs, size } = made;
  const viewer = viewerKey(viewerId);
  sql.run('DELETE FROM instances WHERE viewer = ? AND expires_at <= ?', viewer, nowMs);
  // Of a version that this release cannot read: the next makes room, as it is gone for whoever asks here.
  if (of) {
    const unreadable = `DELETE FROM instances WHERE viewer = ? AND of_feed = ? AND of_offset = ? AND NOT ${IS_READABLE}`;
    sql.run(unreadable, viewer, of.feedId, of.offset);
  }
  sql.run(
    `INSERT INTO instances
       (viewer, feed_id, generated_at, size, expires_at, read_at, references_until, of_feed, of_offset, body)
       VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, ?) ON CONFLICT DO NOTHING`,
    viewer,
    feedId,
    generatedAtMs,
    size,
    nowMs + ttlMs,
    nowMs,
    of?.feedId,
    of?.offset,
    bytes,
  );
  evict(sql, viewer, publication);
  return withoutExpiry(findInstance(sql, viewer, feedId, nowMs)) ?? made;
}

/** The one read longest ago goes first; never the current one, nor the one just made. */
function evict(sql: Sql, viewer: string, { header: made, nowMs, keep }: EncodedPublication): void {
  const live = sql.all<{ feed_id: string }>(
    'SELECT feed_id FROM instances WHERE viewer = ? ORDER BY read_at, generated_at, feed_id',
    viewer,
  );
  const stays = new Set([made.feedId, findAlias(sql, viewer, nowMs)]);
  const leaving = live.filter(({ feed_id }) => !stays.has(feed_id)).slice(0, Math.max(0, live.length - keep));
  for (const { feed_id } of leaving) {
    sql.run('DELETE FROM instances WHERE viewer = ? AND feed_id = ?', viewer, feed_id);
  }
}
