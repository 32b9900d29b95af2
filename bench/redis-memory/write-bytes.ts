import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { startRedis } from '../../test/redis-server.ts';
import { ourKeeper, type Scroll } from './keepers.ts';
import type { Pool } from './pool.ts';
import { HOUR_MS } from './workload.ts';

const VIEWERS = 200;
/** A life of 20 s, of which a twentieth passes soon. */
const SHORT = HOUR_MS / 20_000;

/** What a page makes Redis write, in bytes: to its append-only file, and to each replica. */
export interface WriteBytes {
  readonly page: string;
  readonly file: number;
  readonly replica: number;
}

/** Against a Redis with `appendonly yes` and one replica. */
export async function writeBytes(pool: Pool): Promise<readonly WriteBytes[]> {
  const server = await startRedis({ args: ['--appendonly', 'yes', '--auto-aof-rewrite-percentage', '0'] });
  const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', `${server.port}`] });
  while (!/master_link_status:up/.test(await replica.client.info('replication'))) await sleep(50);
  const rows: WriteBytes[] = [];
  const keeper = await ourKeeper({ url: server.url, pool, factor: 1 });
  const shortKeeper = await ourKeeper({ url: server.url, pool, factor: SHORT });

  async function measure(page: string, work: () => Promise<unknown>): Promise<void> {
    const before = await written(server.client);
    await work();
    const after = await written(server.client);
    const each = (key: 'file' | 'replica') => (after[key] - before[key]) / VIEWERS;
    rows.push({ page, file: each('file'), replica: each('replica') });
  }

  try {
    // The posts' references, which all feeds share.
    await keeper.first('first', 0);
    const scrolls: Scroll[] = [];
    const open = async (by: typeof keeper, name: string) => {
      scrolls.length = 0;
      for (let n = 0; n < VIEWERS; n += 1) scrolls.push(await by.first(`${name}${n}`, 0));
    };
    const readOn = async () => {
      for (const scroll of scrolls) await scroll.next(0);
    };
    await measure('a first page, whose feed is generated', () => open(keeper, 'u'));
    await measure('page 2 of a cached feed', readOn);
    await open(shortKeeper, 'v');
    await sleep(HOUR_MS / SHORT / 18);
    await measure('page 2, which lengthens the life of its feed', readOn);
    return rows;
  } finally {
    await keeper.close();
    await shortKeeper.close();
    await replica.stop();
    await server.stop();
  }
}

/** @see https://redis.io/docs/latest/commands/info/ */
async function written(client: Redis): Promise<{ file: number; replica: number }> {
  const info = `${await client.info('persistence')}\n${await client.info('replication')}`;
  const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? Number.NaN);
  return { file: field('aof_current_size'), replica: field('master_repl_offset') };
}
