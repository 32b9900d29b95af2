import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { percentile } from '../side-by-side.ts';
import type { Keeper, Scroll } from './keepers.ts';
import { type Usage, usageOf } from './usage.ts';
import { DAY_MS, type Visit } from './workload.ts';

/** A sample every 15 min of the day. */
const SAMPLES = 96;
/** More requests at once than this wait: what is late is told. */
const AT_ONCE = 200;

/** What a day came to. */
export interface Day {
  /** In order of time, from an empty Redis on; `usedBytes` less what is left when all keys are deleted. */
  readonly samples: readonly { readonly atMs: number; readonly usage: Usage }[];
  readonly generations: number;
  /** Pages asked for with a cursor, but for those of scrolls that had ended dead. */
  readonly laterPages: number;
  readonly dead: number;
  readonly repeated: number;
  /** Real ms that requests began after their time, the 99th percentile. */
  readonly lateMs: number;
}

/** Plays the visits against real time, `factor` ms of the day in each. */
export async function runDay(day: {
  keeper: Keeper;
  visits: readonly Visit[];
  factor: number;
  client: Redis;
}): Promise<Day> {
  const { keeper, visits, factor, client } = day;
  const count = { generations: 0, laterPages: 0, dead: 0, repeated: 0 };
  const late: number[] = [];
  const samples: { atMs: number; usage: Usage }[] = [];
  const scrolls = new Map<number, Promise<Scroll | undefined>>();
  const underWay = new Set<Promise<unknown>>();
  const startMs = performance.now();
  const untilMs = (atMs: number) => startMs + atMs / factor - performance.now();

  async function visit({ viewerId, scroll, isFirst, atMs }: Visit): Promise<Scroll | undefined> {
    if (isFirst) {
      count.generations += 1;
      return keeper.first(viewerId, atMs);
    }
    // A reader asks for a page only after the one before.
    const reading = await scrolls.get(scroll);
    if (!reading) return undefined;
    const { isDead, repeats } = await reading.next(atMs);
    count.laterPages += 1;
    if (isDead) count.dead += 1;
    if (repeats) count.repeated += 1;
    return isDead ? undefined : reading;
  }

  async function sampleOn(): Promise<void> {
    for (let n = 1; n <= SAMPLES; n += 1) {
      const atMs = (n * DAY_MS) / SAMPLES;
      await sleep(Math.max(0, untilMs(atMs)));
      samples.push({ atMs, usage: await usageOf(client) });
    }
  }

  async function visitOn(): Promise<void> {
    for (const one of visits) {
      // A turn of the event loop at least, so that replies are read: a timer would take a ms.
      const waitMs = untilMs(one.atMs);
      await (waitMs > 1 ? sleep(waitMs) : nextTurn());
      while (underWay.size >= AT_ONCE) await Promise.race(underWay);
      late.push(Math.max(0, -untilMs(one.atMs)));
      const work = visit(one);
      if (one.isLast) scrolls.delete(one.scroll);
      else scrolls.set(one.scroll, work);
      underWay.add(work);
      // A failure stays in the set, so that it ends the run.
      work.then(
        () => underWay.delete(work),
        () => {},
      );
    }
    await Promise.all(underWay);
  }

  await Promise.all([visitOn(), sampleOn()]);
  // Afterwards, because then the clients' buffers and the scripts are what they were all day.
  await client.flushall('SYNC');
  const { usedBytes: without } = await usageOf(client);
  return {
    ...count,
    lateMs: percentile(late, 0.99),
    samples: samples.map(({ atMs, usage }) => ({ atMs, usage: { ...usage, usedBytes: usage.usedBytes - without } })),
  };
}
