import type { Post, PostId } from '../post.ts';

/** Post bodies, once for all logs and feeds, and which logs showed them. Nested posts are kept on their own and joined when read. */
export interface PostStore {
  /**
   * What is known of these ids, with nested posts in their present form (at most 3 deep).
   * Who may see a nested post is the caller's to ask: it has a `shownBy` of its own.
   * Absent: a post that nobody brought, that was removed from all logs, or that neither a log shows nor a feed names any more.
   */
  getPosts(ids: readonly PostId[], options?: GetOptions): Promise<ReadonlyMap<PostId, StoredPost>>;
  /** Writes bodies read by id. An older read (`readAtMs`) never overwrites a newer one. */
  putPosts(writes: readonly PostWrite[]): Promise<void>;
}

export interface GetOptions {
  /** Gives what is known of the posts inside them, too; what is nested in those may be left out of them. */
  readonly withInside?: boolean;
}

export interface PostWrite {
  readonly post: Post;
  /** When the request was sent that showed it. */
  readonly readAtMs: number;
}

export interface StoredPost {
  readonly post: Post;
  readonly readAtMs: number;
  /** The logs that showed it, itself or inside another post. Empty when it was only ever fetched by id. */
  readonly shownBy: readonly string[];
}
