import type { PostId } from '../post.ts';
import type { Reason } from '../recommenders/recommender.ts';

/** Feed instances of viewers. Everything here has a TTL, and may be evicted at any moment. */
export interface FeedStore {
  /**
   * The instance that the alias names, and the alias's own value: it may dangle. With `first`, also the instance's first `count`
   * items, as `cut` gives them.
   */
  current(
    viewerId: string,
    nowMs: number,
    first?: { readonly count: number; readonly ttlMs: number },
  ): Promise<{ alias?: string; instance?: InstanceHeader; cut?: InstanceCut }>;
  /** The viewer's newest live instance, whether or not the alias names it. */
  newest(viewerId: string, nowMs: number): Promise<InstanceHeader | undefined>;
  /**
   * Items `offset` to `offset + count` of a live instance (fewer at its end), undefined when it is gone: expired, evicted, of a
   * version that this release cannot read, damaged, or with a reference lost of what it would give. It is gone for all then. With `hashesFrom`, also the hashes of
   * the items from there to `offset`. Lengthens the instance's life once a twentieth of it has passed, never the alias's: it
   * lives for at least 19 twentieths of `ttlMs` after its last cut.
   */
  cut(query: {
    viewerId: string;
    feedId: string;
    offset: number;
    count: number;
    hashesFrom?: number | undefined;
    nowMs: number;
    ttlMs: number;
  }): Promise<InstanceCut | undefined>;
  /**
   * Makes the instance live and the current one, if the alias still is `replaces` (absent: no live alias), or names an
   * instance that is gone; gives the winner. Sent twice, it changes nothing.
   * At most `keep` live instances a viewer: the one read longest ago goes (to a twentieth of a life), never the current one.
   * What its hashes name was put for two lives just before.
   */
  publish(publication: Publication & { replaces?: string | undefined; aliasTtlMs: number }): Promise<InstanceHeader>;
  /** Makes the instance the one successor of (feedId, offset), unless a live one is there: gives the winner. Never the current one. */
  publishSuccessor(publication: Publication & { of: SuccessorKey }): Promise<InstanceHeader>;
  successor(viewerId: string, of: SuccessorKey, nowMs: number): Promise<InstanceHeader | undefined>;
  /** Removes all instances of the viewer, the alias and the successors; gives how many instances there were. */
  purge(viewerId: string): Promise<number>;
  /**
   * Remembers what each hash names, until then and for as long as any live instance may name it.
   * Gives the hashes that stand for another key already: the caller salts those and tries again.
   */
  putReferences(references: readonly Reference[], expiresAtMs: number): Promise<readonly string[]>;
}

export interface SuccessorKey {
  readonly feedId: string;
  readonly offset: number;
}

export interface Publication {
  readonly viewerId: string;
  readonly instance: FeedInstance;
  readonly nowMs: number;
  readonly ttlMs: number;
  readonly keep: number;
}

export interface FeedInstance {
  readonly feedId: string;
  readonly generatedAtMs: number;
  readonly items: readonly InstanceItem[];
}

export interface InstanceItem {
  /** 64 bits as 16 lower-case hex digits. */
  readonly hash: string;
  readonly reason?: Reason | undefined;
}

/** With what its hash names. */
export interface NamedItem extends InstanceItem {
  readonly postId: PostId;
}

export interface InstanceHeader {
  readonly feedId: string;
  readonly generatedAtMs: number;
  readonly size: number;
}

export interface InstanceCut extends InstanceHeader {
  /** What `hashesFrom` asked for, 8 bytes each, else none. */
  readonly earlierHashes: Buffer;
  readonly items: readonly NamedItem[];
}

export interface Reference {
  /** As in InstanceItem. */
  readonly hash: string;
  /** What was hashed: the story's canonical id. */
  readonly key: string;
  readonly postId: PostId;
}
