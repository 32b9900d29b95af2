import { parsePostId } from '../ids/post-id.ts';
import type { Post, PostId } from '../post.ts';
import type { Source } from '../source.ts';
import type { PostStore, StoredPost } from '../stores/post-store.ts';
import { presented, shownThrough } from './access.ts';

/** What the record holds of some posts, for one who may read some sources. */
export interface VisiblePosts {
  /** Those that the record knows, whether or not they may be seen. */
  readonly records: ReadonlyMap<PostId, StoredPost>;
  /** Those that may be seen, with the sources through which: at least one. */
  readonly through: ReadonlyMap<PostId, readonly Source[]>;
  /** A body of one of these posts without the posts inside that may not be seen; undefined when nothing is left to show. */
  present(body: Post): Post | undefined;
}

/** One read. Ids that do not parse are unknown. */
export async function readVisible(
  posts: Pick<PostStore, 'getPosts'>,
  ids: readonly PostId[],
  readable: readonly Source[],
): Promise<VisiblePosts> {
  const asked = new Set(ids.filter((id) => parsePostId(id) !== undefined));
  const all = await posts.getPosts([...asked], { withInside: true });
  const records = new Map([...all].filter(([id]) => asked.has(id)));
  const through = new Map(
    [...records].flatMap(([id, stored]) => {
      const sources = shownThrough(stored, readable);
      return sources.length > 0 ? [[id, sources] as const] : [];
    }),
  );
  const mayShow = (id: PostId) => {
    const stored = all.get(id);
    return stored !== undefined && shownThrough(stored, readable).length > 0;
  };
  return { records, through, present: (body) => presented(body, mayShow) };
}
