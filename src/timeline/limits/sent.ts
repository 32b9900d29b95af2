import type { Pool, RequestKind } from './pools.ts';
import { allow, type Refusal, refuse, send, spend } from './rate-limiter.ts';
import { limitersOf, type SourceLimits, type Told, throttlesOf } from './source-limits.ts';

/** Requests are sent; `answered` must follow. Returns for each of the source's limiters what their replies know of. */
export function sent(limits: SourceLimits, kind: RequestKind, pool: Pool, requests: number): readonly number[] {
  for (const { throttle } of throttlesOf(limits, kind, pool)) throttle.sent(requests);
  limits.counted += requests;
  return limitersOf(limits, kind).map((limiter) => send(limiter, requests));
}

/** So many that were sent are under way no more, however they ended. */
export function answered(limits: SourceLimits, kind: RequestKind, requests: number): void {
  for (const limiter of limitersOf(limits, kind)) limiter.answered += requests;
}

/** What a reply told, to the request that `sent` returned `known` for. */
export function learn(limits: SourceLimits, kind: RequestKind, told: Told, known: readonly number[]): void {
  const { rateLimit, serverDateMs = limits.shared.clock.now() } = told;
  const all = told.limits ?? (rateLimit ? [{ name: 'limit', endpoint: false, ...rateLimit }] : []);
  for (const [n, limiter] of limitersOf(limits, kind).entries()) {
    const about = all.filter(({ endpoint }) => limiterAbout(limits, kind, endpoint) === limiter);
    const windows = about.map((limit) => ({ ...limit, resetInMs: limit.resetAtMs - serverDateMs }));
    allow(limiter, windows, known[n] ?? 0);
  }
}

/** A 429. `endpoint`: it is about that alone. */
export function refused(limits: SourceLimits, kind: RequestKind, refusal: Refusal & { endpoint: boolean }): void {
  refuse(limiterAbout(limits, kind, refusal.endpoint), refusal);
}

/** Counts what the adapter sent on its own, such as for the instance document. Returns how many since the last time. */
export function countOthers(limits: SourceLimits): number {
  const all = limits.source.upstream.requestsSent?.() ?? limits.counted;
  const others = Math.max(0, all - limits.counted);
  limits.counted = all;
  if (others === 0) return 0;
  for (const limiter of limitersOf(limits, 'page')) spend(limiter, others);
  for (const { throttle } of limits.throttles) if (throttle.known.counts === 'all') throttle.sent(others);
  return others;
}

function limiterAbout({ endpoint, token }: SourceLimits, kind: RequestKind, isOfEndpoint: boolean) {
  return isOfEndpoint && endpoint ? endpoint[kind] : token;
}
