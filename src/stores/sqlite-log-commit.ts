import type { PostId } from '../post.ts';
import type { Sql } from './sqlite-database.ts';
import { findKnown, findLog, findOrMakeLog, type LogRow, logExtras, logState } from './sqlite-log-rows.ts';
import { deleteBody, unshow, writePosts } from './sqlite-posts.ts';
import type { CommitResult, LogCommit, LogCounts, NewRecord } from './timeline-store.ts';

interface Head {
  readonly ms: number;
  readonly n: number;
}

/** One commit inside the transaction that surrounds it. Throws Error on a record that does not fit what is known. */
export function commitLog(sql: Sql, commit: LogCommit): CommitResult {
  if ((findLog(sql, commit.logId)?.version ?? 0) !== commit.expectedVersion) return { committed: false };
  const log = findOrMakeLog(sql, commit.logId);

  let head: Head | undefined = log.head_ms === null ? undefined : { ms: log.head_ms, n: log.head_n ?? 0 };
  for (const record of commit.append) {
    head = after(head, commit.nowMs);
    appendRecord(sql, log, head, record);
  }
  const place = 'UPDATE known SET order_key = ? WHERE log = ? AND post_id = ? AND removed = 0';
  for (const { postId, orderKey } of commit.places ?? []) sql.run(place, orderKey, log.log, postId);
  writePosts(sql, commit.posts, { log: log.log, atMs: commit.nowMs });
  writeState(sql, log, head, commit);
  if (commit.repair) {
    const text = 'INSERT INTO sweeps (log, body) VALUES (?, ?) ON CONFLICT DO UPDATE SET body = excluded.body';
    sql.run(text, log.log, JSON.stringify(commit.repair));
  }
  return { committed: true, state: logState(findOrMakeLog(sql, commit.logId)) };
}

/** max(last + 1, now): never at or before the head, whatever the clock does. */
function after(head: Head | undefined, nowMs: number): Head {
  return !head || nowMs > head.ms ? { ms: nowMs, n: 0 } : { ms: head.ms, n: head.n + 1 };
}

function appendRecord(sql: Sql, { log, log_id }: LogRow, at: Head, record: NewRecord): void {
  const { kind, postId, upstreamId, orderKey, revision } = record;
  const known = findKnown(sql, log, postId);
  const isLive = known !== undefined && known.removedAtMs === undefined;
  if (isLive === (kind === 'entry')) {
    throw new Error(`${kind} of ${postId}: log ${log_id} ${isLive ? 'knows it already' : 'has no such entry'}`);
  }

  if (kind === 'entry') {
    sql.run(
      `INSERT OR REPLACE INTO known (log, post_id, upstream_id, order_key, revision, sort_at, arrived_at)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
      log,
      postId,
      upstreamId,
      orderKey,
      revision,
      record.sortAtMs,
      record.arrivedAtMs,
    );
    removeEntry(sql, log, postId, at);
    sql.run('UPDATE logs SET entries = entries + 1, known = known + ? WHERE log = ?', known ? 0 : 1, log);
  }
  if (kind === 'edit') {
    const edit = 'UPDATE known SET upstream_id = ?, order_key = ?, revision = ? WHERE log = ? AND post_id = ?';
    sql.run(edit, upstreamId, orderKey, revision, log, postId);
  }
  if (kind === 'remove') {
    sql.run('UPDATE known SET removed = ? WHERE log = ? AND post_id = ?', Math.max(1, record.arrivedAtMs), log, postId);
    removeEntry(sql, log, postId, at);
    if (unshow(sql, log, postId).includes(postId)) deleteBody(sql, postId);
  }
  sql.run(
    `INSERT INTO records (log, ms, n, kind, post_id, uri, sort_at, arrived_at, late) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    log,
    at.ms,
    at.n,
    kind,
    postId,
    record.uri,
    isLive ? known.sortAtMs : record.sortAtMs,
    record.arrivedAtMs,
    record.late ? 1 : 0,
  );
}

/** At most one entry of a post is ever shown: also when it comes back, or comes again after it left the known-index. */
function removeEntry(sql: Sql, log: number, postId: PostId, at: Head): void {
  const remove = `UPDATE records INDEXED BY records_by_post SET removed_ms = ?, removed_n = ?
    WHERE log = ? AND post_id = ? AND kind = 'entry' AND removed_ms IS NULL`;
  sql.run(remove, at.ms, at.n, log, postId);
}

function writeState(sql: Sql, log: LogRow, head: Head | undefined, commit: LogCommit): void {
  const old = logExtras(log);
  const extras = {
    gaps: commit.gaps ?? old.gaps,
    counts: added(old.counts, commit.counts),
    lateness: commit.lateness ?? old.lateness,
    memory: commit.memory ?? old.memory,
  };
  sql.run(
    `UPDATE logs SET version = version + 1, head_ms = ?1, head_n = ?2,
       watermark_id = coalesce(?3, watermark_id), watermark_key = coalesce(?4, watermark_key),
       floor_key = max(coalesce(floor_key, ?5), coalesce(?5, floor_key)), state = ?6 WHERE log = ?7`,
    head?.ms,
    head?.n,
    commit.watermark?.upstreamId,
    commit.watermark?.orderKey,
    commit.floorKey,
    JSON.stringify(extras),
    log.log,
  );
}

function added(counts: LogCounts, more: Partial<LogCounts> = {}): LogCounts {
  return {
    posts: counts.posts + (more.posts ?? 0),
    requests: counts.requests + (more.requests ?? 0),
    duplicatesDropped: counts.duplicatesDropped + (more.duplicatesDropped ?? 0),
    leaksPrevented: counts.leaksPrevented + (more.leaksPrevented ?? 0),
    backfilled: counts.backfilled + (more.backfilled ?? 0),
    gaps: counts.gaps + (more.gaps ?? 0),
  };
}
