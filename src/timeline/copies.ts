import type { Post, PostId } from '../post.ts';
import type { Store } from '../stores/store.ts';
import type { LogRecord } from '../stores/timeline-store.ts';

/** All entries of a cursor's logs with one uri, and the bodies of those that can be shown. */
export interface Copies {
  /** By uri, in no order, removed ones included. */
  readonly byUri: ReadonlyMap<string, readonly LogRecord[]>;
  /** Present forms. A copy that was removed, is gone upstream, or whose body was lost has none. */
  readonly posts: ReadonlyMap<PostId, Post>;
}

/** The copies of these records' posts: one look into each log, and one at the bodies. */
export async function loadCopies(
  store: Pick<Store, 'timelines' | 'posts'>,
  logIds: readonly string[],
  records: readonly LogRecord[],
): Promise<Copies> {
  if (records.length === 0) return { byUri: new Map(), posts: new Map() };
  const uris = [...new Set(records.map((record) => record.uri))];
  const found = await Promise.all(logIds.map((logId) => store.timelines.entriesByUri(logId, uris)));
  const byUri = Map.groupBy(found.flat(), (copy) => copy.uri);
  const present = found.flat().filter((copy) => !copy.removed);
  const bodies = await store.posts.getPosts([...new Set(present.map((copy) => copy.postId))]);
  const posts = new Map<PostId, Post>();
  for (const [id, body] of bodies) if (body.goneAtMs === undefined) posts.set(id, body.post);
  return { byUri, posts };
}

/** True when this copy can be shown now. */
export function isShown(copy: LogRecord, posts: ReadonlyMap<PostId, Post>): boolean {
  return !copy.removed && posts.has(copy.postId);
}
