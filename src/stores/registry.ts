import type { Clock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import { openRedisStore } from './redis.ts';
import { type RedisSpec, redisName } from './redis-spec.ts';
import { openSqliteStore } from './sqlite.ts';
import type { Store } from './store.ts';

/** Where things are kept, as the settings have it: `sqlite:PATH`, `sqlite::memory:`, a URL of Redis, or a Redis of another topology. */
export type StoreSpec =
  | string
  | RedisSpec
  | { readonly feeds: string | RedisSpec; readonly timelines: string | RedisSpec };

/**
 * Opens the store that the settings name; adding a kind is one file and one line here.
 * Throws StoreUnavailableError, and ConfigError, whose message never holds more of the spec than its kind: a URL may carry a password.
 */
export async function openStore(
  spec: StoreSpec,
  options: { clock?: Clock; log?: (line: string) => void } = {},
): Promise<Store> {
  if (typeof spec === 'object' && 'feeds' in spec) {
    return openRedisStore({ feeds: requireRedis(spec.feeds), timelines: requireRedis(spec.timelines) }, options);
  }
  if (typeof spec === 'string' && spec.startsWith('sqlite:'))
    return openSqliteStore({ file: spec.slice('sqlite:'.length) });
  const redis = asRedis(spec);
  if (redis) return openRedisStore({ feeds: redis, timelines: redis }, options);
  throw new ConfigError(`store: required sqlite:PATH, sqlite::memory: or redis://HOST, got ${kindOf(spec)}`);
}

/** How people see what the settings name: without what logs in. */
export function storeName(spec: StoreSpec): string {
  if (typeof spec === 'object' && 'feeds' in spec) {
    return `feeds in ${storeName(spec.feeds)}, timelines in ${storeName(spec.timelines)}`;
  }
  const redis = asRedis(spec);
  return redis ? redisName(redis) : String(spec);
}

const KINDS: readonly string[] = ['redis', 'sentinel', 'cluster'];

function asRedis(spec: string | RedisSpec): RedisSpec | undefined {
  if (typeof spec === 'object') return KINDS.includes(spec.kind) ? spec : undefined;
  return /^rediss?:\/\//.test(spec) && URL.canParse(spec) ? { kind: 'redis', url: spec } : undefined;
}

function requireRedis(spec: string | RedisSpec): RedisSpec {
  const redis = asRedis(spec);
  if (!redis) throw new ConfigError(`store: feeds and timelines apart are two Redis, got ${kindOf(spec)}`);
  return redis;
}

function kindOf(spec: string | RedisSpec): string {
  const kind = typeof spec === 'string' ? /^[a-z][a-z0-9+-]*(?=:)/i.exec(spec)?.[0].toLowerCase() : spec.kind;
  return kind || 'no kind';
}
