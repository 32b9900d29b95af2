import type { Post, PostId } from '../post.ts';
import type { Source } from '../source.ts';
import type { StoredPost } from '../stores/post-store.ts';

/**
 * The sources through which a viewer may see a post: of those that the viewer may read, the ones whose log showed it.
 * FOLLOWERS and DIRECT posts are only ever seen through sources for named users. None: the viewer may not see it,
 * and neither may anyone see a post that no log shows (any more).
 */
export function shownThrough(stored: StoredPost, readable: readonly Source[]): readonly Source[] {
  return readable.filter((source) => stored.shownBy.includes(source.logId) && mayCarry(source, stored.post));
}

/** True when the source's audience is small enough for a post of this visibility. */
export function mayCarry(source: Source, post: Post): boolean {
  return isOpen(post) || Array.isArray(source.audience);
}

/** True for posts that their network shows to everybody. */
export function isOpen(post: Post): boolean {
  return post.visibility === 'PUBLIC' || post.visibility === 'UNLISTED';
}

/** The posts inside a post, at any depth. */
export function nestedPosts(post: Post): readonly Post[] {
  const inside = [post.repostOf, post.quoted].filter((nested) => nested !== undefined);
  return inside.flatMap((nested) => [nested, ...nestedPosts(nested)]);
}

/**
 * The post without what `mayShow` refuses inside it: a quoted post is left out, a repost of a hidden one is hidden itself.
 * A post that holds nothing at all is a repost whose original is gone: hidden too.
 */
export function presented(post: Post, mayShow: (id: PostId) => boolean): Post | undefined {
  const inner = (nested: Post | undefined) => (nested && mayShow(nested.id) ? presented(nested, mayShow) : undefined);
  const repostOf = inner(post.repostOf);
  if (post.repostOf && !repostOf) return;
  const quoted = inner(post.quoted);
  const isWhole = repostOf === post.repostOf && quoted === post.quoted;
  const shown: Post = isWhole ? post : { ...post, repostOf, quoted };
  return isEmpty(post) ? undefined : shown;
}

function isEmpty(post: Post): boolean {
  const hasBody = post.text !== '' || post.html !== '' || Boolean(post.spoilerText) || post.media.length > 0;
  return !hasBody && !post.repostOf && !post.quoted && !post.poll && !post.card;
}
