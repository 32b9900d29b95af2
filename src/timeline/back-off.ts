import { type Problem, SluiceError, UpstreamError } from '../errors.ts';
import type { SourcePolling } from '../source.ts';

/** The longest wait after an upstream that does not answer usefully. */
const LONGEST_MS = 300_000;
/** The longest wait after a refusal: nothing but the settings or the server's operator will change it. */
const LONGEST_REFUSED_MS = 900_000;

/**
 * How many ms to wait after the `failures`-th failure in a row (from 1). Refusals wait at least the idle interval; all
 * others start at the least interval, doubled each time, with jitter. `random` gives 0 to below 1.
 */
export function backOffMs(error: unknown, failures: number, polling: SourcePolling, random: () => number): number {
  const doubled = 2 ** Math.min(failures - 1, 20);
  if (isRefusal(error))
    return Math.max(polling.idleIntervalMs, Math.min(LONGEST_REFUSED_MS, polling.idleIntervalMs * doubled));
  const waitMs = Math.min(LONGEST_MS, Math.max(1000, polling.minIntervalMs) * doubled);
  return Math.ceil(waitMs * (0.5 + random() / 2));
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

function isRefusal(error: unknown): boolean {
  return error instanceof UpstreamError && ['UNAUTHORIZED', 'FORBIDDEN', 'GONE'].includes(error.code);
}
