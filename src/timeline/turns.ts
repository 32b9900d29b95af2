import type { Share } from './windows.ts';

/** Which of the works that are due is done next. */
export interface Turns {
  /** The first whose turn it is among those that are due; undefined: none is. */
  next(isDue: (share: Share) => boolean): Share | undefined;
}

const SHARES: readonly Share[] = ['poll', 'fill', 'sweep'];
/** Where polls take longer than the least interval, the next one is due at once: after so many the rest has a turn all the same. */
const MOST_POLLS_IN_A_ROW = 3;
const AFTER_POLLS: readonly Share[] = ['fill', 'sweep', 'poll'];

/** Polls first, then gaps, then sweeps. */
export function createTurns(): Turns {
  let pollsInARow = 0;
  return {
    next(isDue) {
      const share = (pollsInARow < MOST_POLLS_IN_A_ROW ? SHARES : AFTER_POLLS).find(isDue);
      if (share !== undefined) pollsInARow = share === 'poll' ? pollsInARow + 1 : 0;
      return share;
    },
  };
}
