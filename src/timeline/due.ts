import type { Clock } from '../clock.ts';

/** A wait that a local clock which is set back starts anew, not lengthens by as much. */
export interface Due {
  /** ms left; 0 when it is over, or never began. */
  leftMs(): number;
  /** From now on, `ms` are left. */
  set(ms: number): void;
}

export function createDue(clock: Clock): Due {
  let fromMs = 0;
  let waitMs = 0;
  return {
    leftMs() {
      const nowMs = clock.now();
      if (nowMs < fromMs) fromMs = nowMs;
      return Math.max(0, fromMs + waitMs - nowMs);
    },
    set(ms) {
      fromMs = clock.now();
      waitMs = ms;
    },
  };
}
