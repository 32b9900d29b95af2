import type { PostId } from '../post.ts';
import type { Reference } from './feed-store.ts';
import type { Sql } from './sqlite-database.ts';

/** Writes what the hashes name where that is not there yet for so long; gives those that stand for another key already. */
export function writeReferences(sql: Sql, references: readonly Reference[], expiresAtMs: number): readonly string[] {
  const read = `SELECT r.hash, r.key, r.post_id, r.expires_at
    FROM json_each(?) AS wanted CROSS JOIN story_references AS r ON r.hash = wanted.value`;
  const hashes = references.map(({ hash }) => hash);
  const known = new Map(sql.all<ReferenceRow>(read, JSON.stringify(hashes)).map((row) => [row.hash, row]));
  const write = `INSERT INTO story_references (hash, key, post_id, expires_at) VALUES (?, ?, ?, ?)
    ON CONFLICT (hash) DO UPDATE SET post_id = excluded.post_id, expires_at = max(expires_at, excluded.expires_at)
    WHERE key = excluded.key`;
  const collided = references.filter(({ hash, key, postId }) => {
    const row = known.get(hash);
    if (row?.key === key && row.post_id === postId && row.expires_at >= expiresAtMs) return false;
    return sql.run(write, hash, key, postId, expiresAtMs) === 0;
  });
  return [...new Set(collided.map(({ hash }) => hash))];
}

interface ReferenceRow {
  readonly hash: string;
  readonly key: string;
  readonly post_id: PostId;
  readonly expires_at: number;
}

/** The post that the hash names, absent when that was lost. */
export function findReference(sql: Sql, hash: string): PostId | undefined {
  return sql.get<{ post_id: PostId }>('SELECT post_id FROM story_references WHERE hash = ?', hash)?.post_id;
}

/** Keeps what the hashes name until then at least. */
export function lengthenReferences(sql: Sql, hashes: readonly string[], untilMs: number): void {
  const lengthen = 'UPDATE story_references SET expires_at = ?1 WHERE hash = ?2 AND expires_at < ?1';
  for (const hash of hashes) sql.run(lengthen, untilMs, hash);
}

/** Removes at most `limit` expired references; true when there may be more. */
export function deleteExpiredReferences(sql: Sql, nowMs: number, limit: number): boolean {
  const expired = `DELETE FROM story_references
    WHERE hash IN (SELECT hash FROM story_references WHERE expires_at <= ? LIMIT ?)`;
  return sql.run(expired, nowMs, limit) === limit;
}
