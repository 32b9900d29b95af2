import type { Clock } from '../clock.ts';

/** How long work may go on in one turn of the event loop before the next waits for another, ms. */
const TURN_MS = 10;

/**
 * Returns the function that keeps much work from holding the event loop: it lets callers go on at once (undefined) while
 * the turn is young, and the others one a turn, first come first served, so that whatever else is due comes between them.
 */
export function createTurns({ monotonic }: Pick<Clock, 'monotonic'>): () => Promise<void> | undefined {
  const waiting: (() => void)[] = [];
  let beganAt: number | undefined;

  function endTurn(): void {
    beganAt = undefined;
    const next = waiting.shift();
    if (!next) return;
    begin();
    next();
  }

  function begin(): number {
    setImmediate(endTurn);
    beganAt = monotonic();
    return beganAt;
  }

  return () => {
    const passedMs = monotonic() - (beganAt ?? begin());
    if (waiting.length === 0 && passedMs < TURN_MS) return undefined;
    return new Promise((resolve) => void waiting.push(resolve));
  };
}
