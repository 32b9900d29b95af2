import { after } from 'node:test';
import type { Redis } from 'ioredis';
import { openStore } from '../../src/stores/registry.ts';
import { startRedis } from '../redis-server.ts';
import { describeStoreContract } from './contract.ts';

const redis = await startRedis();
const other = await startRedis();
after(async () => {
  await Promise.all([redis.stop(), other.stop()]);
});

/** Leases end by the server's clock, which cannot be set. */
async function passTime(client: Redis, ms: number): Promise<void> {
  for (const key of await client.keys('*LEASE:*')) {
    await client.pexpire(key, Math.max(0, (await client.pttl(key)) - ms));
  }
}

const open = async () => {
  await redis.client.flushall();
  return openStore(redis.url);
};

describeStoreContract('the store on Redis', open, {
  spec: () => redis.url,
  expiresByCall: false,
  callsOthers: true,
  passTime: (ms) => passTime(redis.client, ms),
});

const openApart = async () => {
  await Promise.all([redis.client.flushall(), other.client.flushall()]);
  return openStore({ feeds: redis.url, timelines: { kind: 'redis', url: other.url, keyPrefix: 'main:' } });
};

describeStoreContract('the store on two Redis, feeds apart', openApart, {
  expiresByCall: false,
  passTime: (ms) => passTime(other.client, ms),
});
