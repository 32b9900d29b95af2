import type { Post, PostId } from '../post.ts';

/** How deep posts nest: a repost of a post that quotes one that quotes one. What lies deeper is left out. */
export const MAX_NESTING = 3;

/** A post as stores keep it: nested posts are named, not held. */
export type FlatPost = Omit<Post, 'repostOf' | 'quoted'> & {
  readonly repostOf?: PostId | undefined;
  readonly quoted?: PostId | undefined;
};

/** The post and those inside it, each on its own, outermost first. */
export function flatten(post: Post, depth = 0): readonly FlatPost[] {
  const { repostOf, quoted, ...own } = post;
  const inside = depth < MAX_NESTING ? [repostOf, quoted].filter((nested) => nested !== undefined) : [];
  const flat: FlatPost = {
    ...own,
    ...(repostOf && depth < MAX_NESTING && { repostOf: repostOf.id }),
    ...(quoted && depth < MAX_NESTING && { quoted: quoted.id }),
  };
  return [flat, ...inside.flatMap((nested) => flatten(nested, depth + 1))];
}

/**
 * Puts a post together again from what `find` knows, as deep as MAX_NESTING, which also ends circles.
 * A nested post that `find` does not know is left out.
 */
export function join(flat: FlatPost, find: (id: PostId) => FlatPost | undefined, depth = 0): Post {
  // The very object, so that one that is kept need not be copied for every page.
  if (flat.repostOf === undefined && flat.quoted === undefined) return flat as Post;
  const { repostOf, quoted, ...own } = flat;
  const nested = (id: PostId | undefined): Post | undefined => {
    const inner = id !== undefined && depth < MAX_NESTING ? find(id) : undefined;
    return inner && join(inner, find, depth + 1);
  };
  const reposted = nested(repostOf);
  const quotedPost = nested(quoted);
  return { ...own, ...(reposted && { repostOf: reposted }), ...(quotedPost && { quoted: quotedPost }) };
}

/** The ids of all posts inside, at any depth. */
export function insideIds(post: Post): readonly PostId[] {
  const inside = [post.repostOf, post.quoted].filter((nested) => nested !== undefined);
  return inside.flatMap((nested) => [nested.id, ...insideIds(nested)]);
}

/** The ids of the posts right inside. */
export function nestedIds(flat: FlatPost): readonly PostId[] {
  return [flat.repostOf, flat.quoted].filter((id) => id !== undefined);
}
