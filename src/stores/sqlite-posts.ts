import { LRUCache } from 'lru-cache';
import type { PostId } from '../post.ts';
import { type FlatPost, flatten, insideIds, join, MAX_NESTING, nestedIds } from './nested-posts.ts';
import type { GetOptions, PostStore, PostWrite, StoredPost } from './post-store.ts';
import { type Sql, type SqliteDatabase, storedJson } from './sqlite-database.ts';

/** How long after it was read a body stays that no log shows and no feed names. */
const UNSHOWN_KEEP_MS = 3_600_000;

/** The log that showed a post, by its row, and when. */
export interface Showing {
  readonly log: number;
  readonly atMs: number;
}

interface PostRow {
  body: string;
  read_at: number;
}

/** Of posts that stay decoded, with their JSON: about 10,000 usual ones. */
const MAX_CACHED_BYTES = 48_000_000;
/** What nobody asks for leaves the process after so long, as it may have been forgotten in the store. */
const UNUSED_MS = 600_000;

/** A row as it was in that epoch of the file. */
interface Cached extends PostRow {
  readonly flat: FlatPost;
  readonly shownBy: readonly string[];
  readonly epoch: number;
}

type Cache = LRUCache<PostId, Cached>;

/**
 * Post bodies, one row a post id. What was read stays decoded in the process, and is taken again without a look at its row while
 * nobody has written to the file; after that its JSON is parsed again only where it is another.
 */
export function sqlitePosts(db: SqliteDatabase): PostStore & { forgetUnused(): void } {
  const cache: Cache = new LRUCache({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: ({ body }) => 1000 + 3 * body.length,
    ttl: UNUSED_MS,
    ttlResolution: 1000,
    updateAgeOnGet: true,
  });
  return {
    getPosts: async (ids, options) => db.read((sql) => readPosts(sql, cache, ids, options)),
    putPosts: async (writes) => db.write((sql) => writePosts(sql, writes)),
    forgetUnused: () => cache.purgeStale(),
  };
}

/** Writes bodies and what is nested in them; with `showing`, remembers that this log showed them all. */
export function writePosts(sql: Sql, writes: readonly PostWrite[], showing?: Showing): void {
  for (const { post, readAtMs } of writes) {
    for (const [place, flat] of flatten(post).entries()) {
      writeBody(sql, flat, readAtMs, place > 0);
      if (showing) show(sql, flat.id, post.id, showing);
    }
  }
}

/** This log does not show what it showed through the post `via` any more. Gives the posts that no log shows now. */
export function unshow(sql: Sql, log: number, via: PostId): readonly PostId[] {
  const rows = 'FROM shown INDEXED BY shown_by_via WHERE log = ? AND via = ?';
  const shown = sql.all<{ post_id: PostId }>(`SELECT post_id ${rows}`, log, via);
  sql.run(`DELETE ${rows}`, log, via);
  const unshown = shown
    .map((row) => row.post_id)
    .filter((id) => sql.get('SELECT 1 FROM shown WHERE post_id = ? LIMIT 1', id) === undefined);
  for (const id of unshown) sql.run('UPDATE posts SET sweep_at = read_at + ? WHERE id = ?', UNSHOWN_KEEP_MS, id);
  return unshown;
}

/** Forgets the content of those that no feed names. */
export function deleteUnnamed(sql: Sql, ids: readonly PostId[]): void {
  for (const id of ids) if (namedUntil(sql, id) === 0) deleteBody(sql, id);
}

/** Forgets a post's content. */
export function deleteBody(sql: Sql, id: PostId): void {
  sql.run('DELETE FROM nested WHERE parent = ?', id);
  sql.run('DELETE FROM posts WHERE id = ?', id);
}

/** Removes bodies that nothing needs, looking at no more than `limit`; true when there may be more. */
export function deleteUnneededPosts(sql: Sql, nowMs: number, limit: number): boolean {
  const due = 'SELECT id FROM posts WHERE sweep_at <= ? ORDER BY sweep_at LIMIT ?';
  const rows = sql.all<{ id: PostId }>(due, nowMs, limit);
  for (const { id } of rows) {
    const until = namedUntil(sql, id);
    if (until > nowMs) sql.run('UPDATE posts SET sweep_at = ? WHERE id = ?', until, id);
    else deleteBody(sql, id);
  }
  return rows.length === limit;
}

/** Until when a feed names this post, or one that it is nested in; 0 when none does. */
function namedUntil(sql: Sql, id: PostId): number {
  const row = sql.get<{ until: number | null }>(
    `WITH RECURSIVE holder (id, depth) AS (
       VALUES (?, 0) UNION SELECT parent, depth + 1 FROM nested JOIN holder ON child = holder.id WHERE depth < ?
     )
     SELECT max(expires_at) AS until FROM holder JOIN story_references ON post_id = holder.id`,
    id,
    MAX_NESTING,
  );
  return row?.until ?? 0;
}

