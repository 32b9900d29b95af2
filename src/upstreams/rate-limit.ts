import { parseTime } from './fields.ts';
import type { RateLimit } from './upstream.ts';

type Headers = Readonly<Record<string, string>>;

/** Mastodon's and GoToSocial's, Twitter's, Twitter's per app. @see upstreams.md, sections 2 and 3 */
const PREFIXES = ['x-ratelimit', 'x-rate-limit', 'x-app-rate-limit'];
/** What names a later time than that is not a limit but garbage. Twitter's longest window is a day. */
const LONGEST_WINDOW_MS = 7 * 86_400_000;
const DEFAULT_RETRY_MS = 60_000;

/** The tightest of the limits that the headers tell: the one that allows the fewest requests a second until its reset. */
export function readRateLimit(headers: Headers, nowMs: number): RateLimit | undefined {
  const pace = (limit: RateLimit) => limit.remaining / Math.max(1_000, limit.resetAtMs - nowMs);
  return readLimits(headers, nowMs).sort((a, b) => pace(a) - pace(b) || b.resetAtMs - a.resetAtMs)[0];
}

/** The tighter of two limits, either of which may be absent. */
export function tighter(a: RateLimit | undefined, b: RateLimit | undefined): RateLimit | undefined {
  if (!a || !b) return a ?? b;
  return b.remaining <= a.remaining ? b : a;
}

/**
 * When a request may be sent again, Unix ms: Retry-After, else the reset of the limits that are used up,
 * else a minute from now. Always in the future.
 */
export function readRetryAt(headers: Headers, nowMs: number): number {
  const named = readRetryAfter(headers, nowMs);
  if (named !== undefined) return named;
  const resets = readLimits(headers, nowMs)
    .filter((limit) => limit.remaining === 0 && limit.resetAtMs > nowMs)
    .map((limit) => limit.resetAtMs);
  return resets.length > 0 ? Math.max(...resets) : nowMs + DEFAULT_RETRY_MS;
}

/** Retry-After as Unix ms, from its seconds or its date; absent when there is none, it is garbage or already over. */
export function readRetryAfter(headers: Headers, nowMs: number): number | undefined {
  const value = headers['retry-after']?.trim() ?? '';
  const atMs = /^\d{1,9}$/.test(value) ? nowMs + Number(value) * 1_000 : parseTime(value);
  if (atMs === undefined || atMs <= nowMs) return undefined;
  return Math.min(atMs, nowMs + LONGEST_WINDOW_MS);
}

function readLimits(headers: Headers, nowMs: number): RateLimit[] {
  return PREFIXES.flatMap((prefix) => {
    const limit = readCount(headers[`${prefix}-limit`]);
    const remaining = readCount(headers[`${prefix}-remaining`]);
    const resetAtMs = readReset(headers[`${prefix}-reset`], nowMs);
    if (limit === undefined || limit === 0 || remaining === undefined || resetAtMs === undefined) return [];
    return [{ limit, remaining: Math.min(remaining, limit), resetAtMs }];
  });
}

function readCount(value: string | undefined): number | undefined {
  const digits = value?.trim() ?? '';
  return /^\d{1,9}$/.test(digits) ? Number(digits) : undefined;
}

function readReset(value: string | undefined, nowMs: number): number | undefined {
  const reset = value?.trim() ?? '';
  const atMs = /^\d{9,11}$/.test(reset) ? Number(reset) * 1_000 : /^\d{4}-/.test(reset) ? parseTime(reset) : undefined;
  return atMs !== undefined && atMs <= nowMs + LONGEST_WINDOW_MS ? atMs : undefined;
}
