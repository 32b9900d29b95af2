import type { Clock } from '../clock.ts';

/** How a loop rests between two looks for work. */
export interface Nap {
  /** It looks for work: who wakes it from here on ends the next sleep. */
  begin(): void;
  wake(): void;
  /** Until `ms` went by or somebody woke it; for a moment at least where it was woken before it slept, again and again. */
  sleep(ms: number): Promise<void>;
}

/** Two loops that wake each other while they look must not keep the process from everything else. */
const MOST_LOOKS_IN_A_ROW = 8;
const MOMENT_MS = 1;

/** `stopping` ends the moment; a sleep ends with `wake`. */
export function createNap(clock: Clock, stopping: AbortSignal): Nap {
  let nap = new AbortController();
  let looksInARow = 0;
  return {
    begin() {
      nap = new AbortController();
    },
    wake() {
      nap.abort();
    },
    async sleep(ms) {
      looksInARow = nap.signal.aborted ? looksInARow + 1 : 0;
      if (looksInARow === 0) return clock.sleep(ms, nap.signal);
      if (looksInARow < MOST_LOOKS_IN_A_ROW) return;
      looksInARow = 0;
      await clock.sleep(Math.min(ms, MOMENT_MS), stopping);
    },
  };
}
