import { addServed, emptyServedSet, encodeServedSet, MAX_SERVED, servedFirst } from '../ids/served-set.ts';
import { type FeedCursor, MAX_TOKEN_LENGTH } from '../ids/tokens.ts';

/** Bytes of a token beside its served set, at most: version, purpose, HMAC, feed id, four numbers. */
const TOKEN_FRAME_BYTES = 64;

/** Where a lineage starts. */
export function firstCursor(feedId: string): FeedCursor {
  return { feedId, offset: 0, base: 0, served: emptyServedSet, successor: false };
}

/** Where the successor of the instance that `gone` names starts. */
export function successorCursor(feedId: string, gone: FeedCursor): FeedCursor {
  return { feedId, offset: 0, base: gone.base + gone.offset, served: gone.served, successor: true };
}

/** What lies between a cursor and a later place in its instance. */
export interface Passed {
  /** The later place. */
  readonly offset: number;
  /** Names of the raw items since the cursor, shown or not; in a lineage's first instance, of all since its beginning. */
  readonly names: ArrayLike<number>;
  /** Names of the stories shown since the cursor that their items do not tell. */
  readonly shownAs: readonly number[];
  /** Of both together. */
  readonly count: number;
}

/** The cursor at that place. In the first instance its served set is re-made, so that it stays as small as it can be. */
export function cursorAfter(start: FeedCursor, { offset, names, shownAs }: Passed): FeedCursor {
  const served = start.successor
    ? addServed(start.served, [...Array.from(names), ...shownAs])
    : addServed(servedFirst(names, start.served), shownAs);
  return { ...start, offset, served };
}

/** So many served stories fit into a token, however they are split: at most 15 bits each. */
const ALWAYS_FIT = 1000;

/** False when the scroll ends before `cursorAfter` of these: it has served too many stories, or its token would be too long. */
export function canGoOnAfter(start: FeedCursor, passed: Passed): boolean {
  const kept = start.successor ? start.served.count : start.served.later.length;
  // To make the set costs more than the rest of a page.
  if (kept + passed.count <= ALWAYS_FIT) return true;
  const { served } = cursorAfter(start, passed);
  if (served.count > MAX_SERVED) return false;
  const bytes = encodeServedSet(served).length + TOKEN_FRAME_BYTES;
  return Math.ceil((bytes * 4) / 3) <= MAX_TOKEN_LENGTH;
}
