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
  isAwake: boolean;
}

/** Starts at `startMs`, Unix ms. */
export function createVirtualClock(startMs = Date.UTC(2026, 10, 20)): VirtualClock {
  let elapsedMs = 0;
  let wallMs = startMs;
  /** Latest first. Who was woken early stays until its time. */
  const queue: Sleeper[] = [];
  let asleep = 0;

  function join(sleeper: Sleeper): void {
    let low = 0;
    let high = queue.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((queue[middle]?.dueMs ?? 0) > sleeper.dueMs) low = middle + 1;
      else high = middle;
    }
    queue.splice(low, 0, sleeper);
    asleep += 1;
  }

  function nextDue(endMs: number): Sleeper | undefined {
    while (queue.at(-1)?.isAwake) queue.pop();
    const next = queue.at(-1);
    return next !== undefined && next.dueMs <= endMs ? queue.pop() : undefined;
  }

  return {
    now: () => wallMs + elapsedMs,
    monotonic: () => elapsedMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const sleeper = { dueMs: elapsedMs + Math.max(0, ms), wake, isAwake: false };
        function wake() {
          sleeper.isAwake = true;
          asleep -= 1;
          signal?.removeEventListener('abort', wake);
          resolve();
        }
        join(sleeper);
        signal?.addEventListener('abort', wake);
      }),
    async advance(ms) {
      const endMs = elapsedMs + ms;
      await settle();
      for (let next = nextDue(endMs); next !== undefined; next = nextDue(endMs)) {
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
      return asleep;
    },
  };
}

/** Runs all that is ready: promises come before immediates. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
