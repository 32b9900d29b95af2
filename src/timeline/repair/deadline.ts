import type { Clock } from '../../clock.ts';

/** A wait that no step of the wall clock shortens or lengthens. */
export interface Deadline {
  /** ms left; 0 when it is over, or never began. */
  leftMs(): number;
  /** From now on, `ms` are left. */
  set(ms: number): void;
}

export function createDeadline(clock: Clock): Deadline {
  let untilMs = Number.NEGATIVE_INFINITY;
  return {
    leftMs: () => Math.max(0, Math.ceil(untilMs - clock.monotonic())),
    set(ms) {
      untilMs = clock.monotonic() + ms;
    },
  };
}
