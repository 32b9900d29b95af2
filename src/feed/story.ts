import { sipHash } from '../ids/sip-hash.ts';
import type { StoryKey } from '../ids/story-key.ts';
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

/** Of a name in an item's hash: more than the served set tells apart. */
const NAME_BITS = 24;
const NAME_DIGITS = NAME_BITS / 4;
const HASH_BYTES = 8;

/**
 * An item's 64 bits as 16 hex digits: its one or two names (24 bits each), then bits of the post id (the only ones that `salt`
 * changes), and last how many names there are. So the hash stands for one copy of a story and nothing else, while all copies
 * share the bits by which a scroll knows what it has served.
 */
export function itemHash(key: StoryKey, { postId, names: [first, second] }: Story, salt = 0): string {
  const named = digits(nameBits(key, first)) + (second === undefined ? '' : digits(nameBits(key, second)));
  const copy = sipHash(key.sip, `${salt}\0${postId}`).map((half) => (half >>> 0).toString(16).padStart(8, '0'));
  const rest = copy.join('').slice(named.length);
  const last = Number.parseInt(rest.slice(-1), 16);
  return named + rest.slice(0, -1) + (second === undefined ? last & ~1 : last | 1).toString(16);
}

/** What the served set holds of an item: its one or two names. */
export function servedHashes(hash: string): readonly number[] {
  const first = spread(Number.parseInt(hash.slice(0, NAME_DIGITS), 16));
  const hasTwo = (Number.parseInt(hash.slice(-1), 16) & 1) === 1;
  return hasTwo ? [first, spread(Number.parseInt(hash.slice(NAME_DIGITS, 2 * NAME_DIGITS), 16))] : [first];
}

/** The same of many items, whose hashes are 8 bytes each. */
export function servedHashesIn(hashes: Uint8Array): Uint32Array {
  const names = new Uint32Array((2 * hashes.length) / HASH_BYTES);
  let count = 0;
  for (let at = 0; at < hashes.length; at += HASH_BYTES) {
    names[count++] = spread(bitsAt(hashes, at));
    if (((hashes[at + HASH_BYTES - 1] ?? 0) & 1) === 1) names[count++] = spread(bitsAt(hashes, at + NAME_BITS / 8));
  }
  return names.subarray(0, count);
}

/** The number by which a served set knows this canonical id, uri or post id: 32 bits, from 0. */
export function nameHash(key: StoryKey, text: string): number {
  return spread(nameBits(key, text));
}

function nameBits(key: StoryKey, text: string): number {
  return sipHash(key.sip, text)[0] >>> (32 - NAME_BITS);
}

function digits(bits: number): string {
  return bits.toString(16).padStart(NAME_DIGITS, '0');
}

function bitsAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
}

/** The served set wants 32 evenly spread bits. */
function spread(bits: number): number {
  return ((bits << (32 - NAME_BITS)) | (bits >>> (2 * NAME_BITS - 32))) >>> 0;
}
