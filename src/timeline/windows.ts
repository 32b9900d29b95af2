import type { NamedLimit } from '../upstreams/upstream.ts';

/** What work is for. */
export type Share = 'poll' | 'fill' | 'sweep';

/** Whose part of the budget a request comes out of. `upkeep`: fills and sweeps, which share it; fills go first. */
export type Pool = 'poll' | 'upkeep' | 'byId';

/** All limits that an upstream told about one endpoint, or one token. They all hold at once. */
export interface Windows {
  /** ms until one more request is allowed; 0: now. */
  waitMs(): number;
  /** ms from one request of that pool to the next, so that it has its part until the reset; undefined where nothing is told. */
  intervalMs(pool: Pool): number | undefined;
  /** True while one request more of that pool, and one of so many others, leaves the other pools their part until the reset. */
  hasSpare(pool: Pool, others: number): boolean;
  /** ms until something changes by itself: the next reset. */
  nextResetMs(): number | undefined;
  sent(requests: number): void;
  /** Learns from a reply: all limits that it told. So many other requests may be missing in what it tells to remain. */
  note(limits: readonly ToldLimit[], missing: number): void;
}

/** A limit whose reset is told as a stretch of time from now, so that no clock matters. */
export type ToldLimit = Omit<NamedLimit, 'resetAtMs' | 'endpoint'> & { readonly resetInMs: number };

/** Polls have 70 %, fills and sweeps 20 %, and up to 90 % of what the others left: what those may need until the reset is never lent. */
export const PARTS: Readonly<Record<Pool, number>> = { poll: 0.7, upkeep: 0.2, byId: 0.1 };
const MOST_LENT = 0.9;
/** A reset that moves by less is the same window's: some servers reckon it anew in whole seconds for each reply. */
const SAME_RESET_MS = 5000;
/** The longest that a header is believed; Twitter's longest window is a day. */
export const LONGEST_MS = 25 * 3_600_000;
/** Without a reply, a window that ended is taken to go on as it was for at least so long. */
const LEAST_ASSUMED_MS = 900_000;
/** No upstream tells more of them at once. */
const MOST_WINDOWS = 8;

interface Window {
  readonly name: string;
  readonly limit: number;
  /** How long it was when first seen, and what was left then: that is shared out. */
  readonly lengthMs: number;
  readonly shared: number;
  readonly toldAtMs: number;
  readonly resetAtMs: number;
  remaining: number;
  /** The window before it ended, and no reply told of this one yet. */
  readonly isAssumed: boolean;
}

/** `now` is monotonic, ms; `underWay` tells how many requests were sent and not answered yet. */
export function createWindows({ now, underWay }: { now: () => number; underWay: () => number }): Windows {
  let windows: readonly Window[] = [];
  let sentAtMs: readonly number[] = [];

  function present(): number {
    const nowMs = now();
    if (windows.some(({ resetAtMs }) => resetAtMs <= nowMs)) {
      windows = windows.map((each) => (each.resetAtMs > nowMs ? each : assumed(each, spentIn(each), nowMs)));
    }
    return nowMs;
  }

  /** Resets are told in whole seconds, and replies take their time: what was sent last may count in the next window. */
  function spentIn({ resetAtMs }: Window): number {
    return Math.max(underWay(), sentAtMs.filter((atMs) => atMs > resetAtMs - SAME_RESET_MS).length);
  }

  function learn({ name, limit, remaining, resetInMs }: ToldLimit, missing: number, nowMs: number): Window {
    const resetAtMs = nowMs + resetInMs;
    const left = Math.max(0, Math.min(remaining, limit) - missing);
    const like = windows.filter((each) => each.name === name && each.limit === limit);
    const same = like.find((each) => !each.isAssumed && Math.abs(each.resetAtMs - resetAtMs) < SAME_RESET_MS);
    if (same) return Object.assign(same, { remaining: Math.min(same.remaining, left) });
    // A window that slides: its reset comes no nearer.
    const moved = (each: Window) => resetAtMs - each.resetAtMs - (nowMs - each.toldAtMs);
    const replaced = like.find((each) => each.isAssumed || Math.abs(moved(each)) < SAME_RESET_MS);
    windows = windows.filter((each) => each !== replaced);
    const seen = { lengthMs: resetInMs, shared: left, toldAtMs: nowMs, resetAtMs, remaining: left };
    return { name, limit, ...seen, isAssumed: false };
  }

  return {
    waitMs() {
      const nowMs = present();
      return Math.max(0, ...windows.map((each) => (each.remaining <= 0 ? Math.ceil(each.resetAtMs - nowMs) : 0)));
    },
    intervalMs(pool) {
      const nowMs = present();
      if (windows.length === 0) return undefined;
      return Math.max(...windows.map((each) => 1 / Math.max(1e-9, rate(each, pool, nowMs))));
    },
    hasSpare(pool, others) {
      const nowMs = present();
      return windows.every((each) => {
        const left = Math.min(1, (each.resetAtMs - nowMs) / each.lengthMs);
        const reserve = (1 - PARTS[pool]) * each.shared * left;
        return each.remaining - reserve >= 1 + Math.min(others, each.shared / 2);
      });
    },
    nextResetMs() {
      const nowMs = present();
      return windows.length === 0 ? undefined : Math.min(...windows.map(({ resetAtMs }) => resetAtMs - nowMs));
    },
    sent(requests) {
      const nowMs = present();
      for (const each of windows) each.remaining -= requests;
      const recent = sentAtMs.filter((atMs) => atMs > nowMs - SAME_RESET_MS);
      sentAtMs = [...recent, ...Array.from({ length: requests }, () => nowMs)];
    },
    note(limits, missing) {
      const nowMs = present();
      const told = limits
        .filter(({ resetInMs }) => resetInMs > 0 && resetInMs <= LONGEST_MS)
        .map((limit) => learn(limit, missing, nowMs));
      const kept = windows.filter((each) => !told.includes(each) && !each.isAssumed);
      windows = [...kept, ...told].slice(-MOST_WINDOWS);
    },
  };
}

/** Until a reply tells, the window that followed is taken to be as the one that ended. */
function assumed(ended: Window, spent: number, nowMs: number): Window {
  const { limit, lengthMs } = ended;
  const lastsMs = Math.max(lengthMs, LEAST_ASSUMED_MS);
  const resetAtMs = ended.resetAtMs + (Math.floor((nowMs - ended.resetAtMs) / lastsMs) + 1) * lastsMs;
  return {
    ...ended,
    shared: limit,
    remaining: Math.max(1, limit - spent),
    resetAtMs,
    isAssumed: true,
  };
}

/** Requests a ms, were all that is left spread over the time that is left, but never more than what was there at first. */
function evenRate({ shared, lengthMs, remaining, resetAtMs, isAssumed }: Window, nowMs: number): number {
  const first = shared / lengthMs;
  if (remaining <= 0) return 0;
  return isAssumed ? first : Math.min(first, remaining / (resetAtMs - nowMs));
}

function rate(window: Window, pool: Pool, nowMs: number): number {
  const even = evenRate(window, nowMs);
  if (pool === 'byId' || window.isAssumed) return PARTS[pool] * even;
  const left = Math.max(0, window.remaining) / (window.resetAtMs - nowMs);
  return Math.min((MOST_LENT * window.shared) / window.lengthMs, left - (1 - PARTS[pool]) * even);
}
