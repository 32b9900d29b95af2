import type { Clock } from '../../clock.ts';
import type { KnownThrottle } from '../../upstreams/upstream.ts';
import { createRateLimiter, type RateLimiter, restoreLimiter, type SavedLimiter, saveLimiter } from './rate-limiter.ts';
import { createThrottle, type SavedThrottle, type Throttle } from './throttle.ts';

/** What may be sent with one token, and what was: for all of its sources. */
export interface TokenLimits {
  readonly clock: Clock;
  /** By endpoint; that of the token as a whole under ''. */
  readonly limiters: Map<string, RateLimiter>;
  /** By what is known of them: the same one for all sources that know of it. */
  readonly throttles: Map<string, Throttle>;
  /** Requests that a gateway before may have sent, for throttles that are not known yet. */
  unsaved: number;
}

export interface SavedLimits {
  readonly limiters: readonly (readonly [string, SavedLimiter])[];
  readonly throttles: readonly (readonly [KnownThrottle, SavedThrottle])[];
}

/** The token as a whole, as an endpoint. */
export const TOKEN = '';

export function limiterOf({ limiters, clock }: TokenLimits, endpoint: string): RateLimiter {
  const limiter = limiters.get(endpoint) ?? createRateLimiter(clock.monotonic);
  limiters.set(endpoint, limiter);
  return limiter;
}

export function throttleOf(limits: TokenLimits, { requests, windowMs, counts }: KnownThrottle): Throttle {
  const { throttles, clock } = limits;
  const key = JSON.stringify([requests, windowMs, counts]);
  const known = throttles.get(key);
  if (known) return known;
  const throttle = createThrottle({ requests, windowMs, counts }, clock.monotonic);
  if (limits.unsaved > 0) throttle.sent(limits.unsaved);
  throttles.set(key, throttle);
  return throttle;
}

export function saveLimits({ limiters, throttles }: TokenLimits): SavedLimits {
  return {
    limiters: [...limiters].map(([name, limiter]) => [name, saveLimiter(limiter)] as const),
    throttles: [...throttles.values()].map((each) => [each.known, each.save()] as const),
  };
}

/** Goes on with what another gateway knew, so long ago; it may have sent so many requests since that were not saved. */
export function restoreLimits(
  limits: TokenLimits,
  saved: SavedLimits,
  since: { agoMs: number; unsaved: number },
): void {
  for (const [name, limiter] of saved.limiters) restoreLimiter(limiterOf(limits, name), limiter, since);
  for (const [known, sent] of saved.throttles) throttleOf(limits, known).restore(sent, since.agoMs);
}

/** A gateway before this one may have sent so many requests of which nothing was kept: they count in each throttle, as it becomes known. */
export function countUnsaved(limits: TokenLimits, unsaved: number): void {
  if (unsaved > 0) for (const each of limits.throttles.values()) each.sent(unsaved);
  limits.unsaved = unsaved;
}
