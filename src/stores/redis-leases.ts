import { getAll, type RedisConnection, text } from './redis-connection.ts';
import type { RedisKeys } from './redis-keys.ts';
import { redisScript } from './redis-script.ts';
import type { LeaseStore, SecretStore } from './store.ts';

const ACQUIRE = redisScript('acquire');
const RELEASE = redisScript('release');

/** Leases as keys that end by the clock of Redis: those of the gateways need not agree. */
export function redisLeases(connection: RedisConnection, keys: RedisKeys): LeaseStore {
  return {
    acquire: async ({ name, holder, ttlMs }) =>
      (await connection.run(ACQUIRE, [keys.lease(name)], [holder, ttlMs])) === 1,
    async holders(names) {
      const values = await getAll(connection, names.map(keys.lease));
      return new Map(names.flatMap((name, n) => (values[n] ? [[name, text(values[n])]] : [])));
    },
    async release(name, holder) {
      await connection.run(RELEASE, [keys.lease(name)], [holder]);
    },
  };
}

/** Secrets as keys that are written once, and never expire. */
export function redisSecrets(connection: RedisConnection, keys: RedisKeys): SecretStore {
  return {
    async getOrCreate(name, candidate) {
      const before = await connection.call('set', keys.secret(name), candidate, 'NX', 'GET');
      return Buffer.isBuffer(before) ? before : Buffer.from(candidate);
    },
  };
}
