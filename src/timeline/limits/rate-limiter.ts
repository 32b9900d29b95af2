import type { Pool } from './pools.ts';
import * as windows from './windows.ts';

/** What an upstream tells that it allows on one endpoint, or with one token as a whole. Times are monotonic, ms. */
export interface RateLimiter {
  readonly now: () => number;
  /** The sources that share it. */
  readonly members: Set<object>;
  /** They all hold at once. */
  windows: readonly windows.Window[];
  /** Requests so far, and those of them that are under way no more, however they ended. */
  sent: number;
  answered: number;
  /** When the last requests were sent: they may count in the next window. */
  recentAtMs: readonly number[];
  /** 429s in a row. */
  refusals: number;
  refusedAtMs: number;
  blockedUntilMs: number;
  /** What the gateway before had under way, until it must have reached the server. */
  inherited: { readonly underWay: number; readonly untilMs: number };
}

export interface Refusal {
  /** From now on, ms. */
  readonly retryInMs: number;
  /** The upstream told no time: each one in a row makes the wait longer. */
  readonly guessed: boolean;
  /** Monotonic. */
  readonly sentAtMs: number;
}

/** As another gateway can go on with it: times are from when it was saved, ms. */
export interface SavedLimiter extends Pick<RateLimiter, 'windows' | 'refusals'> {
  /** How many requests were sent just before. */
  readonly recent: number;
  readonly blockedMs: number;
  readonly underWay: number;
}

/** Twice as long after each 429 in a row that tells no time: Twitter's hidden limits leave requests to spare. */
const FIRST_WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 900_000;
/** What another gateway sent has reached the server by then. */
const ARRIVED_MS = 60_000;

export function createRateLimiter(now: () => number): RateLimiter {
  const never = Number.NEGATIVE_INFINITY;
  return {
    ...{ now, members: new Set(), windows: [], sent: 0, answered: 0, recentAtMs: [] },
    ...{ refusals: 0, refusedAtMs: never, blockedUntilMs: never, inherited: { underWay: 0, untilMs: never } },
  };
}

/** ms until one more request is allowed; 0: now. */
export function allowedInMs(limiter: RateLimiter): number {
  const spent = present(limiter).filter(({ remaining }) => remaining <= 0);
  const untilMs = Math.max(limiter.blockedUntilMs, ...spent.map(({ resetAtMs }) => resetAtMs));
  return Math.max(0, Math.ceil(untilMs - limiter.now()));
}

/** How many more are allowed now; Infinity where nothing is told. */
export function leftOf(limiter: RateLimiter): number {
  return Math.min(Number.POSITIVE_INFINITY, ...present(limiter).map(({ remaining }) => remaining));
}

/** ms from one request of that pool to the next, evenly; 0 where nothing is told. */
export function intervalMs(limiter: RateLimiter, pool: Pool): number {
  return Math.max(0, ...present(limiter).map((each) => windows.intervalMs(each, pool, limiter.now())));
}

/** True while one request more of that pool, and one of so many others, leaves the other pools their part. */
export function hasSpare(limiter: RateLimiter, pool: Pool, others: number): boolean {
  return present(limiter).every((each) => windows.hasSpare(each, pool, others, limiter.now()));
}

/** ms until something changes by itself; Infinity where nothing is told. */
export function nextResetMs(limiter: RateLimiter): number {
  return Math.min(Number.POSITIVE_INFINITY, ...present(limiter).map(({ resetAtMs }) => resetAtMs - limiter.now()));
}

/** So many requests are sent; `answered` must follow. Returns how many of all, so far, their replies know of. */
export function send(limiter: RateLimiter, requests: number): number {
  limiter.sent += requests;
  spend(limiter, requests);
  return limiter.answered + requests;
}

/** Counts requests that were answered before they are counted. */
export function spend(limiter: RateLimiter, requests: number): void {
  const nowMs = limiter.now();
  limiter.windows = present(limiter).map((each) => ({ ...each, remaining: each.remaining - requests }));
  limiter.recentAtMs = [...recent(limiter, nowMs), ...Array.from({ length: requests }, () => nowMs)];
}

/** The upstream took a request: a limit that was hit is over, and these hold. `known` is what `send` returned for it. */
export function allow(limiter: RateLimiter, limits: readonly windows.ToldLimit[], known: number): void {
  const missing = limiter.sent - known + inheritedUnderWay(limiter);
  limiter.refusals = 0;
  limiter.windows = windows.learn(present(limiter), limits, missing, limiter.now());
}

/** A request was answered with 429. */
export function refuse(limiter: RateLimiter, { retryInMs, guessed, sentAtMs }: Refusal): void {
  const nowMs = limiter.now();
  // What was under way together is one refusal.
  if (sentAtMs > limiter.refusedAtMs) limiter.refusals += 1;
  limiter.refusedAtMs = nowMs;
  const ownMs = guessed ? Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (limiter.refusals - 1)) : 0;
  const waitMs = Math.min(windows.LONGEST_MS, Math.max(ownMs, retryInMs));
  limiter.blockedUntilMs = Math.max(limiter.blockedUntilMs, nowMs + waitMs);
}

export function saveLimiter(limiter: RateLimiter): SavedLimiter {
  const nowMs = limiter.now();
  return {
    windows: present(limiter).map((each) => windows.shift(each, -nowMs)),
    recent: recent(limiter, nowMs).length,
    refusals: limiter.refusals,
    blockedMs: Math.max(0, limiter.blockedUntilMs - nowMs),
    underWay: underWay(limiter),
  };
}

/** Goes on with what another gateway knew, so long ago; it may have sent so many requests since that were not saved. */
export function restoreLimiter(
  limiter: RateLimiter,
  saved: SavedLimiter,
  { agoMs, unsaved }: { agoMs: number; unsaved: number },
): void {
  const nowMs = limiter.now();
  const savedAtMs = nowMs - agoMs;
  limiter.windows = saved.windows.map((each) => windows.shift(each, savedAtMs));
  limiter.recentAtMs = Array.from({ length: saved.recent }, () => savedAtMs);
  spend(limiter, unsaved);
  limiter.refusals = saved.refusals;
  limiter.blockedUntilMs = Math.max(limiter.blockedUntilMs, savedAtMs + saved.blockedMs);
  limiter.inherited = { underWay: saved.underWay + unsaved, untilMs: nowMs + ARRIVED_MS };
}

/** The windows as of now: those that ended are followed by others. */
function present(limiter: RateLimiter): readonly windows.Window[] {
  const nowMs = limiter.now();
  limiter.windows = limiter.windows.map((each) =>
    each.resetAtMs > nowMs ? each : windows.following(each, spentIn(limiter, each), nowMs),
  );
  return limiter.windows;
}

/** Resets are told in whole seconds, and replies take their time: what was sent last may count in the next window. */
function spentIn(limiter: RateLimiter, { resetAtMs }: windows.Window): number {
  return Math.max(underWay(limiter), recent(limiter, resetAtMs).length);
}

function recent({ recentAtMs }: RateLimiter, nowMs: number): readonly number[] {
  return recentAtMs.filter((atMs) => atMs > nowMs - windows.SAME_RESET_MS);
}

function underWay(limiter: RateLimiter): number {
  return limiter.sent - limiter.answered + inheritedUnderWay(limiter);
}

function inheritedUnderWay({ now, inherited }: RateLimiter): number {
  return now() < inherited.untilMs ? inherited.underWay : 0;
}
