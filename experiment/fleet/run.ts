import { openStore } from '../../src/stores/registry.ts';
import type { TimelineStore } from '../../src/stores/timeline-store.ts';
import { startRedis } from '../../test/redis-server.ts';
import { createRandom } from '../random.ts';
import { startCrew, wait } from './crew.ts';
import { drawFleetFaults, type FleetFault } from './fault-plan.ts';
import { type FleetOptions, regularMs } from './options.ts';
import { fleetSources } from './sources.ts';
import { type FleetTown, startFleetTown, type TownRequest } from './town.ts';

export interface FleetResult {
  readonly options: FleetOptions;
  readonly faults: readonly (FleetFault & { readonly gateway: number })[];
  readonly tokens: readonly TokenResult[];
  readonly sources: readonly SourceResult[];
}

export interface TokenResult {
  /** All requests. */
  readonly requests: number;
  readonly refused: number;
  /** The most in any stretch of the throttle's window, and of the headers'. */
  readonly mostThrottled: number;
  readonly mostOfAll: number;
}

export interface SourceResult {
  readonly key: string;
  readonly polls: number;
  /** The longest time between two polls that were answered, and when it began, ms since the run did. */
  readonly unpolledMs: number;
  readonly unpolledFromMs: number;
  /** Posts since its first poll that its log does not have at the end, and those that it has twice. */
  readonly missing: number;
  readonly twice: number;
}

/** What was asked within it makes a gateway busy. */
const BUSY_MS = 5000;

/** Runs a fleet on a real Redis in real time, with the faults of its seed. Ends early, with what it has, when `signal` aborts. */
export async function runFleet(options: FleetOptions, signal: AbortSignal): Promise<FleetResult> {
  const random = createRandom(options.seed + 1);
  const redis = await startRedis();
  const towns = await Promise.all(Array.from({ length: options.tokens }, () => startFleetTown(options, random)));
  for (const town of towns) town.publish();
  const order = { redisUrl: redis.url, urls: towns.map(({ url }) => url), options };
  const publishing = setInterval(() => towns.map((town) => town.publish()), 1000 / options.postsPerSecond);
  const crew = startCrew(order);
  try {
    // The fleet is up once each source was polled.
    const isUp = () => towns.every(({ requests }) => isEachPolled(requests, options));
    while (!isUp() && !signal.aborted) await wait(100, signal);
    const startMs = Date.now();
    const suffered = drawFleetFaults(options).map(async (fault) => {
      await wait(fault.atMs, signal);
      if (signal.aborted) return undefined;
      const gateway = busiest(towns, crew.up());
      await crew.suffer(gateway, fault, signal);
      return { ...fault, gateway };
    });
    await wait(options.runMs, signal);
    const faults = (await Promise.all(suffered)).filter((fault) => fault !== undefined);
    clearInterval(publishing);
    const endMs = Date.now();
    const counted = towns.map(({ requests }) => [...requests]);
    // What was written last is still to be read: a poll and a page more, for which nobody is disturbed.
    await wait(3 * regularMs(options), signal);
    await crew.stop();
    const store = await openStore(redis.url);
    const sources: SourceResult[] = [];
    for (const { key, logId, url, timeline } of fleetSources({ ...order, name: 'parent' }).sources) {
      const town = order.urls.indexOf(url);
      const path = `/api/v1/timelines/tag/${timeline.replace('tag #', '')}`;
      const all = pollsOf(counted[town] ?? [], path);
      const polls = all.filter((atMs) => atMs >= startMs);
      const log = await compareLog(store.timelines, logId, towns[town], all[0] ?? startMs);
      sources.push({ key, polls: polls.length, ...longestPause([...polls, endMs], startMs), ...log });
    }
    await store.close();
    return { options, faults, tokens: counted.map((requests) => tokenResult(requests, options)), sources };
  } finally {
    clearInterval(publishing);
    await crew.stop();
    await Promise.all(towns.map((town) => town.close()));
    await redis.stop();
  }
}

function tokenResult(requests: readonly TownRequest[], { throttle, headers }: FleetOptions): TokenResult {
  const times = (of: readonly TownRequest[]) => of.map(({ atMs }) => atMs);
  return {
    requests: requests.length,
    refused: requests.filter(({ isRefused }) => isRefused).length,
    mostThrottled: mostWithin(times(requests.filter(({ isThrottled }) => isThrottled)), throttle.windowMs),
    mostOfAll: mostWithin(times(requests), headers.windowMs),
  };
}

/** The most of the times (ascending) that lie within any stretch of `windowMs`. */
export function mostWithin(times: readonly number[], windowMs: number): number {
  let from = 0;
  let most = 0;
  for (const [at, timeMs] of times.entries()) {
    while ((times[from] ?? timeMs) <= timeMs - windowMs) from += 1;
    most = Math.max(most, at - from + 1);
  }
  return most;
}

/** Of those that are up, the gateway that asked the most of late. */
function busiest(towns: readonly FleetTown[], up: readonly number[]): number {
  const fromMs = Date.now() - BUSY_MS;
  const asked = towns.flatMap(({ requests }) => requests.filter(({ atMs }) => atMs >= fromMs));
  const count = (gateway: number) => asked.filter((request) => request.gateway === gateway).length;
  return up.toSorted((a, b) => count(b) - count(a))[0] ?? 0;
}

function isEachPolled(requests: readonly TownRequest[], { sourcesPerToken }: FleetOptions): boolean {
  return new Set(requests.map(({ path }) => path)).size >= sourcesPerToken;
}

function pollsOf(requests: readonly TownRequest[], path: string): readonly number[] {
  return requests.filter((each) => each.path === path && each.isTop && !each.isRefused).map(({ atMs }) => atMs);
}

function longestPause(times: readonly number[], startMs: number): { unpolledMs: number; unpolledFromMs: number } {
  let longest = { unpolledMs: 0, unpolledFromMs: 0 };
  for (const [at, timeMs] of times.entries()) {
    const fromMs = times[at - 1] ?? startMs;
    if (timeMs - fromMs > longest.unpolledMs) {
      longest = { unpolledMs: timeMs - fromMs, unpolledFromMs: fromMs - startMs };
    }
  }
  return longest;
}

async function compareLog(
  timelines: TimelineStore,
  logId: string,
  town: FleetTown | undefined,
  firstPollMs: number,
): Promise<Pick<SourceResult, 'missing' | 'twice'>> {
  const entries: string[] = [];
  for (let after: string | undefined; ; ) {
    const records = await timelines.recordsAfter({ logId, limit: 1000, ...(after !== undefined && { after }) });
    entries.push(...records.filter(({ kind }) => kind === 'entry').map(({ uri }) => uri.split('/').at(-1) ?? ''));
    after = records.at(-1)?.position;
    if (records.length < 1000) break;
  }
  const has = new Set(entries);
  const wanted = [...(town?.posts ?? [])].filter(([, { atMs }]) => atMs > firstPollMs);
  return { missing: wanted.filter(([id]) => !has.has(id)).length, twice: entries.length - has.size };
}
