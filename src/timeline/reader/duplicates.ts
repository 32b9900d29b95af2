import type { Post, PostId } from '../../post.ts';
import { sizeOf } from '../../post-size.ts';
import type { Store } from '../../stores/store.ts';
import type { LogRecord } from '../../stores/timeline-store.ts';

/** The entries of a cursor's logs that stand for a uri, and the bodies of those that can be shown. */
export interface Duplicates {
  /**
   * By uri, in no order, removed ones included; of each log at most one that is not removed, and COPIES_PER_URI in all.
   * The others are never shown.
   */
  readonly byUri: ReadonlyMap<string, readonly LogRecord[]>;
  /** Present forms. A copy that was removed, or whose body was lost, has none. */
  readonly posts: ReadonlyMap<PostId, Post>;
  /** Of each body in bytes, about. */
  readonly sizes: ReadonlyMap<PostId, number>;
}

/** The duplicates of these records' posts: one look into each log, and one at the bodies. */
export async function loadDuplicates(
  store: Pick<Store, 'timelines' | 'posts'>,
  logIds: readonly string[],
  records: readonly LogRecord[],
): Promise<Duplicates> {
  if (records.length === 0) return { byUri: new Map(), posts: new Map(), sizes: new Map() };
  const uris = [...new Set(records.map((record) => record.uri))];
  const found = await Promise.all(logIds.map((logId) => store.timelines.entriesByUri(logId, uris)));
  const copies = found.flatMap(withFirstLive);
  const byUri = Map.groupBy(copies, (copy) => copy.uri);
  const present = copies.filter((copy) => copy.removedAt === undefined);
  const bodies = await store.posts.getPosts([...new Set(present.map((copy) => copy.postId))]);
  const posts = new Map<PostId, Post>([...bodies].map(([id, { post }]) => [id, post]));
  return { byUri, posts, sizes: new Map([...posts].map(([id, post]) => [id, sizeOf(post)])) };
}

/** Of one log's entries, oldest first, those that were removed and of each uri the first other. */
function withFirstLive(entries: readonly LogRecord[]): readonly LogRecord[] {
  const live = new Set<string>();
  return entries.filter(({ uri, removedAt }) => removedAt !== undefined || (!live.has(uri) && live.add(uri)));
}

/** True when both are the same record. */
export function isSame(a: LogRecord, b: LogRecord): boolean {
  return a.logId === b.logId && a.position === b.position;
}

/** True when this copy can be shown now. */
export function isShown(copy: LogRecord, posts: ReadonlyMap<PostId, Post>): boolean {
  return copy.removedAt === undefined && posts.has(copy.postId);
}

/** True when this copy stands and its body is not there: another may take its place. */
export function isLost(copy: LogRecord, posts: ReadonlyMap<PostId, Post>): boolean {
  return copy.removedAt === undefined && !posts.has(copy.postId);
}
