import { LRUCache } from 'lru-cache';
import { StoreUnavailableError } from '../errors.ts';
import type { PostId } from '../post.ts';
import type { EncodedPublication, FeedRecords, InstancePlace } from './feed-records.ts';
import type { FeedStore, InstanceCut, InstanceHeader, Publication } from './feed-store.ts';
import { type DecodedInstance, decodeInstance, encodeInstance } from './instance-codec.ts';

/** About 3,000 instances of 500 items. */
const MAX_INSTANCE_BYTES = 32_000_000;
/** Some 200 bytes each. */
const MAX_REFERENCES = 100_000;
/** What nobody asks for leaves the process after so long: a purge by another one must not leave it here. */
const UNUSED_MS = 600_000;

/** A life is lengthened once so much of it has passed: a page that is read again at once writes nothing. */
const RENEWED_PART = 1 / 20;

const LEAVES_UNUSED = { ttl: UNUSED_MS, ttlResolution: 1000, updateAgeOnGet: true };

/** What a gateway keeps of a store's feeds. */
export interface CachedFeeds extends FeedStore {
  /** Lets go of what was not asked for lately. */
  forgetUnused(): void;
}

/**
 * A FeedStore that keeps in the process what never changes: instances by viewer and feedId, and what hashes name. Of a known
 * instance each cut asks the store one thing, whether it is there, and reads its items from memory. The store alone decides:
 * were an instance that it let go served on by the gateway that still holds it, then `whenGone: 'empty'` and a purge would
 * depend on who answers, and one cursor would go on with the instance here and with its successor elsewhere. Reading it back
 * into the store is no way out, for a purge and an eviction look alike.
 * An instance that cannot be shown as it was (a reference of it is lost, it is damaged, another release wrote it) is removed when
 * a gateway finds that out, so that it is gone for all of them alike.
 */
export function cachedFeeds(records: FeedRecords): CachedFeeds {
  const instances = new LRUCache<string, DecodedInstance>({
    maxSize: MAX_INSTANCE_BYTES,
    sizeCalculation: ({ bytes }) => bytes,
    ...LEAVES_UNUSED,
  });
  const references = new LRUCache<string, PostId>({ max: MAX_REFERENCES, ...LEAVES_UNUSED });

  /** Undefined when it is gone. */
  async function find(place: InstancePlace, nowMs: number, knownExpiryMs?: number): Promise<Found | undefined> {
    const key = keyOf(place);
    const cached = instances.get(key);
    if (cached) {
      const expiresAtMs = knownExpiryMs ?? (await records.expiry(place));
      if (expiresAtMs !== undefined && expiresAtMs > nowMs) return { instance: cached, expiresAtMs };
      instances.delete(key);
      return undefined;
    }
    const read = await records.read(place, nowMs);
    if (!read) return undefined;
    const instance = decoded(read.bytes);
    if (!instance) return remove(place);
    instances.set(key, instance);
    return { instance, expiresAtMs: read.expiresAtMs };
  }

  async function cut(query: CutQuery, knownExpiryMs?: number): Promise<InstanceCut | undefined> {
    const { viewerId, feedId, offset, count, hashesFrom = offset, nowMs, ttlMs } = query;
    const place = { viewerId, feedId };
    const found = await find(place, nowMs, knownExpiryMs);
    if (!found) return undefined;
    const { instance, expiresAtMs } = found;
    const { generatedAtMs, size } = instance;
    const items = instance.items(offset, count);
    const named = await namesOf(items.map(({ hash }) => hash));
    if (!named) return remove(place);
    if (expiresAtMs < nowMs + ttlMs * (1 - RENEWED_PART)) {
      // The page was read: that its feed may end sooner is no reason to refuse it.
      await records
        .renew(place, { nowMs, ttlMs, hashes: instance.items(0, size).map(({ hash }) => hash) })
        .catch(ignoreOutage);
    }
    return {
      ...{ feedId, generatedAtMs, size },
      earlierHashes: instance.hashes(hashesFrom, offset),
      items: items.map((item, n) => ({ ...item, postId: named[n] ?? '' })),
    };
  }

  async function remove(place: InstancePlace): Promise<undefined> {
    instances.delete(keyOf(place));
    await records.remove(place);
  }

  /** Undefined where one of them was lost. */
  async function namesOf(hashes: readonly string[]): Promise<readonly PostId[] | undefined> {
    const unknown = hashes.filter((hash) => references.get(hash) === undefined);
    const read = unknown.length === 0 ? [] : await records.readReferences(unknown);
    const fresh = new Map<string, PostId>();
    for (const [n, hash] of unknown.entries()) {
      const postId = read[n];
      if (postId === undefined) return undefined;
      fresh.set(hash, postId);
      references.set(hash, postId);
    }
    return hashes.map((hash) => references.get(hash) ?? fresh.get(hash) ?? '');
  }

  async function published(
    { viewerId, instance, nowMs, ttlMs }: Publication,
    publish: (encoded: Pick<EncodedPublication, 'header' | 'bytes'>) => Promise<InstanceHeader>,
  ): Promise<InstanceHeader> {
    const { feedId, generatedAtMs, items } = instance;
    const bytes = encodeInstance(instance, nowMs + ttlMs);
    const winner = await publish({ header: { feedId, generatedAtMs, size: items.length }, bytes });
    // Not one that was there under this feedId before.
    const isOurs = winner.feedId === feedId && winner.generatedAtMs === generatedAtMs && winner.size === items.length;
    if (isOurs) instances.set(keyOf({ viewerId, feedId }), decodeInstance(bytes));
    return winner;
  }

  return {
    async current(viewerId, nowMs, first) {
      const { instance: live, ...found } = await records.current(viewerId, nowMs);
      if (!live) return found;
      const { expiresAtMs, ...instance } = live;
      if (!first) return { ...found, instance };
      const page = await cut({ viewerId, feedId: instance.feedId, offset: 0, nowMs, ...first }, expiresAtMs);
      return page ? { ...found, instance, cut: page } : found;
    },
    newest: records.newest,
    cut: (query) => cut(query),
    publish: (publication) => published(publication, (encoded) => records.publish({ ...publication, ...encoded })),
    publishSuccessor: (publication) =>
      published(publication, (encoded) => records.publishSuccessor({ ...publication, ...encoded })),
    successor: records.successor,
    async purge(viewerId) {
      for (const key of [...instances.keys()])
        if (key.startsWith(keyOf({ viewerId, feedId: '' }))) instances.delete(key);
      return records.purge(viewerId);
    },
    async putReferences(all, expiresAtMs) {
      const collided = await records.putReferences(all, expiresAtMs);
      const others = new Set(collided);
      for (const { hash, postId } of all) {
        if (!others.has(hash)) references.set(hash, postId);
      }
      return collided;
    },
    forgetUnused() {
      instances.purgeStale();
      references.purgeStale();
    },
  };
}

type CutQuery = Parameters<FeedStore['cut']>[0];

interface Found {
  readonly instance: DecodedInstance;
  readonly expiresAtMs: number;
}

/** Viewers' ids are of any text: JSON keeps them apart. */
function keyOf({ viewerId, feedId }: InstancePlace): string {
  return `${JSON.stringify(viewerId)} ${feedId}`;
}

/** Undefined for bytes that another release wrote, or that were damaged: that is as good as gone. */
function decoded(bytes: Uint8Array): DecodedInstance | undefined {
  try {
    return decodeInstance(bytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function ignoreOutage(error: unknown): void {
  if (!(error instanceof StoreUnavailableError)) throw error;
}
