import type { FeedInstance, FeedStore, InstanceCut, InstanceHeader, NamedItem } from '../stores/feed-store.ts';

/** An instance as a page reads it, wherever it is kept. */
export interface ReadableInstance {
  readonly feedId: string;
  /**
   * Raw items from `offset`, at most `count`; undefined when the instance is gone. With `hashesFrom`, also the hashes of the
   * items from there to `offset`.
   */
  cut(offset: number, count: number, hashesFrom?: number): Promise<InstanceCut | undefined>;
}

/** A generated instance with what its hashes name. */
export interface MadeInstance extends FeedInstance {
  readonly items: readonly NamedItem[];
}

/** One that is published; reading it lengthens its life. */
export function storedInstance(
  feeds: Pick<FeedStore, 'cut'>,
  { viewerId, feedId, now, ttlMs }: { viewerId: string; feedId: string; now: () => number; ttlMs: number },
): ReadableInstance {
  return {
    feedId,
    cut: (offset, count, hashesFrom) => feeds.cut({ viewerId, feedId, offset, count, hashesFrom, nowMs: now(), ttlMs }),
  };
}

/** One of which the first items were read when it was found: a cut that begins there and asks for no more need not be read again. */
export function alreadyCut(instance: ReadableInstance, first: InstanceCut): ReadableInstance {
  return {
    feedId: instance.feedId,
    cut: async (offset, count, hashesFrom) => {
      const isHeld = offset === 0 && (count <= first.items.length || first.items.length === first.size);
      return isHeld ? { ...first, items: first.items.slice(0, count) } : instance.cut(offset, count, hashesFrom);
    },
  };
}

/** One that this process has just made: it need not be read back, and while the store is out it cannot be. */
export function madeInstance(made: MadeInstance): ReadableInstance {
  const header: InstanceHeader = {
    feedId: made.feedId,
    generatedAtMs: made.generatedAtMs,
    size: made.items.length,
  };
  return {
    feedId: made.feedId,
    cut: async (offset, count, hashesFrom = offset) => ({
      ...header,
      earlierHashes: Buffer.from(
        made.items
          .slice(hashesFrom, offset)
          .map(({ hash }) => hash)
          .join(''),
        'hex',
      ),
      items: made.items.slice(offset, offset + count),
    }),
  };
}
