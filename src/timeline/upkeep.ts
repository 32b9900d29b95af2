import type { LogState } from '../stores/timeline-store.ts';
import type { Committed } from './commit.ts';
import { fillGap } from './fill-gap.ts';
import { openFills } from './gaps.ts';
import type { Reading } from './reading.ts';
import { createRetry } from './retry.ts';
import { createSweeper } from './sweep.ts';
import type { Share } from './windows.ts';

/** What a source's loop does beside polls: it fills gaps and sweeps, one request at a time. */
export interface Upkeep {
  /** ms until there is something to do; Infinity: nothing as things stand. What the budget allows is the loop's to ask. */
  dueMs(share: UpkeepShare): number;
  /** One step, in one commit. Never throws: after an error, `dueMs` waits. */
  work(share: UpkeepShare): Promise<{ readonly appended: number; readonly error?: unknown }>;
  /** The log as it is now. */
  saw(state: LogState): void;
  /** A poll took so many requests: they earn sweeps. */
  polled(requests: number): void;
}

export type UpkeepShare = Exclude<Share, 'poll'>;

export function createUpkeep(reading: Reading, random: () => number): Upkeep {
  const { source, clock, notes } = reading;
  const { polling } = source;
  const fills = createRetry({ clock, polling, random });
  const sweeps = createRetry({ clock, polling, random });
  const sweeper = createSweeper(reading);
  let hasGap = false;

  function saw(state: LogState): void {
    hasGap = openFills(state.gaps).length > 0;
  }

  async function fill(): Promise<Committed | undefined> {
    const filled = await fillGap(reading);
    if (filled === undefined) hasGap = false;
    else saw(filled.state);
    return filled;
  }

  return {
    dueMs(share) {
      if (share === 'sweep') return Math.max(sweeper.dueInMs(), sweeps.leftMs());
      return hasGap ? fills.leftMs() : Number.POSITIVE_INFINITY;
    },
    async work(share) {
      const retry = share === 'fill' ? fills : sweeps;
      try {
        const done = await (share === 'fill' ? fill() : sweeper.step());
        retry.succeeded();
        // Where nothing tells how much is allowed, a gap is not worth more requests than the polls.
        if (share === 'fill' && notes.rateLimit === undefined) retry.rest(polling.minIntervalMs);
        return { appended: done?.appended ?? 0 };
      } catch (error) {
        retry.failed(error);
        return { appended: 0, error };
      }
    },
    saw,
    polled: sweeper.polled,
  };
}
