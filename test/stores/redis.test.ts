import { after } from 'node:test';
import { openStore } from '../../src/stores/registry.ts';
import { startRedis } from '../redis-server.ts';
import { describeStoreContract } from './contract.ts';

const redis = await startRedis();
after(() => redis.stop());

const open = async () => {
  await redis.client.flushall();
  return openStore(redis.url);
};

describeStoreContract('the store on Redis', open, {
  spec: () => redis.url,
  expiresBySweep: false,
  callsOthers: true,
  // Leases end by the server's clock, which cannot be set.
  async passTime(ms) {
    for (const key of await redis.client.keys('*LEASE:*')) {
      await redis.client.pexpire(key, Math.max(0, (await redis.client.pttl(key)) - ms));
    }
  },
});
