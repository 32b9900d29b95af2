import { freemem } from 'node:os';
import { type RedisServer, startRedis } from '../../test/redis-server.ts';
import { type Day, runDay } from './day.ts';
import {
  compressed,
  jsonIds,
  jsonItems,
  type Keeper,
  listKeeper,
  ourKeeper,
  packedIds,
  type Rendering,
} from './keepers.ts';
import type { Pool } from './pool.ts';
import { type Usage, viewerBytes, viewerUsedBytes } from './usage.ts';
import { createWorkload, DAY_MS, GENERATIONS, HOUR_MS } from './workload.ts';

const SEED = 1;
/** The figures begin when the first readers have come back. */
const FROM_MS = 4 * HOUR_MS;
/** Of what this machine can generate a second, so that no reader waits. */
const OURS_SHARE = 0.4;
/** Feeds that are generated to know it. */
const TRIED = 200;
/** Below so many a day fewer viewers are loaded. */
const FULL_MINUTES = 4;
/** Bytes of new feeds a second: two cores make, send and keep as many even when others share the machine. */
const BYTES_A_SECOND = 45e6;
/** With TTLs of seconds what has expired must go as promptly as with TTLs of an hour. */
const SERVER = ['--hz', '100', '--active-expire-effort', '10'];

/** One way of keeping feeds. */
export interface Variant {
  readonly name: string;
  readonly isOurs: boolean;
  /** The part of a day's instances that live at once, and about the bytes of each: for what fits into memory. */
  readonly ttlMs: number;
  readonly about: number;
  open(deps: { url: string; pool: Pool; factor: number }): Promise<Keeper>;
}

function list(name: string, hours: number, about: number, rendering: Rendering): Variant {
  const ttlMs = hours * HOUR_MS;
  const open: Variant['open'] = async (deps) => listKeeper({ ...deps, ttlMs, render: rendering(deps.pool) });
  return { name, isOurs: false, ttlMs, about, open };
}

export const JSON_1H = 'JSON items, 1 h';
export const IDS_1H = 'JSON array of ids, 1 h';
export const PACKED_1H = 'packed 8-byte ids, 1 h';
export const OURS = 'Sluice, 1 h, continued by the cursor';
export const VARIANTS: readonly Variant[] = [
  list('JSON items, 30 min', 0.5, 66_000, jsonItems),
  list(JSON_1H, 1, 66_000, jsonItems),
  list('JSON items, 24 h', 24, 66_000, jsonItems),
  list(IDS_1H, 1, 12_500, jsonIds),
  list(PACKED_1H, 1, 4_250, packedIds),
  list('packed 8-byte ids, 24 h', 24, 4_250, packedIds),
  list('zstd of JSON ids, 1 h', 1, 4_250, compressed(jsonIds)),
  list('zstd of JSON ids, 24 h', 24, 4_250, compressed(jsonIds)),
  list('zstd of JSON items, 1 h', 1, 11_000, compressed(jsonItems)),
  list('zstd of JSON items, 24 h', 24, 11_000, compressed(jsonItems)),
  { name: OURS, isOurs: true, ttlMs: HOUR_MS, about: 5600, open: ourKeeper },
];

/** A day of one variant, in bytes for all viewers. */
export interface Result {
  readonly variant: Variant;
  /** Loaded for real; the bytes of what is kept of viewers are multiplied by `scale`. */
  readonly loaded: number;
  readonly scale: number;
  /** Why not all were. */
  readonly why: readonly string[];
  /** Ms of the day in a ms of real time. */
  readonly factor: number;
  readonly line: readonly { readonly hour: number; readonly bytes: number }[];
  /** Mean from hour 4 on and peak of the keys' bytes; mean of what used_memory has grown by. */
  readonly mean: number;
  readonly peak: number;
  readonly used: number;
  readonly references: number;
  /** Mean of an instance's key. */
  readonly instanceBytes: number;
  readonly day: Day;
}

/** Runs it in a Redis of its own, which is empty at first. */
export async function runVariant(
  variant: Variant,
  options: { viewers: number; minutes: number; pool: Pool },
): Promise<Result> {
  const { viewers, minutes, pool } = options;
  const factor = DAY_MS / (minutes * 60_000);
  const server: RedisServer = await startRedis({ args: SERVER });
  try {
    const keeper = await variant.open({ url: server.url, pool, factor });
    const aSecond = variant.isOurs ? await generationsASecond(keeper) : Number.POSITIVE_INFINITY;
    await server.client.flushall('SYNC');
    const { loaded, why } = loadable(variant, viewers, minutes, aSecond);
    const scale = viewers / loaded;
    const visits = createWorkload(loaded, SEED);
    const day = await runDay({ keeper, visits, factor, client: server.client });
    await keeper.close();
    const counted = day.samples.filter(({ atMs }) => atMs >= FROM_MS).map(({ usage }) => usage);
    const mean = (of: (usage: Usage) => number) => counted.reduce((sum, each) => sum + of(each), 0) / counted.length;
    const references = mean(({ keys }) => keys.reference.bytes);
    const instances = mean(({ keys }) => keys.instance.count);
    return {
      variant,
      loaded,
      scale,
      why,
      factor,
      line: day.samples.map(({ atMs, usage }) => ({ hour: atMs / HOUR_MS, bytes: viewerBytes(usage) * scale })),
      mean: mean(viewerBytes) * scale,
      peak: Math.max(...day.samples.map(({ usage }) => viewerBytes(usage))) * scale,
      // All viewers share the references.
      used: mean(viewerUsedBytes) * scale + references,
      references,
      instanceBytes: mean(({ keys }) => keys.instance.bytes) / instances,
      day,
    };
  } finally {
    await server.stop();
  }
}

/** How many first pages a second this process makes, one after the other. */
async function generationsASecond(keeper: Keeper): Promise<number> {
  const fromMs = performance.now();
  for (let n = 0; n < TRIED; n += 1) await keeper.first(`try-${n}`, 0);
  return (1000 * TRIED) / (performance.now() - fromMs);
}

/** As many viewers as two cores serve in the time, and as a third of the free memory holds. */
function loadable({ isOurs, ttlMs, about }: Variant, viewers: number, minutes: number, aSecond: number) {
  const made = Math.round((OURS_SHARE * aSecond * minutes * 60) / GENERATIONS);
  const inTime = Math.min(made, Math.round(viewers * Math.min(1, minutes / FULL_MINUTES)));
  const held = freemem() / 3 / (GENERATIONS * (ttlMs / DAY_MS) * about);
  const sent = (BYTES_A_SECOND * minutes * 60) / (GENERATIONS * about);
  const share = 2 ** Math.min(0, Math.floor(Math.log2(Math.min(held, sent) / inTime)));
  const why = [
    ...(isOurs && made < viewers
      ? [
          `one process generates ${Math.round(aSecond)} feeds a second here, of which the day may ask for ${100 * OURS_SHARE} %`,
        ]
      : []),
    ...(minutes < FULL_MINUTES ? [`in ${minutes} min the machine serves fewer than in ${FULL_MINUTES}`] : []),
    ...(held < inTime ? ['more do not fit into a third of the free memory'] : []),
    ...(sent < inTime ? ['more bytes a second are beyond two cores'] : []),
  ];
  return { loaded: Math.max(1, Math.min(viewers, Math.round(inTime * share))), why };
}
