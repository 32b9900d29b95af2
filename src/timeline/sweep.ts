import type { Committed } from './commit.ts';
import type { Reading } from './reading.ts';

/** Re-reads what is there already, for what polls cannot see. */
export interface Sweeper {
  /** How many ms until the next request is worth it; what the budget allows is the loop's to ask. */
  dueInMs(): number;
  /** One page, or one request by id, in one commit; undefined when there was nothing to do. Throws UpstreamError, StoreUnavailableError. */
  step(): Promise<Committed | undefined>;
  /** Polls earn sweeps: how many requests a poll took. */
  polled(requests: number): void;
}

export function createSweeper(_reading: Reading): Sweeper {
  return { dueInMs: () => Number.POSITIVE_INFINITY, step: async () => undefined, polled() {} };
}
