import type { Clock } from '../clock.ts';
import { StoreUnavailableError } from '../errors.ts';
import type { LeaseStore } from '../stores/store.ts';

/** Has one gateway generate for a viewer while the others wait for what it makes. Saves work alone: publishing elects the winner. */
export interface Turns {
  /**
   * What `make` gives, when it is this gateway's turn, else what `find` finds meanwhile. Whoever has the turn may be killed: it
   * ends by itself after 5 s. `holds`: whether what was made keeps the turn until then, so that nobody makes another meanwhile;
   * what failed never does.
   */
  take<T>(turn: {
    name: string;
    holds: (made: T) => boolean;
    find: () => Promise<T | undefined>;
    make: () => Promise<T>;
  }): Promise<T>;
}

/** What a recommender needs at most, and how long calls for a new feed share one. */
export const TURN_MS = 5000;
const LOOK_MS = 50;
/** After so many looks it is made, whoever else does. */
const MOST_LOOKS = Math.ceil((1.2 * TURN_MS) / LOOK_MS);

/** `holder` names this gateway and no other. */
export function createTurns(deps: { leases: LeaseStore; clock: Clock; holder: string }): Turns {
  const { leases, clock, holder } = deps;

  /** While the store does not answer everybody makes their own. */
  async function isMine(name: string): Promise<boolean> {
    try {
      return await leases.acquire({ name, holder, ttlMs: TURN_MS, nowMs: clock.now() });
    } catch (error) {
      if (error instanceof StoreUnavailableError) return true;
      throw error;
    }
  }

  return {
    async take({ name, holds, find, make }) {
      for (let looks = 0; looks < MOST_LOOKS; looks++) {
        if (await isMine(name)) break;
        const found = await find();
        if (found !== undefined) return found;
        await clock.sleep(LOOK_MS);
      }
      let isHeld = false;
      try {
        const made = await make();
        isHeld = holds(made);
        return made;
      } finally {
        if (!isHeld) await leases.release(name, holder).catch(() => {});
      }
    },
  };
}
