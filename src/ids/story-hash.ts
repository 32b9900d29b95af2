import { createHmac } from 'node:crypto';

/**
 * The 64-bit keyed hash of a story's canonical id as 16 lower-case hex digits: the same on every gateway that shares the key.
 * Another `salt` (default 0) gives an independent hash, for a story whose hash already stands for another one.
 */
export function storyHash(key: Buffer, canonicalId: string, salt = 0): string {
  return createHmac('sha256', key).update(`story\0${salt}\0${canonicalId}`).digest('hex').slice(0, 16);
}
