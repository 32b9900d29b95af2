import type { NamedLimit } from '../../upstreams/upstream.ts';
import { PARTS, type Pool } from './pools.ts';

/** A limit that an upstream told, from then until its reset. Times are monotonic, ms. */
export interface Window {
  readonly name: string;
  readonly limit: number;
  /** How long it was when first seen, and what was left then: that is shared out. */
  readonly lengthMs: number;
  readonly shared: number;
  readonly toldAtMs: number;
  readonly resetAtMs: number;
  readonly remaining: number;
  /** The window before it ended, and no reply told of this one yet. */
  readonly isAssumed: boolean;
}

/** A limit whose reset is told as a stretch of time from now, so that no clock matters. */
export type ToldLimit = Omit<NamedLimit, 'resetAtMs' | 'endpoint'> & { readonly resetInMs: number };

/** A reset that moves by less is the same window's: some servers reckon it anew in whole seconds for each reply. */
export const SAME_RESET_MS = 5000;
/** The longest that a header is believed; Twitter's longest window is a day. */
export const LONGEST_MS = 25 * 3_600_000;
const MOST_LENT = 0.9;
/** Without a reply, a window that ended is taken to go on as it was for at least so long. */
const LEAST_ASSUMED_MS = 900_000;
/** No upstream tells more of them at once. */
const MOST_WINDOWS = 8;

/** What holds after a reply: all limits that it told. So many other requests may be missing in what it tells to remain. */
export function learn(
  windows: readonly Window[],
  limits: readonly ToldLimit[],
  missing: number,
  nowMs: number,
): readonly Window[] {
  let others = windows;
  const believed = limits.filter(({ resetInMs }) => resetInMs > 0 && resetInMs <= LONGEST_MS);
  const told = believed.map(({ name, limit, remaining: toldRemaining, resetInMs }): Window => {
    const remaining = Math.max(0, Math.min(toldRemaining, limit) - missing);
    const resetAtMs = nowMs + resetInMs;
    const like = others.filter((each) => each.name === name && each.limit === limit);
    const same = like.find((each) => !each.isAssumed && isNear(each.resetAtMs, resetAtMs));
    // A window that slides: its reset comes no nearer.
    const replaced = same ?? like.find((each) => each.isAssumed || isNear(each.resetAtMs - each.toldAtMs, resetInMs));
    others = others.filter((each) => each !== replaced);
    if (same) return { ...same, remaining: Math.min(same.remaining, remaining) };
    const shares = { lengthMs: resetInMs, shared: remaining, remaining };
    return { name, limit, ...shares, toldAtMs: nowMs, resetAtMs, isAssumed: false };
  });
  return [...others.filter(({ isAssumed }) => !isAssumed), ...told].slice(-MOST_WINDOWS);
}

/** Until a reply tells, the window that followed is taken to be as the one that ended, with so many requests spent. */
export function following(ended: Window, spent: number, nowMs: number): Window {
  const lastsMs = Math.max(ended.lengthMs, LEAST_ASSUMED_MS);
  const resetAtMs = ended.resetAtMs + (Math.floor((nowMs - ended.resetAtMs) / lastsMs) + 1) * lastsMs;
  const { limit } = ended;
  return { ...ended, shared: limit, remaining: Math.max(1, limit - spent), resetAtMs, isAssumed: true };
}

/** ms from one request of that pool to the next, so that it has its part until the reset. */
export function intervalMs(window: Window, pool: Pool, nowMs: number): number {
  return 1 / Math.max(1e-9, rate(window, pool, nowMs));
}

/** True while one request more of that pool, and one of so many others, leaves the other pools their part until the reset. */
export function hasSpare(window: Window, pool: Pool, others: number, nowMs: number): boolean {
  const { resetAtMs, lengthMs, shared, remaining } = window;
  const reserve = (1 - PARTS[pool]) * shared * Math.min(1, (resetAtMs - nowMs) / lengthMs);
  return remaining - reserve >= 1 + Math.min(others, shared / 2);
}

/** The same window in another time, which is so much ahead. */
export function shift(window: Window, byMs: number): Window {
  return { ...window, toldAtMs: window.toldAtMs + byMs, resetAtMs: window.resetAtMs + byMs };
}

/** Requests a ms. All that is left is spread over the time that is left, but never faster than at first. */
function rate({ shared, lengthMs, remaining, resetAtMs, isAssumed }: Window, pool: Pool, nowMs: number): number {
  const first = shared / lengthMs;
  const left = Math.max(0, remaining) / (resetAtMs - nowMs);
  const even = isAssumed && remaining > 0 ? first : Math.min(first, left);
  if (pool === 'byId' || isAssumed) return PARTS[pool] * even;
  return Math.min(MOST_LENT * first, left - (1 - PARTS[pool]) * even);
}

function isNear(aMs: number, bMs: number): boolean {
  return Math.abs(aMs - bMs) < SAME_RESET_MS;
}
