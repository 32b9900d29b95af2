import type { Source } from '../../source.ts';
import type { NamedLimit, RateLimit, UpstreamDescription } from '../../upstreams/upstream.ts';
import { PARTS, type Pool, type RequestKind } from './pools.ts';
import { allowedInMs, hasSpare, intervalMs, leftOf, type RateLimiter } from './rate-limiter.ts';
import type { Throttle } from './throttle.ts';
import { limiterOf, TOKEN, type TokenLimits, throttleOf } from './token-limits.ts';

/** What one source may send, by all limits that hold for it: those that were told, and those that are known. */
export interface SourceLimits {
  readonly source: Source;
  readonly shared: TokenLimits;
  readonly token: RateLimiter;
  /** Of its endpoint, where that has limits of its own. */
  endpoint: Readonly<Record<RequestKind, RateLimiter>> | undefined;
  throttles: readonly SourceThrottle[];
  /** How many requests of its adapter are counted. */
  counted: number;
}

interface SourceThrottle {
  readonly throttle: Throttle;
  /** How many of its requests are left to reads by id of all gateways, which their quota counts. */
  readonly byId: number;
  /** How many of them are for the rest. */
  readonly most: number;
  /** Not for polls. */
  readonly isWaived: boolean;
}

/** One request each `everyMs` on average, at most `burst` at once. */
export interface ByIdQuota {
  readonly everyMs: number;
  readonly burst: number;
  /** False where a throttle leaves so little that only the gateway that counts for it may read by id. */
  readonly isShared: boolean;
}

/** What a reply says beside posts. */
export interface Told {
  readonly limits?: readonly NamedLimit[] | undefined;
  readonly rateLimit?: RateLimit | undefined;
  /** In which resets are told. */
  readonly serverDateMs?: number | undefined;
}

/** Where nothing tells how much is allowed, gaps and rescans share one request a second, reads by id for pages one in ten. */
const UNTOLD_INTERVALS_MS: Readonly<Record<Pool, number>> = { poll: 0, repair: 1000, byId: 10_000 };
/** Reads by id come in bursts: one a page that a viewer asks for. */
const BY_ID_BURST = 10;

export function createSourceLimits(shared: TokenLimits, source: Source): SourceLimits {
  const token = limiterOf(shared, TOKEN);
  token.members.add(source);
  const counted = source.upstream.requestsSent?.() ?? 0;
  return { source, shared, token, endpoint: undefined, throttles: [], counted };
}

/** Limits from what the source's upstream is. */
export function describe(limits: SourceLimits, { endpoint, throttles = [] }: UpstreamDescription): void {
  const { source, shared } = limits;
  const { ownInterval, minIntervalMs } = source.polling;
  limits.throttles = throttles.map((known) => {
    const throttle = throttleOf(shared, known);
    const tenth = known.counts === 'all' ? Math.floor(known.requests * PARTS.byId) : 0;
    const byId = tenth < 2 ? 0 : tenth;
    // Who names an interval that is shorter knows the server better.
    const isWaived = ownInterval && minIntervalMs < throttle.intervalMs;
    return { throttle, byId, most: known.requests - byId, isWaived };
  });
  if (endpoint === undefined || limits.endpoint) return;
  limits.endpoint = { page: limiterOf(shared, endpoint), byId: limiterOf(shared, 'by id') };
  limits.endpoint.page.members.add(source);
}

/** The endpoint's limits, if it has any, and the token's. */
export function limitersOf({ endpoint, token }: SourceLimits, kind: RequestKind): readonly RateLimiter[] {
  return endpoint ? [endpoint[kind], token] : [token];
}

/** Those that a request counts in. */
export function throttlesOf({ throttles }: SourceLimits, kind: RequestKind, pool: Pool): readonly SourceThrottle[] {
  return throttles.filter(
    ({ throttle, byId, isWaived }) =>
      (kind === 'page' || throttle.known.counts === 'all') &&
      !(isWaived && pool === 'poll') &&
      !(byId > 0 && pool === 'byId'),
  );
}

/** ms until one more request is allowed by what the upstream told; 0: now. */
export function toldMs(limits: SourceLimits, kind: RequestKind): number {
  return Math.max(...limitersOf(limits, kind).map(allowedInMs));
}

/** The same by throttles that we count for. */
export function countedMs(limits: SourceLimits, kind: RequestKind, pool: Pool): number {
  return Math.max(0, ...throttlesOf(limits, kind, pool).map(({ throttle, most }) => throttle.waitMs(most)));
}

/** How many more may be sent now. */
export function left(limits: SourceLimits, kind: RequestKind, pool: Pool): number {
  const known = throttlesOf(limits, kind, pool).map(({ throttle, most }) => throttle.left(most));
  return Math.min(...limitersOf(limits, kind).map(leftOf), ...known);
}

/** ms from one request of that pool to the next, evenly, at one of its limiters. 0: as many as it likes. */
export function pacedMs(limits: SourceLimits, limiter: RateLimiter, pool: Pool, kind: RequestKind): number {
  const told = intervalMs(limiter, pool);
  if (limiter !== limits.token) return told;
  const intervals = throttlesOf(limits, kind, pool).map(({ throttle }) => throttle.intervalMs / PARTS[pool]);
  const isTold = limitersOf(limits, kind).some(({ windows }) => windows.length > 0);
  return isTold || intervals.length > 0 ? Math.max(told, ...intervals) : UNTOLD_INTERVALS_MS[pool];
}

/** True while a poll may read one page more and leaves the other sources and pools what they need. */
export function hasSparePage(limits: SourceLimits): boolean {
  return limitersOf(limits, 'page').every((limiter) => hasSpare(limiter, 'poll', limiter.members.size - 1));
}

/** True while fills may use what nobody used before. */
export function hasSpareFill(limits: SourceLimits): boolean {
  const isUnused = throttlesOf(limits, 'page', 'repair').every(({ throttle }) => throttle.unused() > 1 - PARTS.repair);
  return isUnused && limitersOf(limits, 'page').every((limiter) => hasSpare(limiter, 'repair', 0));
}

/** What all gateways together may read by id. */
export function byIdQuota(limits: SourceLimits): ByIdQuota {
  let everyMs = Math.max(...limitersOf(limits, 'byId').map((each) => pacedMs(limits, each, 'byId', 'byId')));
  let burst = BY_ID_BURST;
  for (const { throttle, byId } of limits.throttles.filter((each) => each.byId > 0)) {
    // Within any window: the burst, and what is granted one by one.
    burst = Math.min(burst, Math.floor(byId / 2));
    everyMs = Math.max(everyMs, throttle.known.windowMs / (byId - burst));
  }
  const isShared = limits.throttles.every(({ throttle, byId }) => throttle.known.counts === 'pages' || byId > 0);
  return { everyMs, burst, isShared };
}
