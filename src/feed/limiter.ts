import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { RecommenderUnavailableError } from '../errors.ts';

/** Bounds the generations of one gateway: what each holds in memory, and how long they keep others from the event loop. */
export interface Limiter {
  /**
   * Does the work, now or when its turn in line comes. Throws RecommenderUnavailableError, with the time to ask again, where
   * that takes too long; what the work throws is passed on.
   */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves in a turn of the event loop that no other caller has: those that waited for one thing do not go on all at once. */
  ownTurn(): Promise<void>;
}

/** As many as an HTTP recommender is asked at once. Each may hold an answer of 2 MB. */
const PARALLEL = 32;
const MAX_WAIT_MS = 10_000;
/** The line moves on meanwhile. */
const RETRY_MS = 1_000;

/** At most `parallel` (32) at a time; the others wait, first come first served, at most `maxWaitMs` (10 s). */
export function createLimiter(deps: { clock: Clock; parallel?: number; maxWaitMs?: number }): Limiter {
  const { clock, parallel = PARALLEL, maxWaitMs = MAX_WAIT_MS } = deps;
  const waiting = new Set<() => void>();
  let running = 0;
  let lastTurn: Promise<void> = Promise.resolve();

  async function place(): Promise<void> {
    if (running < parallel) {
      running += 1;
      return;
    }
    const begun = new AbortController();
    // Whoever ends hands its place to the first in line.
    const begin = () => begun.abort();
    waiting.add(begin);
    await clock.sleep(maxWaitMs, begun.signal);
    if (waiting.delete(begin)) {
      const retryAtMs = clock.now() + RETRY_MS;
      throw new RecommenderUnavailableError('too many feeds are asked for at the moment', { retryAtMs });
    }
  }

  function leave(): void {
    const [next] = waiting;
    if (!next) running -= 1;
    else if (waiting.delete(next)) next();
  }

  return {
    async run(work) {
      await place();
      try {
        return await work();
      } finally {
        leave();
      }
    },
    ownTurn() {
      lastTurn = lastTurn.then(() => nextTurn());
      return lastTurn;
    },
  };
}
