import type { PostId } from '../post.ts';
import type { FeedStore, InstanceHeader, Publication, SuccessorKey } from './feed-store.ts';

/**
 * Feed instances, aliases and references as one store holds them, of which cachedFeeds makes a FeedStore. An instance that is
 * evicted, expired, or of a version that this release cannot read is gone, for all of these.
 */
export interface FeedRecords extends Pick<FeedStore, 'newest' | 'successor' | 'purge' | 'putReferences'> {
  current(viewerId: string, nowMs: number): Promise<{ alias?: string; instance?: LiveHeader }>;
  /** The whole instance, undefined when it is gone. */
  read(place: InstancePlace, nowMs: number): Promise<{ bytes: Uint8Array; expiresAtMs: number } | undefined>;
  /** When it expires, Unix ms, which may be past; undefined when it is gone. One small read. */
  expiry(place: InstancePlace): Promise<number | undefined>;
  /**
   * Lengthens the life of an instance that is there and notes that it was read; once a life what its hashes name is kept for
   * two more. Where that would make others wait it is left to the next read.
   */
  renew(place: InstancePlace, renewal: { nowMs: number; ttlMs: number; hashes: readonly string[] }): Promise<void>;
  remove(place: InstancePlace): Promise<void>;
  /** What each hash names, in order; undefined where that was lost. */
  readReferences(hashes: readonly string[]): Promise<readonly (PostId | undefined)[]>;
  publish(
    publication: EncodedPublication & { replaces?: string | undefined; aliasTtlMs: number },
  ): Promise<InstanceHeader>;
  publishSuccessor(publication: EncodedPublication & { of: SuccessorKey }): Promise<InstanceHeader>;
}

export interface InstancePlace {
  readonly viewerId: string;
  readonly feedId: string;
}

export interface LiveHeader extends InstanceHeader {
  readonly expiresAtMs: number;
}

/** With the instance as encodeInstance makes it, which expires at `nowMs + ttlMs`. */
export interface EncodedPublication extends Omit<Publication, 'instance'> {
  readonly header: InstanceHeader;
  readonly bytes: Buffer;
}
