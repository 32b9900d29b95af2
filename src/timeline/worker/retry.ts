import type { Clock } from '../../clock.ts';
import { type Problem, SluiceError, UpstreamError } from '../../errors.ts';
import type { SourcePolling } from '../../source.ts';

/** The waits of one kind of work after failures in a row. */
export interface Retry {
  /** ms until the next attempt; 0: now. While somebody asks for it, failures make nobody wait longer than a minute. */
  leftMs(isAsked?: boolean): number;
  /** True after a failure, until the next success. */
  isFailing(): boolean;
  failed(error: unknown): void;
  succeeded(): void;
  /** The next attempt comes after so long instead, whoever asks. */
  rest(ms: number): void;
}

/** The longest wait after an upstream that does not answer usefully, and while readers ask. */
const LONGEST_MS = 300_000;
const LONGEST_ASKED_MS = 60_000;
/** The longest wait after a refusal: nothing but the settings or the server's operator will change it. */
const LONGEST_REFUSED_MS = 900_000;

/**
 * Refusals wait at least the idle interval; all others start at the least interval, doubled each time, with jitter. `random`
 * gives 0 to below 1.
 */
export function createRetry(deps: { clock: Clock; polling: SourcePolling; random: () => number }): Retry {
  const { clock, polling, random } = deps;
  let failures = 0;
  let fromMs = 0;
  let waitMs = 0;
  let isFixed = false;

  function wait(ms: number, fixed: boolean): void {
    fromMs = clock.monotonic();
    waitMs = ms;
    isFixed = fixed;
  }

  return {
    leftMs(isAsked = false) {
      const ms = isAsked && !isFixed ? Math.min(waitMs, LONGEST_ASKED_MS) : waitMs;
      return Math.max(0, Math.ceil(fromMs + ms - clock.monotonic()));
    },
    isFailing: () => failures > 0,
    failed(error) {
      failures += 1;
      wait(backOffMs(error, failures, polling, random), isRefusal(error));
    },
    succeeded() {
      failures = 0;
      wait(0, false);
    },
    rest: (ms) => wait(ms, true),
  };
}

function backOffMs(error: unknown, failures: number, polling: SourcePolling, random: () => number): number {
  const doubled = 2 ** Math.min(failures - 1, 20);
  if (isRefusal(error))
    return Math.max(polling.idleIntervalMs, Math.min(LONGEST_REFUSED_MS, polling.idleIntervalMs * doubled));
  const waitMs = Math.min(LONGEST_MS, Math.max(1000, polling.minIntervalMs) * doubled);
  return Math.ceil(waitMs * (0.5 + random() / 2));
}

function isRefusal(error: unknown): boolean {
  return error instanceof UpstreamError && ['UNAUTHORIZED', 'FORBIDDEN', 'GONE'].includes(error.code);
}

/** What a failed attempt tells. Only our own errors are quoted: they hold no secrets, and the edge decides what clients read. */
export function problemOf(error: unknown, sourceKey: string): Problem {
  if (error instanceof UpstreamError) {
    return { code: error.code, message: error.message, hint: error.hint, sourceKey, retryAtMs: error.retryAtMs };
  }
  if (error instanceof SluiceError && error.code === 'STORE_UNAVAILABLE') {
    return { code: 'STORE_UNAVAILABLE', message: error.message, sourceKey };
  }
  const name = error instanceof Error ? error.name : 'an error';
  return { code: 'UNAVAILABLE', message: `polling broke off with ${name}`, sourceKey };
}
