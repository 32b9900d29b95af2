/** A Redis as the settings name it. */
export type RedisSpec = RedisUrlSpec | RedisSentinelSpec | RedisClusterSpec;

export interface RedisUrlSpec {
  readonly kind: 'redis';
  /** `redis://[user:password@]host[:port][/db]`, `rediss://` for TLS. */
  readonly url: string;
  readonly keyPrefix?: string | undefined;
}

/** The primary that the sentinels name. */
export interface RedisSentinelSpec extends RedisLogin {
  readonly kind: 'sentinel';
  readonly name: string;
  readonly sentinels: readonly RedisNode[];
  readonly sentinelUsername?: string | undefined;
  readonly sentinelPassword?: string | undefined;
  readonly db?: number | undefined;
}

/** A Redis Cluster, found by any of its nodes. */
export interface RedisClusterSpec extends RedisLogin {
  readonly kind: 'cluster';
  readonly nodes: readonly RedisNode[];
}

export interface RedisNode {
  readonly host: string;
  readonly port: number;
}

interface RedisLogin {
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly tls?: boolean | undefined;
  /** Lets several deployments share one Redis. */
  readonly keyPrefix?: string | undefined;
}

/** How messages name it: never with what logs in. */
export function redisName(spec: RedisSpec): string {
  if (spec.kind === 'redis') {
    const { protocol, host } = new URL(spec.url);
    return `${protocol}//${host}`;
  }
  const [first] = spec.kind === 'sentinel' ? spec.sentinels : spec.nodes;
  return `${spec.kind} at ${first?.host}:${first?.port}`;
}
