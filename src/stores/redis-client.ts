import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { ConfigError, StoreUnavailableError } from '../errors.ts';
import { type RedisSpec, redisName } from './redis-spec.ts';

/** A call that takes longer has failed: a page does not wait for more. */
export const DEADLINE_MS = 2000;
/** A Redis that starts beside the gateway is waited for. */
const START_MS = 10_000;
const LEAST_MAJOR = 7;

const COMMON = {
  enableAutoPipelining: true,
  // What cannot be sent now fails now: nothing runs later that nobody waits for any more.
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  // Without it ioredis never ends what was under way when a connection was lost, and an automatic pipeline waits for it for ever.
  maxRetriesPerRequest: 0,
  connectTimeout: 3000,
  socketTimeout: 2 * DEADLINE_MS,
  retryStrategy: (times: number) => Math.min(50 * times, 1000),
  // A primary that has become a replica: the sentinels know the new one.
  reconnectOnError: (error: Error) => (/^READONLY|READONLY You can't write/.test(error.message) ? 1 : false),
} satisfies Partial<RedisOptions>;

/**
 * Connects, and waits until Redis answers. Throws StoreUnavailableError when it does not in 10 s, ConfigError for one that is too old
 * or evicts what must not be lost; `mayEvict` admits that.
 */
export async function connectRedis(
  spec: RedisSpec,
  options: { mayEvict: boolean; log: (line: string) => void; startMs?: number },
): Promise<Redis | Cluster> {
  const client = createClient(spec);
  const name = redisName(spec);
  let lastError: Error | undefined;
  client.on('error', (error: Error) => {
    lastError = error;
  });
  try {
    await untilReady(client, options.startMs ?? START_MS, () => lastError, name);
    for (const node of client instanceof Cluster ? client.nodes('master') : [client]) {
      check(name, await node.info(), options.mayEvict);
    }
  } catch (error) {
    client.disconnect();
    throw error;
  }
  watch(client, name, options.log);
  return client;
}

/**
 * A connection that listens to a channel, from when Redis answers on: that it does not yet costs signals, which may be lost.
 */
export function subscribeRedis(spec: RedisSpec, channel: string): Redis | Cluster {
  const client = createClient(spec);
  client.on('error', () => {});
  client.on('ready', () => void client.subscribe(channel).catch(() => {}));
  return client;
}

function createClient(spec: RedisSpec): Redis | Cluster {
  if (spec.kind === 'redis') return new Redis(spec.url, COMMON);
  const login = {
    ...(spec.username !== undefined && { username: spec.username }),
    ...(spec.password !== undefined && { password: spec.password }),
    ...(spec.tls && { tls: {} }),
  };
  if (spec.kind === 'sentinel') {
    const { name, sentinels, sentinelUsername, sentinelPassword, db = 0 } = spec;
    return new Redis({
      ...COMMON,
      ...login,
      ...{ name, sentinels: [...sentinels], db, role: 'master' },
      ...(sentinelUsername !== undefined && { sentinelUsername }),
      ...(sentinelPassword !== undefined && { sentinelPassword }),
      ...(spec.tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
      sentinelRetryStrategy: (times: number) => Math.min(50 * times, 1000),
    });
  }
  const { retryStrategy, enableOfflineQueue, enableAutoPipelining, ...node } = COMMON;
  return new Cluster([...spec.nodes], {
    enableAutoPipelining,
    enableOfflineQueue,
    clusterRetryStrategy: retryStrategy,
    slotsRefreshTimeout: DEADLINE_MS,
    retryDelayOnFailover: 200,
    retryDelayOnClusterDown: 200,
    retryDelayOnTryAgain: 100,
    redisOptions: { ...node, ...login },
  });
}

async function untilReady(
  client: Redis | Cluster,
  startMs: number,
  lastError: () => Error | undefined,
  name: string,
): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const why = lastError()?.message ?? 'it does not answer';
    reject(new StoreUnavailableError(`store: ${name} cannot be reached: ${why}`));
  }, startMs);
  const ready = new Promise<void>(
    (resolve) => void (client.status === 'ready' ? resolve() : client.once('ready', resolve)),
  );
  await Promise.race([ready, late]).finally(() => clearTimeout(timer));
}

/** @see https://redis.io/docs/latest/commands/info/ */
function check(name: string, info: string, mayEvict: boolean): void {
  const field = (key: string) => new RegExp(`^${key}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
  const version = field('redis_version');
  if (Number.parseInt(version, 10) < LEAST_MAJOR) {
    throw new ConfigError(`store: ${name} is Redis ${version}, required ${LEAST_MAJOR}.0 or newer`);
  }
  const policy = field('maxmemory_policy');
  // volatile-random takes references and leases as soon as feeds.
  if ((policy.startsWith('allkeys-') || policy === 'volatile-random') && !mayEvict) {
    throw new ConfigError(
      `store: ${name} has maxmemory-policy ${policy}, which would lose more than feeds: required noeviction or volatile-ttl, or a Redis of its own for feeds: store: { feeds, timelines }`,
    );
  }
}

function watch(client: Redis | Cluster, name: string, log: (line: string) => void): void {
  let isLost = false;
  client.on('close', () => {
    if (!isLost) log(`store: the connection to ${name} is lost`);
    isLost = true;
  });
  client.on('ready', () => {
    if (isLost) log(`store: ${name} answers again`);
    isLost = false;
  });
}
