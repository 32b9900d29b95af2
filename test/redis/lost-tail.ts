import type { RedisServer } from '../redis-server.ts';
import type { Shard } from './cluster.ts';

/** More than the kernel holds of a connection whose other end does not read. */
const BALLAST = 32;
const BALLAST_BYTES = 1_000_000;

/**
 * Kills a primary so that its replica never gets what `work` writes: the replica stands still before, while the primary has
 * much to tell it, and goes on after. `key` is any key of this shard.
 */
export async function killWithLostTail(
  { primary, replica }: Shard,
  key: string,
  work: () => Promise<void>,
): Promise<void> {
  if (!replica) throw new Error('this primary has no replica');
  await untilCopied(primary, key);
  replica.freeze();
  try {
    for (let n = 0; n < BALLAST; n += 1) await primary.client.set(key, Buffer.alloc(BALLAST_BYTES));
    await primary.client.del(key);
    await work();
    await primary.kill();
  } finally {
    replica.thaw();
  }
}

async function untilCopied({ client }: RedisServer, key: string): Promise<void> {
  await client.set(key, '');
  if ((await client.wait(1, 10_000)) < 1) throw new Error('the replica does not copy');
}
