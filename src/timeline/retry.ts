import type { Clock } from '../clock.ts';
import type { SourcePolling } from '../source.ts';
import { backOffMs } from './back-off.ts';
import { createDue } from './due.ts';

/** The waits of one kind of work after failures in a row. */
export interface Retry {
  /** ms until the next attempt; 0: now. */
  leftMs(): number;
  /** True after a failure, until the next success. */
  isFailing(): boolean;
  failed(error: unknown): void;
  succeeded(): void;
  /** The next attempt comes after so long instead. */
  rest(ms: number): void;
}

/** `random` gives 0 to below 1, for jitter. @see back-off.ts */
export function createRetry(deps: { clock: Clock; polling: SourcePolling; random: () => number }): Retry {
  const { clock, polling, random } = deps;
  const next = createDue(clock);
  let failures = 0;
  return {
    leftMs: next.leftMs,
    isFailing: () => failures > 0,
    failed(error) {
      failures += 1;
      next.set(backOffMs(error, failures, polling, random));
    },
    succeeded() {
      failures = 0;
      next.set(0);
    },
    rest: next.set,
  };
}
