import { startRedis } from '../../test/redis-server.ts';
import { ourKeeper } from './keepers.ts';
import type { Pool } from './pool.ts';
import { usageOf, viewerBytes, viewerUsedBytes } from './usage.ts';

const VIEWERS = 500;

/** What one viewer with one instance of 500 items takes, in bytes. */
export interface InstanceBytes {
  readonly instance: number;
  readonly current: number;
  /** These two: every key that is written for an instance. */
  readonly all: number;
  /** `all` by used_memory. */
  readonly used: number;
  /** A post's, which all instances share. */
  readonly reference: number;
}

/** Publishes an instance for each of 500 viewers as a first page does, and asks `MEMORY USAGE … SAMPLES 0` of every key. */
export async function instanceBytes(pool: Pool): Promise<InstanceBytes> {
  const server = await startRedis();
  try {
    const keeper = await ourKeeper({ url: server.url, pool, factor: 1 });
    for (let n = 0; n < VIEWERS; n += 1) await keeper.first(`u${123_456 + n}`, 0);
    const usage = await usageOf(server.client);
    await server.client.flushall('SYNC');
    const { usedBytes: without } = await usageOf(server.client);
    const { instance, current, reference } = usage.keys;
    await keeper.close();
    if (instance.count !== VIEWERS || current.count !== VIEWERS) throw new Error('each viewer has two keys');
    return {
      instance: instance.bytes / VIEWERS,
      current: current.bytes / VIEWERS,
      all: viewerBytes(usage) / VIEWERS,
      used: viewerUsedBytes({ ...usage, usedBytes: usage.usedBytes - without }) / VIEWERS,
      reference: reference.bytes / reference.count,
    };
  } finally {
    await server.stop();
  }
}