function readPosts(
  sql: Sql,
  cache: Cache,
  ids: readonly PostId[],
  options: GetOptions = {},
): ReadonlyMap<PostId, StoredPost> {
  const epoch = sql.epoch();
  const rows = new Map<PostId, Cached | undefined>();
  const find = (id: PostId) => {
    if (!rows.has(id)) rows.set(id, readCached(sql, cache, id, epoch));
    return rows.get(id);
  };

  const posts = new Map<PostId, StoredPost>();
  const give = (id: PostId) => {
    const row = find(id);
    if (!row || posts.has(id)) return;
    const post = join(row.flat, (inside) => find(inside)?.flat);
    posts.set(id, { post, readAtMs: row.read_at, shownBy: row.shownBy });
  };
  for (const id of ids) give(id);
  const asked = options.withInside ? [...posts.values()] : [];
  for (const { post } of asked) for (const id of insideIds(post)) give(id);
  return posts;
}

function readCached(sql: Sql, cache: Cache, id: PostId, epoch: number): Cached | undefined {
  const cached = cache.get(id);
  if (cached?.epoch === epoch) return cached;
  const row = readRow(sql, id);
  if (!row) {
    cache.delete(id);
    return undefined;
  }
  const flat = cached?.body === row.body ? cached.flat : storedJson<FlatPost>(row.body);
  const fresh = { ...row, flat, shownBy: readShownBy(sql, id), epoch };
  cache.set(id, fresh);
  return fresh;
}

function readRow(sql: Sql, id: PostId): PostRow | undefined {
  return sql.get<PostRow>('SELECT body, read_at FROM posts WHERE id = ?', id);
}

function readShownBy(sql: Sql, id: PostId): readonly string[] {
  const text = 'SELECT DISTINCT log_id FROM shown JOIN logs USING (log) WHERE post_id = ? ORDER BY log_id';
  return sql.all<{ log_id: string }>(text, id).map((row) => row.log_id);
}

function writeBody(sql: Sql, flat: FlatPost, readAtMs: number, isNested: boolean): void {
  const old = readRow(sql, flat.id);
  if (!old) {
    // A body that was lost may be shown all the same.
    const insert = `INSERT INTO posts (id, read_at, sweep_at, body)
      VALUES (?1, ?2, iif(EXISTS (SELECT 1 FROM shown WHERE post_id = ?1), NULL, ?3), ?4)`;
    sql.run(insert, flat.id, readAtMs, readAtMs + UNSHOWN_KEEP_MS, JSON.stringify(flat));
    linkNested(sql, flat);
    return;
  }
  if (readAtMs < old.read_at) return;
  const kept = isNested ? keepingNested(flat, storedJson<FlatPost>(old.body)) : flat;
  const body = JSON.stringify(kept);
  if (body !== old.body) {
    sql.run('UPDATE posts SET body = ? WHERE id = ?', body, flat.id);
    linkNested(sql, kept);
  }
  sql.run(
    'UPDATE posts SET read_at = ?1, sweep_at = iif(sweep_at IS NULL, NULL, max(sweep_at, ?1 + ?2)) WHERE id = ?3',
    readAtMs,
    UNSHOWN_KEEP_MS,
    flat.id,
  );
}

/** Upstreams show nested posts in a shallow form: that it names no post inside does not say that there is none. */
function keepingNested(flat: FlatPost, old: FlatPost): FlatPost {
  const repostOf = flat.repostOf ?? old.repostOf;
  const quoted = flat.quoted ?? old.quoted;
  return { ...flat, ...(repostOf !== undefined && { repostOf }), ...(quoted !== undefined && { quoted }) };
}

function linkNested(sql: Sql, flat: FlatPost): void {
  sql.run('DELETE FROM nested WHERE parent = ?', flat.id);
  for (const child of nestedIds(flat)) {
    sql.run('INSERT INTO nested (child, parent) VALUES (?, ?) ON CONFLICT DO NOTHING', child, flat.id);
  }
}

function show(sql: Sql, id: PostId, via: PostId, { log, atMs }: Showing): void {
  sql.run(
    `INSERT INTO shown (post_id, log, via, shown_at, bytes)
       VALUES (?1, ?2, ?3, ?4, (SELECT octet_length(body) FROM posts WHERE id = ?1))
       ON CONFLICT DO UPDATE SET shown_at = max(shown_at, excluded.shown_at), bytes = excluded.bytes`,
    id,
    log,
    via,
    atMs,
  );
  sql.run('UPDATE posts SET sweep_at = NULL WHERE id = ? AND sweep_at IS NOT NULL', id);
}
