import type { KnownThrottle } from '../upstreams/upstream.ts';

/** A throttle that no header tells: we count for it ourselves. */
export interface Throttle {
  /** From one request to the next, evenly, ms. */
  readonly intervalMs: number;
  /** ms until one more fits into it; 0: now. */
  waitMs(): number;
  /** How much of it is not used, 0 to 1; 1 for one that only spaces requests. */
  unused(): number;
  sent(requests: number): void;
}

/** Never more than `requests` within any stretch of `windowMs`, wherever the upstream begins its windows. `now` is monotonic, ms. */
export function createThrottle({ requests, windowMs }: KnownThrottle, now: () => number): Throttle {
  const sentAtMs: number[] = [];

  function present(): number {
    const nowMs = now();
    while ((sentAtMs[0] ?? nowMs) <= nowMs - windowMs) sentAtMs.shift();
    return nowMs;
  }

  return {
    intervalMs: windowMs / requests,
    waitMs() {
      const nowMs = present();
      const last = sentAtMs[sentAtMs.length - requests];
      return last === undefined ? 0 : Math.ceil(last + windowMs - nowMs);
    },
    unused() {
      present();
      return requests === 1 ? 1 : (requests - sentAtMs.length) / requests;
    },
    sent(count) {
      for (let n = 0; n < count; n += 1) sentAtMs.push(now());
    },
  };
}
