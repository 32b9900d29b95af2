import type { PostId } from '../post.ts';
import type { Sql } from './sqlite-database.ts';
import { findLog, type LogRow } from './sqlite-log-rows.ts';
import { unshow } from './sqlite-posts.ts';
import type { TimelineStore } from './timeline-store.ts';

type Trim = Parameters<TimelineStore['trim']>[0];

interface Place {
  readonly ms: number;
  readonly n: number;
}

/** One trim inside the transaction that surrounds it. */
export function trimLog(sql: Sql, trim: Trim): void {
  const log = findLog(sql, trim.logId);
  if (!log) return;
  dropRecords(sql, log, trim);
  dropStaleShowings(sql, log, trim.beforeMs);
  dropKnown(sql, log, trim.keepKnown);
}

function dropRecords(sql: Sql, log: LogRow, { beforeMs, keepEntries }: Trim): void {
  const end = dropEnd(sql, log, beforeMs, keepEntries);
  const dropped = sql.all<Place & { kind: string; post_id: PostId }>(
    'SELECT ms, n, kind, post_id FROM records WHERE log = ? AND (ms, n) < (?, ?) ORDER BY ms, n',
    log.log,
    end.ms,
    end.n,
  );
  const last = dropped.at(-1);
  if (!last) return;
  sql.run('DELETE FROM records WHERE log = ? AND (ms, n) < (?, ?)', log.log, end.ms, end.n);
  const entries = dropped.filter((record) => record.kind === 'entry').length;
  const tail = 'UPDATE logs SET trimmed_ms = ?, trimmed_n = ?, entries = entries - ? WHERE log = ?';
  sql.run(tail, last.ms, last.n, entries, log.log);
  for (const postId of new Set(dropped.map((record) => record.post_id))) {
    if (!hasRecord(sql, log.log, postId)) unshow(sql, log.log, postId);
  }
}

/** The first place that stays: what goes is always the log's oldest part, so that `trimmedTo` tells all of it. */
function dropEnd(sql: Sql, log: LogRow, beforeMs: number, keepEntries: number): Place {
  const nothing = { ms: Number.MAX_SAFE_INTEGER, n: 0 };
  const young = 'SELECT ms, n FROM records WHERE log = ? AND arrived_at >= ? ORDER BY ms, n LIMIT 1';
  const byTime = sql.get<Place>(young, log.log, beforeMs) ?? nothing;
  if (log.entries <= keepEntries) return byTime;
  const kept = `SELECT ms, n FROM records WHERE log = ? AND kind = 'entry' ORDER BY ms, n LIMIT 1 OFFSET ?`;
  const byCount = sql.get<Place>(kept, log.log, log.entries - keepEntries) ?? nothing;
  return byTime.ms > byCount.ms || (byTime.ms === byCount.ms && byTime.n > byCount.n) ? byTime : byCount;
}

/** Posts whose records went before, and which a later poll read once more. */
function dropStaleShowings(sql: Sql, log: LogRow, beforeMs: number): void {
  const stale = 'SELECT DISTINCT via FROM shown WHERE log = ? AND shown_at < ?';
  for (const { via } of sql.all<{ via: PostId }>(stale, log.log, beforeMs)) {
    if (!hasRecord(sql, log.log, via)) unshow(sql, log.log, via);
  }
}

function hasRecord(sql: Sql, log: number, postId: PostId): boolean {
  const shows = `SELECT 1 FROM records INDEXED BY records_by_post
    WHERE log = ? AND post_id = ? AND kind <> 'remove' LIMIT 1`;
  return sql.get(shows, log, postId) !== undefined;
}

/** A new version, so that a poll which looked before does not append what has just left the index. */
function dropKnown(sql: Sql, log: LogRow, keepKnown: number): void {
  const excess = log.known - keepKnown;
  if (excess <= 0) return;
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
}
