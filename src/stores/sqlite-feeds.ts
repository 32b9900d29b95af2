import { StoreUnavailableError } from '../errors.ts';
import type { FeedStore, InstanceCut, InstanceHeader, Publication, SuccessorKey } from './feed-store.ts';
import { decodeInstance, encodeInstance, hashesIn } from './instance-codec.ts';
import type { Sql, SqliteDatabase } from './sqlite-database.ts';
import { deleteExpiredReferences, findReference, lengthenReferences, writeReferences } from './sqlite-references.ts';

interface InstanceRow {
  readonly feed_id: string;
  readonly generated_at: number;
  readonly size: number;
}

const HEADER = 'feed_id, generated_at, size';

/** Feed instances as rows; an expired one is as good as none, and is removed in time. */
export function sqliteFeeds(db: SqliteDatabase): FeedStore {
  return {
    async current(viewerId, nowMs, first) {
      const found = db.read((sql) => {
        const viewer = viewerKey(viewerId);
        const alias = findAlias(sql, viewer, nowMs);
        const instance = alias === undefined ? undefined : findInstance(sql, viewer, alias, nowMs);
        return { ...(alias !== undefined && { alias }), ...(instance && { instance }) };
      });
      const { instance } = found;
      if (!instance || !first) return found;
      const query = { viewerId, feedId: instance.feedId, offset: 0, nowMs, ...first };
      const cut = db.write((sql) => cutInstance(sql, query));
      return { ...found, ...(cut && { cut }) };
    },
    newest: async (viewerId, nowMs) =>
      db.read((sql) => {
        const newest = `SELECT ${HEADER} FROM instances WHERE viewer = ? AND expires_at > ?
          ORDER BY generated_at DESC, feed_id DESC LIMIT 1`;
        return header(sql.get<InstanceRow>(newest, viewerKey(viewerId), nowMs));
      }),
    cut: async (query) => db.write((sql) => cutInstance(sql, query)),
    publish: async (publication) => db.write((sql) => publishCurrent(sql, publication)),
    publishSuccessor: async (publication) => db.write((sql) => publishSuccessor(sql, publication)),
    successor: async (viewerId, of, nowMs) => db.read((sql) => findSuccessor(sql, viewerKey(viewerId), of, nowMs)),
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

function findInstance(sql: Sql, viewer: string, feedId: string, nowMs: number): InstanceHeader | undefined {
  const text = `SELECT ${HEADER} FROM instances WHERE viewer = ? AND feed_id = ? AND expires_at > ?`;
  return header(sql.get<InstanceRow>(text, viewer, feedId, nowMs));
}

function findSuccessor(sql: Sql, viewer: string, of: SuccessorKey, nowMs: number): InstanceHeader | undefined {
  const text = `SELECT ${HEADER} FROM instances WHERE viewer = ? AND of_feed = ? AND of_offset = ? AND expires_at > ?`;
  return header(sql.get<InstanceRow>(text, viewer, of.feedId, of.offset, nowMs));
}

function header(row: InstanceRow | undefined): InstanceHeader | undefined {
  return row && { feedId: row.feed_id, generatedAtMs: row.generated_at, size: row.size };
}

type Cut = Parameters<FeedStore['cut']>[0];

function cutInstance(sql: Sql, query: Cut): InstanceCut | undefined {
  const { viewerId, feedId, offset, count, hashesFrom = offset, nowMs, ttlMs } = query;
  const row = sql.get<InstanceRow & { body: Uint8Array; references_until: number }>(
    `UPDATE instances SET expires_at = max(expires_at, ?1 + ?2), read_at = max(read_at, ?1)
       WHERE viewer = ?3 AND feed_id = ?4 AND expires_at > ?1
       RETURNING ${HEADER}, body, references_until`,
    nowMs,
    ttlMs,
    viewerKey(viewerId),
    feedId,
  );
  const found = header(row);
  if (!row || !found) return undefined;
  if (row.references_until < nowMs + ttlMs) keepReferences(sql, { viewerId, feedId, body: row.body, nowMs, ttlMs });
  const items = decoded(row.body, offset, count).map((item) => {
    const postId = findReference(sql, item.hash);
    return postId === undefined ? item : { ...item, postId };
  });
  const upTo = Math.min(offset, found.size);
  return { ...found, earlierHashes: hashesIn(row.body, Math.min(hashesFrom, upTo), upTo), items };
}

/** A life more than needed, so that a scroll pays for this once a life and not on every page. */
function keepReferences(
  sql: Sql,
  of: { viewerId: string; feedId: string; body: Uint8Array; nowMs: number; ttlMs: number },
): void {
  const until = of.nowMs + 2 * of.ttlMs;
  const hashes = decoded(of.body).map((item) => item.hash);
  lengthenReferences(sql, hashes, until);
  const text = 'UPDATE instances SET references_until = ? WHERE viewer = ? AND feed_id = ?';
  sql.run(text, until, viewerKey(of.viewerId), of.feedId);
}

function decoded(body: Uint8Array, offset?: number, count?: number) {
  try {
    return decodeInstance(body, offset, count).items;
  } catch (cause) {
    throw new StoreUnavailableError('the store holds an instance that cannot be read', { cause });
  }
}

type CurrentPublication = Parameters<FeedStore['publish']>[0];

function publishCurrent(sql: Sql, publication: CurrentPublication): InstanceHeader {
  const { viewerId, instance, nowMs, replaces, aliasTtlMs } = publication;
  const viewer = viewerKey(viewerId);
  const alias = findAlias(sql, viewer, nowMs);
  const winner = alias === undefined ? undefined : findInstance(sql, viewer, alias, nowMs);
  if (alias !== replaces && winner) return winner;
  const point = `INSERT INTO aliases (viewer, feed_id, expires_at) VALUES (?, ?, ?)
    ON CONFLICT (viewer) DO UPDATE SET feed_id = excluded.feed_id, expires_at = excluded.expires_at`;
  sql.run(point, viewer, instance.feedId, nowMs + aliasTtlMs);
  return makeLive(sql, publication);
}

type SuccessorPublication = Parameters<FeedStore['publishSuccessor']>[0];

function publishSuccessor(sql: Sql, publication: SuccessorPublication): InstanceHeader {
  const { viewerId, of, nowMs } = publication;
  return findSuccessor(sql, viewerKey(viewerId), of, nowMs) ?? makeLive(sql, publication);
}

/** Writes the instance and takes the viewer back to `keep`. A publication that is sent twice changes nothing. */
function makeLive(sql: Sql, publication: Publication & { of?: SuccessorKey }): InstanceHeader {
  const { viewerId, instance, nowMs, ttlMs, of } = publication;
  const { feedId, generatedAtMs, items } = instance;
  const viewer = viewerKey(viewerId);
  const body = encodeInstance(instance);
  sql.run('DELETE FROM instances WHERE viewer = ? AND expires_at <= ?', viewer, nowMs);
  sql.run(
    `INSERT INTO instances
       (viewer, feed_id, generated_at, size, expires_at, read_at, references_until, of_feed, of_offset, body)
       VALUES (?, ?, ?, ?, ?, ?, 0, ?, ?, ?) ON CONFLICT DO NOTHING`,
    viewer,
    feedId,
    generatedAtMs,
    items.length,
    nowMs + ttlMs,
    nowMs,
    of?.feedId,
    of?.offset,
    body,
  );
  keepReferences(sql, { viewerId, feedId, body, nowMs, ttlMs });
  evict(sql, viewer, publication);
  return findInstance(sql, viewer, feedId, nowMs) ?? { feedId, generatedAtMs, size: items.length };
}

/** The one read longest ago goes first; never the current one, nor the one just made. */
function evict(sql: Sql, viewer: string, { instance, nowMs, keep }: Publication): void {
  const live = sql.all<{ feed_id: string }>(
    'SELECT feed_id FROM instances WHERE viewer = ? ORDER BY read_at, generated_at, feed_id',
    viewer,
  );
  const stays = new Set([instance.feedId, findAlias(sql, viewer, nowMs)]);
  const leaving = live.filter(({ feed_id }) => !stays.has(feed_id)).slice(0, Math.max(0, live.length - keep));
  for (const { feed_id } of leaving) {
    sql.run('DELETE FROM instances WHERE viewer = ? AND feed_id = ?', viewer, feed_id);
  }
}
