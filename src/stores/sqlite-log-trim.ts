import type { PostId } from '../post.ts';
import type { Sql } from './sqlite-database.ts';
import { findLog, type LogRow } from './sqlite-log-rows.ts';
import { deleteUnnamed, unshow } from './sqlite-posts.ts';
import type { TimelineStore } from './timeline-store.ts';

/** With `losesBodies`, what no log shows then goes at once. */
type Trim = Parameters<TimelineStore['trim']>[0] & { readonly losesBodies?: boolean };

/** How many rows of a kind one step drops: some ten milliseconds of work. */
const STEP_ROWS = 250;

/** Showings that are looked at in one step: some milliseconds. */
const STEP_SHOWINGS = 2_000;

/** Where a trim of several steps stands. */
export interface TrimProgress {
  /** The showings through posts up to this one were looked at; undefined: all of them. */
  lookedUpTo: PostId | undefined;
}

/** Before the first step. */
export function startTrim(): TrimProgress {
  return { lookedUpTo: '' };
}

/**
 * One step of a trim inside the transaction that surrounds it: all that a trim with looser bounds would do.
 * True when there is more to drop.
 */
export function trimLog(sql: Sql, trim: Trim, progress: TrimProgress): boolean {
  const log = findLog(sql, trim.logId);
  if (!log) return false;
  const { keepBytes = Number.POSITIVE_INFINITY } = trim;
  // Above the bound, what no record names goes first.
  const isLooking = log.bytes > keepBytes && progress.lookedUpTo !== undefined;
  if (isLooking) progress.lookedUpTo = dropUnnamedShowings(sql, log, progress.lookedUpTo ?? '');
  const full = [
    isLooking,
    dropStaleShowings(sql, log, trim),
    dropRecords(sql, log, { ...trim, keepBytes: isLooking ? Number.POSITIVE_INFINITY : keepBytes }),
    dropKnown(sql, log, trim.keepKnown),
  ];
  return full.includes(true);
}

const BYTES_SHOWN_THROUGH_IT =
  '(SELECT coalesce(sum(bytes), 0) FROM shown INDEXED BY shown_by_via WHERE log = ?1 AND via = records.post_id)';

interface OldRow {
  readonly ms: number;
  readonly n: number;
  readonly kind: string;
  readonly post_id: PostId;
  readonly arrived_at: number;
  readonly bytes: number;
}

function dropRecords(sql: Sql, log: LogRow, trim: Trim & { keepBytes: number }): boolean {
  const oldest = `SELECT ms, n, kind, post_id, arrived_at, ${BYTES_SHOWN_THROUGH_IT} AS bytes
    FROM records WHERE log = ?1 ORDER BY ms, n LIMIT ?2`;
  const excess = { entries: log.entries - trim.keepEntries, bytes: bytesOf(sql, log) - trim.keepBytes };
  const dropped = leaving(sql.all<OldRow>(oldest, log.log, STEP_ROWS), excess, trim.beforeMs);
  const last = dropped.at(-1);
  if (!last) return false;
  sql.run('DELETE FROM records WHERE log = ? AND (ms, n) <= (?, ?)', log.log, last.ms, last.n);
  const entries = dropped.filter((record) => record.kind === 'entry').length;
  const tail = 'UPDATE logs SET trimmed_ms = ?, trimmed_n = ?, entries = entries - ? WHERE log = ?';
  sql.run(tail, last.ms, last.n, entries, log.log);
  for (const postId of new Set(dropped.map((record) => record.post_id))) {
    if (!hasRecord(sql, log.log, postId)) endShowing(sql, log, postId, trim);
  }
  // The body of a post that was edited is there until its edit goes, too.
  return dropped.length === STEP_ROWS || bytesOf(sql, log) > trim.keepBytes;
}

function bytesOf(sql: Sql, { log }: LogRow): number {
  return sql.get<{ bytes: number }>('SELECT bytes FROM logs WHERE log = ?', log)?.bytes ?? 0;
}

/** What goes is always the log's oldest part, so that `trimmedTo` tells all of it: up to the first that all bounds keep. */
function leaving(
  oldest: readonly OldRow[],
  excess: { entries: number; bytes: number },
  beforeMs: number,
): readonly OldRow[] {
  let { entries, bytes } = excess;
  let isYoung = false;
  let isWithin = entries <= 0;
  const going = new Set<PostId>();
  const end = oldest.findIndex(({ kind, post_id, arrived_at, bytes: own }) => {
    isYoung ||= arrived_at >= beforeMs;
    if (kind === 'entry') isWithin ||= entries-- <= 0;
    if (isYoung && isWithin && bytes <= 0) return true;
    if (!going.has(post_id)) bytes -= own;
    going.add(post_id);
    return false;
  });
  return end < 0 ? oldest : oldest.slice(0, end);
}

/** Posts whose records went before, and which a later poll read once more. */
function dropStaleShowings(sql: Sql, log: LogRow, trim: Trim): boolean {
  const stale = `SELECT via FROM shown WHERE log = ?1 AND shown_at < ?2 AND NOT EXISTS (
    SELECT 1 FROM records INDEXED BY records_by_post WHERE log = ?1 AND post_id = via AND kind <> 'remove'
  ) LIMIT ?3`;
  const rows = sql.all<{ via: PostId }>(stale, log.log, trim.beforeMs, STEP_ROWS);
  for (const via of new Set(rows.map((row) => row.via))) endShowing(sql, log, via, trim);
  return rows.length === STEP_ROWS;
}

function endShowing(sql: Sql, { log }: LogRow, via: PostId, { losesBodies }: Trim): void {
  const unshown = unshow(sql, log, via);
  if (losesBodies) deleteUnnamed(sql, unshown);
}

/** Of the posts after this one those that no record names, however young. Returns the last that was looked at, where more follow. */
function dropUnnamedShowings(sql: Sql, log: LogRow, after: PostId): PostId | undefined {
  const next = 'SELECT DISTINCT via FROM shown INDEXED BY shown_by_via WHERE log = ? AND via > ? ORDER BY via LIMIT ?';
  const rows = sql.all<{ via: PostId }>(next, log.log, after, STEP_SHOWINGS);
  for (const { via } of rows) if (!hasRecord(sql, log.log, via)) unshow(sql, log.log, via);
  return rows.length === STEP_SHOWINGS ? rows.at(-1)?.via : undefined;
}

function hasRecord(sql: Sql, log: number, postId: PostId): boolean {
  const shows = `SELECT 1 FROM records INDEXED BY records_by_post
    WHERE log = ? AND post_id = ? AND kind <> 'remove' LIMIT 1`;
  return sql.get(shows, log, postId) !== undefined;
}

/** A new version, so that a poll which looked before does not append what has just left the index. */
function dropKnown(sql: Sql, log: LogRow, keepKnown: number): boolean {
  const excess = Math.min(log.known - keepKnown, STEP_ROWS);
  if (excess <= 0) return false;
  const lowest = 'SELECT post_id, order_key FROM known WHERE log = ? ORDER BY order_key, post_id LIMIT ?';
  const leaving = sql.all<{ post_id: PostId; order_key: string }>(lowest, log.log, excess);
  for (const { post_id } of leaving) sql.run('DELETE FROM known WHERE log = ? AND post_id = ?', log.log, post_id);
  sql.run(
    `UPDATE logs SET version = version + 1, known = known - ?1, floor_key = max(coalesce(floor_key, ?2), ?2)
       WHERE log = ?3`,
    leaving.length,
    leaving.at(-1)?.order_key,
    log.log,
  );
  return leaving.length === STEP_ROWS;
}
