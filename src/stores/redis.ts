import { type Clock, systemClock } from '../clock.ts';
import { cachedFeeds } from './cached-feeds.ts';
import { connectRedis, DEADLINE_MS, subscribeRedis } from './redis-client.ts';
import { type RedisConnection, redisConnection } from './redis-connection.ts';
import { redisFeeds } from './redis-feeds.ts';
import { redisGenerators } from './redis-generators.ts';
import { redisKeys } from './redis-keys.ts';
import { redisLeases, redisSecrets } from './redis-leases.ts';
import { redisNotes } from './redis-notes.ts';
import { redisPosts } from './redis-posts.ts';
import { redisQuotas } from './redis-quotas.ts';
import { redisSignals } from './redis-signals.ts';
import type { RedisSpec } from './redis-spec.ts';
import { redisTimelines } from './redis-timelines.ts';
import type { Store } from './store.ts';

/** Where feed instances lie, which may be evicted, and where everything else does, which must not be. May be the same. */
export interface RedisStoreSpec {
  readonly feeds: RedisSpec;
  readonly timelines: RedisSpec;
}

/**
 * A store that any number of gateways share. What was acknowledged is there for all of them until a failover loses Redis's newest
 * writes. Throws StoreUnavailableError, ConfigError. @see redis-client.ts
 */
export async function openRedisStore(
  spec: RedisStoreSpec,
  options: { clock?: Clock | undefined; log?: ((line: string) => void) | undefined } = {},
): Promise<Store> {
  const { clock = systemClock, log = () => {} } = options;
  const isOne = spec.feeds === spec.timelines;
  const main = await open(spec.timelines, false, log);
  const instances = isOne ? main : await open(spec.feeds, true, log).catch(closing(main));
  const channel = `${spec.timelines.keyPrefix ?? ''}SIGNALS`;
  const subscriber = subscribeRedis(spec.timelines, channel);
  const keys = redisKeys(spec.timelines.keyPrefix ?? '');
  const feedKeys = redisKeys(spec.feeds.keyPrefix ?? '');
  const feeds = cachedFeeds(
    redisFeeds({ instances, references: main, keys: { ...keys, feeds: feedKeys.feeds }, now: clock.now }),
  );
  const posts = redisPosts(main, keys);
  return {
    feeds,
    timelines: redisTimelines(main, keys, clock.now),
    posts,
    leases: redisLeases(main, keys),
    notes: redisNotes(main, keys),
    quotas: redisQuotas(main, keys),
    secrets: redisSecrets(main, keys),
    generators: redisGenerators(main, keys),
    signals: redisSignals(main, subscriber, channel),
    async ping() {
      await Promise.all([main.call('ping'), instances.call('ping')]);
    },
    async deleteExpired() {
      feeds.forgetUnused();
      posts.forgetUnused();
      // Redis removes what has expired by itself.
      await main.call('ping');
      return false;
    },
    async close() {
      subscriber.disconnect();
      await Promise.all([main.close(), instances.close()]);
    },
  };
}

async function open(spec: RedisSpec, mayEvict: boolean, log: (line: string) => void): Promise<RedisConnection> {
  return redisConnection(await connectRedis(spec, { mayEvict, log }), { deadlineMs: DEADLINE_MS });
}

function closing(connection: RedisConnection): (error: unknown) => Promise<never> {
  return async (error) => {
    await connection.close();
    throw error;
  };
}
