import type { VirtualClock } from '../test/virtual-clock.ts';

/** What one poller delivered. */
export interface Inbox {
  take(ids: readonly string[]): void;
  has(id: string): boolean;
  /** When it came, ms since the run began. */
  at(id: string): number;
  readonly twice: number;
}

export function createInbox(clock: VirtualClock): Inbox {
  const atMs = new Map<string, number>();
  let twice = 0;
  return {
    take(ids) {
      for (const id of ids) {
        if (atMs.has(id)) twice += 1;
        else atMs.set(id, clock.elapsedMs);
      }
    },
    has: (id) => atMs.has(id),
    at: (id) => atMs.get(id) ?? 0,
    get twice() {
      return twice;
    },
  };
}
