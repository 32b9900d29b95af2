import type { Clock } from '../clock.ts';

/** Undefined: go on at once. Else when it resolves. */
export type Turn = () => Promise<void> | undefined;

/**
 * Returns the function that keeps much work from holding the event loop: it lets the first caller of a turn, and those that
 * come within `maxMs` of it, go on at once, and the others one a turn, first come first served, so that whatever else is due
 * comes between them.
 */
export function createTurns({ monotonic }: Pick<Clock, 'monotonic'>, maxMs: number): Turn {
  const waiting: (() => void)[] = [];
  let beganAt: number | undefined;

  function endTurn(): void {
    beganAt = undefined;
    const next = waiting.shift();
    if (!next) return;
    begin();
    next();
  }

  function begin(): undefined {
    setImmediate(endTurn);
    beganAt = monotonic();
  }

  return () => {
    if (beganAt === undefined) return begin();
    if (waiting.length === 0 && monotonic() - beganAt < maxMs) return undefined;
    return new Promise((resolve) => void waiting.push(resolve));
  };
}
