import { setImmediate as nextTurn } from 'node:timers/promises';
import { parsePosition } from '../ids/position.ts';
import type { PostId } from '../post.ts';
import { type RepairState, readRepairState } from './repair-state.ts';
import { type Sql, type SqliteDatabase, storedJson } from './sqlite-database.ts';
import { commitLog } from './sqlite-log-commit.ts';
import { sqliteLogRegistry } from './sqlite-log-registry.ts';
import {
  findKnown,
  findLog,
  findOrMakeLog,
  logState,
  RECORD_COLUMNS,
  type RecordRow,
  raiseHead,
  readRecord,
} from './sqlite-log-rows.ts';
import { startTrim, trimLog } from './sqlite-log-trim.ts';
import {
  COPIES_PER_URI,
  type KnownEntry,
  type KnownPost,
  type LogRecord,
  type SourceStatus,
  type TimelineStore,
} from './timeline-store.ts';

/** Logs as rows of one table, each found by an index; positions are two columns, so that they compare as numbers. */
export function sqliteTimelines(db: SqliteDatabase): TimelineStore {
  return {
    ...sqliteLogRegistry(db),
    readLog: async (logId) => logState(db.read((sql) => findLog(sql, logId))),
    commit: async (commit) => db.writeDurably((sql) => commitLog(sql, commit)),
    known: async (logId, postIds) => db.read((sql) => readKnown(sql, logId, postIds)),
    anchor: async (logId, upTo) => db.read((sql) => readKnownBetween(sql, { logId, upTo, limit: 1 })[0]),
    knownBetween: async (query) => db.read((sql) => readKnownBetween(sql, query)),
    readRepair: async (logId) => db.read((sql) => readRepair(sql, logId)),
    recordsAfter: async (query) => db.read((sql) => readRecordsAfter(sql, query)),
    entriesBefore: async (query) => db.read((sql) => readEntriesBefore(sql, query)),
    entriesByUri: async (logId, uris) => db.read((sql) => readEntriesByUri(sql, logId, uris)),
    liftHead: async (logId, position) => db.writeDurably((sql) => raiseHead(sql, findOrMakeLog(sql, logId), position)),
    trim: async (query) => {
      // In steps, between which others have their turn: each leaves what a trim with looser bounds would.
      const progress = startTrim();
      while (db.write((sql) => trimLog(sql, query, progress))) await nextTurn();
    },
    writeStatus: async (logId, status) => {
      const text = 'INSERT INTO statuses (log_id, body) VALUES (?, ?) ON CONFLICT DO UPDATE SET body = excluded.body';
      db.write((sql) => {
        findOrMakeLog(sql, logId);
        sql.run(text, logId, JSON.stringify(status));
      });
    },
    readStatus: async (logId) => {
      const row = db.read((sql) => sql.get<{ body: string }>('SELECT body FROM statuses WHERE log_id = ?', logId));
      return row && storedJson<SourceStatus>(row.body);
    },
  };
}

function readKnown(sql: Sql, logId: string, postIds: readonly PostId[]): ReadonlyMap<PostId, KnownEntry> {
  const known = new Map<PostId, KnownEntry>();
  const log = findLog(sql, logId);
  if (!log) return known;
  for (const postId of postIds) {
    const entry = findKnown(sql, log.log, postId);
    if (entry) known.set(postId, entry);
  }
  return known;
}

type Between = Parameters<TimelineStore['knownBetween']>[0];

function readKnownBetween(sql: Sql, { logId, above = '', upTo, limit }: Between): readonly KnownPost[] {
  const bound = upTo === undefined ? '' : 'AND order_key <= ?';
  const rows = sql.all<KnownPost>(
    `SELECT post_id AS postId, upstream_id AS upstreamId, order_key AS orderKey FROM known INDEXED BY known_by_order
       WHERE log = (SELECT log FROM logs WHERE log_id = ?) AND removed = 0 AND order_key > ? ${bound}
       ORDER BY order_key DESC, post_id DESC LIMIT ?`,
    ...[logId, above, ...(upTo === undefined ? [] : [upTo]), Math.max(0, limit)],
  );
  return rows.map((row) => ({ ...row }));
}

function readRepair(sql: Sql, logId: string): RepairState | undefined {
  const text = 'SELECT body FROM sweeps WHERE log = (SELECT log FROM logs WHERE log_id = ?)';
  const row = sql.get<{ body: string }>(text, logId);
  return row && readRepairState(storedJson(row.body));
}

type After = Parameters<TimelineStore['recordsAfter']>[0];

function readRecordsAfter(sql: Sql, { logId, after, limit }: After): readonly LogRecord[] {
  const { ms, n } = after === undefined ? { ms: -1, n: 0 } : parsePosition(after);
  return records(
    sql,
    logId,
    `SELECT ${RECORD_COLUMNS} FROM records WHERE log = (SELECT log FROM logs WHERE log_id = ?) AND (ms, n) > (?, ?)
       ORDER BY ms, n LIMIT ?`,
    [ms, n, Math.max(0, limit)],
  );
}

type Before = Parameters<TimelineStore['entriesBefore']>[0];

function readEntriesBefore(sql: Sql, { logId, upTo, before, limit }: Before): readonly LogRecord[] {
  const { ms, n } = parsePosition(upTo);
  const below = before ? 'AND (sort_at, post_id) < (?, ?)' : '';
  return records(
    sql,
    logId,
    `SELECT ${RECORD_COLUMNS} FROM records INDEXED BY entries_by_time
       WHERE log = (SELECT log FROM logs WHERE log_id = ?) AND kind = 'entry' AND removed_ms IS NULL AND (ms, n) <= (?, ?) ${below}
       ORDER BY sort_at DESC, post_id DESC LIMIT ?`,
    [ms, n, ...(before ? [before.sortAtMs, before.postId] : []), Math.max(0, limit)],
  );
}

function readEntriesByUri(sql: Sql, logId: string, uris: readonly string[]): readonly LogRecord[] {
  const log = findLog(sql, logId);
  if (!log) return [];
  const of = (order: string) =>
    `SELECT ${RECORD_COLUMNS} FROM records INDEXED BY entries_by_uri WHERE log = ? AND kind = 'entry' AND uri = ? ${order}`;
  const newest = of(`ORDER BY ms DESC, n DESC LIMIT ${COPIES_PER_URI}`);
  const rows = [...new Set(uris)].flatMap((uri) => {
    const found = sql.all<RecordRow>(newest, log.log, uri);
    if (found.length < COPIES_PER_URI) return found;
    return [...found.slice(0, -1), ...sql.all<RecordRow>(of('ORDER BY ms, n LIMIT 1'), log.log, uri)];
  });
  return rows.sort((a, b) => a.ms - b.ms || a.n - b.n).map((row) => readRecord(logId, row));
}

function records(sql: Sql, logId: string, text: string, values: (string | number)[]): readonly LogRecord[] {
  return sql.all<RecordRow>(text, logId, ...values).map((row) => readRecord(logId, row));
}
