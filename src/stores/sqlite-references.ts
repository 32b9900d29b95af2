import type { PostId } from '../post.ts';
import type { Reference } from './feed-store.ts';
import type { Sql } from './sqlite-database.ts';

/** Writes what the hashes name where that is not there yet for so long; gives those that stand for another key already. */
export function writeReferences(sql: Sql, references: readonly Reference[], expiresAtMs: number): readonly string[] {
  const write = `INSERT INTO story_references (hash, key, post_id, expires_at) VALUES (?, ?, ?, ?)
    ON CONFLICT (hash) DO UPDATE SET post_id = excluded.post_id, expires_at = max(expires_at, excluded.expires_at)
    WHERE key = excluded.key`;
  const collided = lacking(sql, references, expiresAtMs).filter(
    ({ hash, key, postId }) => sql.run(write, hash, key, postId, expiresAtMs) === 0,
  );
  return [...new Set(collided.map(({ hash }) => hash))];
}

/** Those that are not there as they are to be, found by one statement: mostly none. */
function lacking(sql: Sql, references: readonly Reference[], expiresAtMs: number): readonly Reference[] {
  const isPlain = references.every(({ key, postId }) => key === postId);
  if (!isPlain || new Set(references.map(({ hash }) => hash)).size < references.length) return references;
  // As text: an object of so many names is slow to make.
  const wanted = references.map(({ hash, postId }) => `"${hash}":${JSON.stringify(postId)}`);
  const read = `SELECT wanted.key AS hash FROM json_each(?) AS wanted WHERE NOT EXISTS (SELECT 1 FROM story_references AS r
    WHERE r.hash = wanted.key AND r.key = wanted.value AND r.post_id = wanted.value AND r.expires_at >= ?)`;
  const rows = new Set(sql.all<{ hash: string }>(read, `{${wanted.join()}}`, expiresAtMs).map(({ hash }) => hash));
  return rows.size === 0 ? [] : references.filter(({ hash }) => rows.has(hash));
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
