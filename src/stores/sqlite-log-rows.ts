import { formatPosition, parsePosition } from '../ids/position.ts';
import type { PostId } from '../post.ts';
import { type Sql, storedJson } from './sqlite-database.ts';
import type { KnownEntry, LogRecord, LogState, Position } from './timeline-store.ts';

/** A row of `logs`. */
export interface LogRow {
  readonly log: number;
  readonly log_id: string;
  readonly version: number;
  readonly head_ms: number | null;
  readonly head_n: number | null;
  readonly trimmed_ms: number | null;
  readonly trimmed_n: number | null;
  readonly watermark_id: string | null;
  readonly watermark_key: string | null;
  readonly floor_key: string | null;
  readonly entries: number;
  readonly known: number;
  /** Of the bodies that the log shows. */
  readonly bytes: number;
  readonly state: string;
  /** 1: nothing but the version and the positions is left of it, until it is used again. */
  readonly dropped: number;
}

/** What `logs.state` holds: all that is only ever read and written as a whole. */
export type LogExtras = Pick<LogState, 'gaps' | 'counts' | 'lateness' | 'memory'>;

/** The columns of `records` that readRecord wants. */
export const RECORD_COLUMNS = 'ms, n, kind, post_id, uri, sort_at, arrived_at, late, removed_ms, removed_n';

/** A row of `records`. */
export interface RecordRow {
  readonly ms: number;
  readonly n: number;
  readonly kind: LogRecord['kind'];
  readonly post_id: PostId;
  readonly uri: string;
  readonly sort_at: number;
  readonly arrived_at: number;
  readonly late: number;
  readonly removed_ms: number | null;
  readonly removed_n: number | null;
}

const NO_COUNTS: LogState['counts'] = {
  posts: 0,
  requests: 0,
  duplicatesDropped: 0,
  leaksPrevented: 0,
  backfilled: 0,
  gaps: 0,
};

export function findLog(sql: Sql, logId: string): LogRow | undefined {
  return sql.get<LogRow>('SELECT * FROM logs WHERE log_id = ?', logId);
}

/** The row of a log that is used, made when it has none. */
export function findOrMakeLog(sql: Sql, logId: string): LogRow {
  sql.run('INSERT INTO logs (log_id) VALUES (?) ON CONFLICT DO UPDATE SET dropped = 0 WHERE dropped = 1', logId);
  const row = findLog(sql, logId);
  if (!row) throw new Error(`log ${logId} has no row`);
  return row;
}

export function logExtras(row: LogRow | undefined): LogExtras {
  const { gaps = [], counts = NO_COUNTS, lateness, memory } = storedJson<Partial<LogExtras>>(row?.state ?? '{}');
  return { gaps, counts, ...(lateness && { lateness }), ...(memory && { memory }) };
}

/** The state that the port shows; without a row, that of a log which was never committed. */
export function logState(row: LogRow | undefined): LogState {
  const head = position(row?.head_ms, row?.head_n);
  const trimmedTo = position(row?.trimmed_ms, row?.trimmed_n);
  const watermark =
    row && row.watermark_id !== null && row.watermark_key !== null
      ? { upstreamId: row.watermark_id, orderKey: row.watermark_key }
      : undefined;
  const floorKey = row?.floor_key ?? undefined;
  return {
    version: row?.version ?? 0,
    ...(head !== undefined && { head }),
    ...(trimmedTo !== undefined && { trimmedTo }),
    ...(watermark && { watermark }),
    ...(floorKey !== undefined && { floorKey }),
    ...logExtras(row),
  };
}

export function readRecord(logId: string, row: RecordRow): LogRecord {
  const removedAt = position(row.removed_ms, row.removed_n);
  return {
    logId,
    position: formatPosition(row.ms, row.n),
    kind: row.kind,
    postId: row.post_id,
    uri: row.uri,
    sortAtMs: row.sort_at,
    arrivedAtMs: row.arrived_at,
    late: row.late === 1,
    ...(removedAt !== undefined && { removedAt }),
  };
}

/** The known-index's row of a post. */
export function findKnown(sql: Sql, log: number, postId: PostId): KnownEntry | undefined {
  const row = sql.get<Omit<KnownEntry, 'removedAtMs'> & { removed: number }>(
    `SELECT upstream_id AS upstreamId, order_key AS orderKey, revision,
       sort_at AS sortAtMs, arrived_at AS arrivedAtMs, removed FROM known WHERE log = ? AND post_id = ?`,
    log,
    postId,
  );
  if (!row) return undefined;
  const { removed, ...entry } = row;
  return removed === 0 ? entry : { ...entry, removedAtMs: removed };
}

/** Moves the head, if that is forward. */
export function raiseHead(sql: Sql, log: LogRow, to: Position): void {
  const { ms, n } = parsePosition(to);
  if (log.head_ms !== null && !isAfter({ ms, n }, { ms: log.head_ms, n: log.head_n ?? 0 })) return;
  sql.run('UPDATE logs SET head_ms = ?, head_n = ? WHERE log = ?', ms, n, log.log);
}

function isAfter(a: { ms: number; n: number }, b: { ms: number; n: number }): boolean {
  return a.ms === b.ms ? a.n > b.n : a.ms > b.ms;
}

function position(ms: number | null | undefined, n: number | null | undefined): Position | undefined {
  return ms === null || ms === undefined ? undefined : formatPosition(ms, n ?? 0);
}
