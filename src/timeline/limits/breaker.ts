import type { UpstreamError } from '../../errors.ts';

/** Keeps requests away from a host that does not answer any of its sources. */
export interface Breaker {
  /** What the last failure was, while only one request at a time may try whether it is over; undefined: all is well. */
  outage(): UpstreamError | undefined;
  /** ms until that one may try; 0: now. */
  waitMs(): number;
  /** A request that was sent at `sentAtMs` (monotonic) was not answered usefully. */
  failed(error: UpstreamError, sentAtMs: number): void;
  /** The host answered, whatever it said. */
  answered(): void;
}

/** Failures in a row, over all sources. */
const MOST_FAILURES = 5;
const FIRST_WAIT_MS = 5000;
const LONGEST_WAIT_MS = 60_000;

/** Waits twice as long after each try in vain, with jitter. `now` is monotonic, ms; `random` gives 0 to below 1. */
export function createBreaker(now: () => number, random: () => number): Breaker {
  let failures = 0;
  let last: UpstreamError | undefined;
  let waitsFromMs = 0;
  let waitsMs = 0;

  const isOpen = () => failures >= MOST_FAILURES;

  return {
    outage: () => (isOpen() ? last : undefined),
    waitMs: () => (isOpen() ? Math.max(0, Math.ceil(waitsFromMs + waitsMs - now())) : 0),
    failed(error, sentAtMs) {
      last = error;
      // What was under way when it opened is no try.
      if (isOpen() && sentAtMs <= waitsFromMs) return;
      failures += 1;
      if (!isOpen()) return;
      waitsFromMs = now();
      const doubled = FIRST_WAIT_MS * 2 ** Math.min(20, failures - MOST_FAILURES);
      waitsMs = Math.min(LONGEST_WAIT_MS, doubled) * (0.5 + random() / 2);
    },
    answered() {
      failures = 0;
    },
  };
}
