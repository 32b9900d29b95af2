import { LRUCache } from 'lru-cache';
import { itemHash, nameHash, type Story } from './story.ts';

type Key = Parameters<typeof nameHash>[0];
type NameHash = ReturnType<typeof nameHash>;

/** The posts of some lists of candidates, each with two or three names: all viewers' feeds are made of the same. */
const MAX_NAMES = 50_000;
const MAX_ITEMS = 20_000;
/** Characters: what is longer is no usual id, and is hashed each time. */
const MAX_LENGTH = 300;

interface Known {
  readonly names: LRUCache<string, NameHash>;
  /** By post id. */
  readonly items: LRUCache<string, { readonly names: Story['names']; readonly hash: string }>;
}

const known = new WeakMap<Key, Known>();

/** `nameHash`, of what was asked for lately without hashing. */
export function knownNameHash(key: Key, text: string): NameHash {
  const { names } = of(key);
  const found = names.get(text);
  if (found !== undefined) return found;
  const hash = nameHash(key, text);
  if (text.length <= MAX_LENGTH) names.set(text, hash);
  return hash;
}

/** `itemHash` without salt, of what was asked for lately without hashing. */
export function knownItemHash(key: Key, story: Story): string {
  const { items } = of(key);
  const { postId, names } = story;
  const found = items.get(postId);
  if (found?.names[0] === names[0] && found?.names[1] === names[1]) return found.hash;
  const hash = itemHash(key, story);
  if (postId.length + names[0].length + (names[1] ?? '').length <= MAX_LENGTH) items.set(postId, { names, hash });
  return hash;
}

function of(key: Key): Known {
  const there = known.get(key);
  if (there) return there;
  const made: Known = { names: new LRUCache({ max: MAX_NAMES }), items: new LRUCache({ max: MAX_ITEMS }) };
  known.set(key, made);
  return made;
}
