import type { GeneratorStore } from './generator-store.ts';
import { list, type RedisConnection, text } from './redis-connection.ts';
import type { RedisKeys } from './redis-keys.ts';
import { redisScript } from './redis-script.ts';

const LEASE = redisScript('lease-generator', 'history');
const RELEASE = redisScript('release');

/** All of it in one slot. Leases end by the clock of Redis. */
export function redisGenerators(connection: RedisConnection, keys: RedisKeys): GeneratorStore {
  const { generators } = keys;
  return {
    async lease({ holder, generator, ttlMs, markMs, pauseMs }) {
      const values = [holder, generator ?? '', ttlMs, markMs, pauseMs, `${generators}LEASE:`];
      const reply = await connection.run(LEASE, [`${generators}marks`, `${generators}pause`], values);
      if (!Array.isArray(reply)) return text(reply) as 'none free' | 'paused';
      const [number, afterMs] = list(reply).map((each) => Number(text(each)));
      return { generator: number ?? 0, afterMs: afterMs ?? 0 };
    },
    async release(holder, generator) {
      await connection.run(RELEASE, [`${generators}LEASE:${generator}`], [holder]);
    },
  };
}
