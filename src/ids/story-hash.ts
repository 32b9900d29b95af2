import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** The names that all viewers' feeds are made of: some lists of candidates, each post with two or three. */
const MAX_KEPT = 50_000;
/** Characters: what is longer is no usual id, and is hashed each time. */
const MAX_KEPT_LENGTH = 300;

const kept = new WeakMap<Buffer, LRUCache<string, string>>();

/**
 * The 64-bit keyed hash of a story's canonical id as 16 lower-case hex digits: the same on every gateway that shares the key.
 * Another `salt` (default 0) gives an independent hash, for a story whose hash already stands for another one.
 * Those asked for last are kept, without salt: a hash takes ten times as long as to find it.
 */
export function storyHash(key: Buffer, canonicalId: string, salt = 0): string {
  if (salt !== 0 || canonicalId.length > MAX_KEPT_LENGTH) return hmac(key, canonicalId, salt);
  const ofKey = kept.get(key) ?? new LRUCache({ max: MAX_KEPT });
  kept.set(key, ofKey);
  const known = ofKey.get(canonicalId);
  if (known !== undefined) return known;
  const hash = hmac(key, canonicalId, salt);
  ofKey.set(canonicalId, hash);
  return hash;
}

function hmac(key: Buffer, canonicalId: string, salt: number): string {
  return createHmac('sha256', key).update(`story\0${salt}\0${canonicalId}`).digest('hex').slice(0, 16);
}
