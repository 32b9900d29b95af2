import type { Redis } from 'ioredis';
import { createIdGenerator } from '../src/ids/generator.ts';
import { CECOCHAT } from '../src/ids/snowflake.ts';
import { startRedis } from '../test/redis-server.ts';
import { startCrew } from './redis-pages/crew.ts';
import type { Job } from './redis-pages/gateway.ts';
import { load } from './redis-pages/load.ts';
import { machine, median, percentile, print, short, sideBySide } from './side-by-side.ts';

/** Pages of cached feeds over a real Redis beside its bare GETRANGE, and ids a second beside what their layout allows. */
const ROUNDS = 9;
/** Of the CPU of Redis a page, with many readers at once: it is what all gateways share. */
const MAX_REDIS_MICROS = 40;
const VIEWERS = 100;
const AT_ONCE = 32;
const IDS = 262_144;
const BATCH = 16_384;

interface Row {
  readonly name: string;
  readonly gateways: number;
  readonly job: Job;
}

const ROWS: readonly Row[] = [
  { name: 'bare GETRANGE', gateways: 1, job: { work: 'GETRANGE', total: 20_000, atOnce: AT_ONCE } },
  { name: 'cut + posts', gateways: 1, job: { work: 'cut + posts', total: 2_000, atOnce: AT_ONCE } },
  { name: 'whole page', gateways: 1, job: { work: 'page', total: 1_000, atOnce: AT_ONCE } },
  { name: 'bare GETRANGE', gateways: 2, job: { work: 'GETRANGE', total: 20_000, atOnce: AT_ONCE } },
  { name: 'cut + posts', gateways: 2, job: { work: 'cut + posts', total: 2_000, atOnce: AT_ONCE } },
  { name: 'whole page', gateways: 2, job: { work: 'page', total: 1_000, atOnce: AT_ONCE } },
  { name: 'bare GETRANGE', gateways: 1, job: { work: 'GETRANGE', total: 2_000, atOnce: 1 } },
  { name: 'cut + posts', gateways: 1, job: { work: 'cut + posts', total: 500, atOnce: 1 } },
  { name: 'whole page', gateways: 1, job: { work: 'page', total: 500, atOnce: 1 } },
];

console.log(machine());
await pages();
await ids();

async function pages(): Promise<void> {
  const server = await startRedis();
  const crew = await startCrew(2, { url: server.url, feeds: await load(server.url, VIEWERS) });
  const p99s = ROWS.map((): number[] => []);
  const redisMs = ROWS.map((): number[] => []);
  const works = ROWS.map(({ name, gateways, job }, n) => {
    const work = async () => {
      const before = await cpuMs(server.client);
      p99s[n]?.push(percentile(await crew.run(gateways, job), 0.99));
      redisMs[n]?.push((await cpuMs(server.client)) - before);
    };
    return [name, work] as const;
  });
  const times = await sideBySide(works, ROUNDS);
  const rates = ROWS.map(({ job }, n) => (1000 * job.total) / (times[n] ?? Number.NaN));
  const bareRate = (row: Row) =>
    rates[ROWS.findIndex(({ gateways, job }) => gateways === row.gateways && job.atOnce === row.job.atOnce)] ?? 0;
  print(
    'Page 2 to 25 of a cached feed, 20 items with their posts (`bench:redis`)',
    ['what', 'gateways', 'at once in each', 'a second', 'p99 ms', 'CPU ms of Redis', 'beside GETRANGE'],
    ROWS.map((row, n) => [
      row.name,
      row.gateways,
      row.job.atOnce,
      short(rates[n] ?? 0),
      // Without the first round, which warms up.
      short(median(p99s[n]?.slice(1) ?? [])),
      short(median(redisMs[n]?.slice(1) ?? []) / row.job.total),
      `1 / ${short(bareRate(row) / (rates[n] ?? 0))}`,
    ]),
  );
  for (const [n, { name, gateways, job }] of ROWS.entries()) {
    if (job.work !== 'page' || job.atOnce === 1) continue;
    const micros = (1000 * median(redisMs[n]?.slice(1) ?? [])) / job.total;
    const holds = micros <= MAX_REDIS_MICROS;
    if (!holds) process.exitCode = 1;
    const says = `a ${name}, ${gateways * job.atOnce} at once: ${short(micros)} µs of the CPU of Redis, at most ${MAX_REDIS_MICROS}`;
    console.log(`${holds ? 'holds ' : 'MISSED'}  ${says}`);
  }
  await crew.stop();
  await server.stop();
}

/** What the thread that runs all commands has spent. @see https://redis.io/docs/latest/commands/info/ */
async function cpuMs(client: Redis): Promise<number> {
  const info = await client.info('cpu');
  const seconds = (kind: string) => Number(new RegExp(`^used_cpu_${kind}_main_thread:(.*)`, 'm').exec(info)?.[1]);
  return 1000 * (seconds('user') + seconds('sys'));
}

async function ids(): Promise<void> {
  const generator = createIdGenerator({ generator: 7, now: Date.now });
  const works = [
    ['next()', () => times(IDS, () => generator.next())],
    [`batch(${BATCH.toLocaleString('en')})`, () => times(IDS / BATCH, () => generator.batch(BATCH))],
  ] as const;
  const taken = await sideBySide(works, ROUNDS);
  const most = 1000 * 2 ** CECOCHAT.sequenceBits;
  print(
    'Ids of one generator',
    ['how', 'ids/s', `of the layout's ${most.toLocaleString('en')}`],
    works.map(([name], n) => {
      const rate = (1000 * IDS) / (taken[n] ?? Number.NaN);
      return [name, short(rate), `${short((100 * rate) / most)} %`];
    }),
  );
}

function times(count: number, work: () => unknown): void {
  for (let n = 0; n < count; n += 1) work();
}
