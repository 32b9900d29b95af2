import { parseTime } from './fields.ts';
import type { NamedLimit, RateLimit } from './upstream.ts';

type Headers = Readonly<Record<string, string>>;

/** Mastodon's and GoToSocial's, Twitter's for an endpoint, Twitter's for an app or a user and a day. */
const PREFIXES = [
  'x-ratelimit',
  'x-rate-limit',
  'x-app-rate-limit',
  'x-app-limit-24hour',
  'x-user-limit-24hour',
] as const;
/** What names a later time than that is not a limit but garbage. Twitter's longest window is a day. */
const LONGEST_WINDOW_MS = 7 * 86_400_000;
const DEFAULT_RETRY_MS = 60_000;

/** All limits that the headers tell, and the tightest of them. */
export function readRateLimits(headers: Headers, nowMs: number) {
  return { rateLimit: readRateLimit(headers, nowMs), limits: readLimits(headers, nowMs) };
}

/** The tightest of the limits that the headers tell: the one that allows the fewest requests a second until its reset. */
export function readRateLimit(headers: Headers, nowMs: number): RateLimit | undefined {
  const pace = (limit: RateLimit) => limit.remaining / Math.max(1_000, limit.resetAtMs - nowMs);
  const [tightest] = readLimits(headers, nowMs).sort((a, b) => pace(a) - pace(b) || b.resetAtMs - a.resetAtMs);
  return tightest && { limit: tightest.limit, remaining: tightest.remaining, resetAtMs: tightest.resetAtMs };
}

/**
 * When a request may be sent again, Unix ms of the local clock: Retry-After, else the reset of the limits that are used up,
 * else a minute from now. Always in the future. Times are told in the server's `Date`, where it has one.
 */
export function readRetryAt(headers: Headers, nowMs: number): number {
  const named = readRetryAfter(headers, nowMs);
  if (named !== undefined) return named;
  const resets = usedUp(headers, nowMs).map(({ resetAtMs }) => resetAtMs);
  return resets.length > 0 ? Math.max(...resets) + nowMs - serverNow(headers, nowMs) : nowMs + DEFAULT_RETRY_MS;
}

/** True when the headers tell no time at which a request may be sent again. */
export function isRetryGuessed(headers: Headers, nowMs: number): boolean {
  return readRetryAfter(headers, nowMs) === undefined && usedUp(headers, nowMs).length === 0;
}

/** True when nothing but the limit of one endpoint is used up: others may be asked. */
export function isEndpointLimit(headers: Headers, nowMs: number): boolean {
  const limits = usedUp(headers, nowMs);
  return (
    headers['retry-after'] === undefined && limits.length > 0 && limits.every(({ prefix }) => isOfEndpoint(prefix))
  );
}

/** Retry-After as Unix ms, from its seconds or its date; absent when there is none, it is garbage or already over. */
export function readRetryAfter(headers: Headers, nowMs: number): number | undefined {
  const value = headers['retry-after']?.trim() ?? '';
  const inMs = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : (parseTime(value) ?? 0) - serverNow(headers, nowMs);
  return inMs > 0 ? nowMs + Math.min(inMs, LONGEST_WINDOW_MS) : undefined;
}

/** A local clock that is an hour off would wait an hour too long, or not at all. */
function serverNow(headers: Headers, nowMs: number): number {
  return parseTime(headers.date ?? '') ?? nowMs;
}

/**
 * The resets to come of limits of which no request is left. A refused request needs no more to say so than its reset: some
 * servers leave the other headers out.
 */
function usedUp(headers: Headers, nowMs: number) {
  const serverNowMs = serverNow(headers, nowMs);
  return PREFIXES.flatMap((prefix) => {
    const resetAtMs = readReset(headers[`${prefix}-reset`], serverNowMs);
    const isLeft = (readCount(headers[`${prefix}-remaining`]) ?? 0) > 0;
    return resetAtMs === undefined || resetAtMs <= serverNowMs || isLeft ? [] : [{ prefix, resetAtMs }];
  });
}

/** Each limit whose three headers make sense. Resets are of the server's clock. */
export function readLimits(headers: Headers, nowMs: number): NamedLimit[] {
  return PREFIXES.flatMap((prefix) => {
    const limit = readCount(headers[`${prefix}-limit`]);
    const remaining = readCount(headers[`${prefix}-remaining`]);
    const resetAtMs = readReset(headers[`${prefix}-reset`], nowMs);
    if (limit === undefined || limit === 0 || remaining === undefined || resetAtMs === undefined) return [];
    return [{ name: prefix, limit, remaining: Math.min(remaining, limit), resetAtMs, endpoint: isOfEndpoint(prefix) }];
  });
}

/** Twitter counts these for each endpoint apart. @see https://docs.x.com/x-api/fundamentals/rate-limits */
function isOfEndpoint(prefix: string): boolean {
  return prefix === 'x-rate-limit';
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
