import type { Clock } from '../src/clock.ts';

/** Time that moves only when a test says so. */
export interface VirtualClock extends Clock {
  /** Moves on by `ms`: what sleeps until then wakes in order of time, each before the next, with all that follows from it. */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock forward or back; what sleeps is not woken, as timers are not. */
  step(ms: number): void;
  /** How much time went by, whatever the wall clock says. */
  readonly elapsedMs: number;
  /** How many sleep. */
  readonly sleepers: number;
}

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** Starts at `startMs`, Unix ms. */
export function createVirtualClock(startMs = Date.UTC(2026, 10, 20)): VirtualClock {
  let elapsedMs = 0;
  let wallMs = startMs;
  const sleepers = new Set<Sleeper>();

  function earliest(): Sleeper | undefined {
    let first: Sleeper | undefined;
    for (const sleeper of sleepers) if (first === undefined || sleeper.dueMs < first.dueMs) first = sleeper;
    return first;
  }

  return {
    now: () => wallMs + elapsedMs,
    monotonic: () => elapsedMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const sleeper = { dueMs: elapsedMs + Math.max(0, ms), wake };
        function wake() {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', wake);
          resolve();
        }
        sleepers.add(sleeper);
        signal?.addEventListener('abort', wake);
      }),
    async advance(ms) {
      const endMs = elapsedMs + ms;
      await settle();
      for (let next = earliest(); next !== undefined && next.dueMs <= endMs; next = earliest()) {
        elapsedMs = Math.max(elapsedMs, next.dueMs);
        next.wake();
        await settle();
      }
      elapsedMs = endMs;
    },
    step(ms) {
      wallMs += ms;
    },
    get elapsedMs() {
      return elapsedMs;
    },
    get sleepers() {
      return sleepers.size;
    },
  };
}

/** Runs all that is ready: promises come before immediates. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
