import { addServed, emptyServedSet, encodeServedSet, MAX_SERVED, servedFirst } from '../ids/served-set.ts';
import { type FeedCursor, MAX_TOKEN_LENGTH } from '../ids/tokens.ts';
import { servedHashes } from './story.ts';

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

/**
 * The cursor right after the raw items `hashes`. These start at `start.offset`, but for a lineage's first instance at 0:
 * its served set is re-made from all of them, so that it stays as small as it can be.
 */
export function cursorAfter(start: FeedCursor, hashes: readonly string[]): FeedCursor {
  const served = hashes.flatMap(servedHashes);
  return start.successor
    ? { ...start, offset: start.offset + hashes.length, served: addServed(start.served, served) }
    : { ...start, offset: hashes.length, served: servedFirst(served) };
}

/** So many served stories fit into a token, however they are split: at most 15 bits each. */
const ALWAYS_FIT = 1000;

/** False when the scroll ends before `cursorAfter` of these: it has served too many stories, or its token would be too long. */
export function canGoOnAfter(start: FeedCursor, hashes: readonly string[]): boolean {
  // An item has two names at most. To make the set costs more than the rest of a page.
  if ((start.successor ? start.served.count : 0) + 2 * hashes.length <= ALWAYS_FIT) return true;
  const { served } = cursorAfter(start, hashes);
  if (served.count > MAX_SERVED) return false;
  const bytes = encodeServedSet(served).length + TOKEN_FRAME_BYTES;
  return Math.ceil((bytes * 4) / 3) <= MAX_TOKEN_LENGTH;
}
