import type { QuotaStore } from './quota-store.ts';
import type { RedisConnection } from './redis-connection.ts';
import type { RedisKeys } from './redis-keys.ts';
import { redisScript } from './redis-script.ts';

const TAKE = redisScript('take-quota');

/** A key outlives its last turn by so long: the clocks of gateways and of Redis need not agree to the second. */
const KEEP_MS = 60_000;

/** Quotas, a key each, which ends by itself. */
export function redisQuotas(connection: RedisConnection, keys: RedisKeys): QuotaStore {
  return {
    async take({ name, count, everyMs, burst, nowMs }) {
      const every = Math.max(1, Math.round(everyMs * 1000));
      const values = [count, every, burst, Math.floor(nowMs * 1000), KEEP_MS];
      return Number(await connection.run(TAKE, [keys.quota(name)], values));
    },
  };
}
