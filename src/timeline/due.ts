import type { Clock } from '../clock.ts';

/** A wait that no step of the wall clock shortens or lengthens. */
export interface Due {
  /** ms left; 0 when it is over, or never began. */
  leftMs(): number;
  /** From now on, `ms` are left. */
  set(ms: number): void;
}

export function createDue(clock: Clock): Due {
  let untilMs = Number.NEGATIVE_INFINITY;
  return {
    leftMs: () => Math.max(0, Math.ceil(untilMs - clock.monotonic())),
    set(ms) {
      untilMs = clock.monotonic() + ms;
    },
  };
}
