import { storyHash } from '../ids/story-hash.ts';
import type { Post, PostId } from '../post.ts';

/** An item before it is hashed: the post that shows it, and the names under which it must never come again in its scroll. */
export interface Story {
  readonly postId: PostId;
  /**
   * The uri of what the post shows (its id, where the uri is not known yet), and before it the recommender's canonical id where
   * that is another: then the recommender alone knows why two posts are one story.
   */
  readonly names: readonly [string] | readonly [string, string];
}

/** The story that a post shows: the uri of the post itself, or of what it reposts. All copies and reposts share it. */
export function storyUri(post: Post): string {
  return post.repostOf ? storyUri(post.repostOf) : post.uri;
}

/** All names under which a scroll may have served what this post shows, but for a recommender's own. */
export function namesOf(post: Post): readonly string[] {
  return [post.id, ...(post.repostOf ? namesOf(post.repostOf) : [post.uri])];
}

/** Hex digits of a name in an item's hash: 24 bits, more than the served set tells apart. */
const NAME_DIGITS = 6;

/**
 * An item's 64 bits as 16 hex digits: its one or two names (24 bits each), then bits of the post id (the only ones that `salt`
 * changes), and last how many names there are. So the hash stands for one copy of a story and nothing else, while all copies
 * share the bits by which a scroll knows what it has served.
 */
export function itemHash(key: Buffer, { postId, names: [first, second] }: Story, salt = 0): string {
  const named = name(key, first) + (second === undefined ? '' : name(key, second));
  const copy = storyHash(key, postId, salt).slice(named.length);
  const last = Number.parseInt(copy.slice(-1), 16);
  return named + copy.slice(0, -1) + (second === undefined ? last & ~1 : last | 1).toString(16);
}

/** What the served set holds of an item: one or two hashes. */
export function servedHashes(hash: string): readonly string[] {
  const first = spread(hash.slice(0, NAME_DIGITS));
  const hasTwo = (Number.parseInt(hash.slice(-1), 16) & 1) === 1;
  return hasTwo ? [first, spread(hash.slice(NAME_DIGITS, 2 * NAME_DIGITS))] : [first];
}

/** The hash by which a served set knows this canonical id or post id. */
export function nameHash(key: Buffer, text: string): string {
  return spread(name(key, text));
}

function name(key: Buffer, text: string): string {
  return storyHash(key, text).slice(0, NAME_DIGITS);
}

/** The served set wants 16 evenly spread digits. */
function spread(digits: string): string {
  return digits.repeat(3).slice(0, 16);
}
