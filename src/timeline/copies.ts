import type { Post, PostId } from '../post.ts';
import { sizeOf } from '../post-size.ts';
import type { Store } from '../stores/store.ts';
import type { LogRecord } from '../stores/timeline-store.ts';

/** The entries of a cursor's logs that stand for a uri, and the bodies of those that can be shown. */
export interface Copies {
  /**
   * By uri, in no order, removed ones included; of each log at most one that is not removed, and COPIES_PER_URI in all.
   * Entries of the uri that are not among these are repeats.
   */
  readonly byUri: ReadonlyMap<string, readonly LogRecord[]>;
  /** Present forms. A copy that was removed, is gone upstream, or whose body was lost has none. */
  readonly posts: ReadonlyMap<PostId, Post>;
  /** Of each body in bytes, about. */
  readonly sizes: ReadonlyMap<PostId, number>;
}

/** The copies of these records' posts: one look into each log, and one at the bodies. */
export async function loadCopies(
  store: Pick<Store, 'timelines' | 'posts'>,
  logIds: readonly string[],
  records: readonly LogRecord[],
): Promise<Copies> {
  if (records.length === 0) return { byUri: new Map(), posts: new Map(), sizes: new Map() };
  const uris = [...new Set(records.map((record) => record.uri))];
  const found = await Promise.all(logIds.map((logId) => store.timelines.entriesByUri(logId, uris)));
  const copies = found.flatMap(withoutRepeats);
  const byUri = Map.groupBy(copies, (copy) => copy.uri);
  const present = copies.filter((copy) => !copy.removed);
  const bodies = await store.posts.getPosts([...new Set(present.map((copy) => copy.postId))]);
  const posts = new Map<PostId, Post>();
  for (const [id, body] of bodies) if (body.goneAtMs === undefined) posts.set(id, body.post);
  return { byUri, posts, sizes: new Map([...posts].map(([id, post]) => [id, sizeOf(post)])) };
}

/** Of one log's entries, oldest first, those that were removed and of each uri the first other. */
function withoutRepeats(entries: readonly LogRecord[]): readonly LogRecord[] {
  const live = new Set<string>();
  return entries.filter(({ uri, removed }) => removed || (!live.has(uri) && live.add(uri)));
}

/** True when both are the same record. */
export function isSame(a: LogRecord, b: LogRecord): boolean {
  return a.logId === b.logId && a.position === b.position;
}

/** True when this copy can be shown now. */
export function isShown(copy: LogRecord, posts: ReadonlyMap<PostId, Post>): boolean {
  return !copy.removed && posts.has(copy.postId);
}
