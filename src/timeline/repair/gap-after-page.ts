import type { Gap, LogState } from '../../stores/timeline-store.ts';
import { finalGap, type OpenGap } from '../ingest/gaps.ts';
import { MOST_EMPTY_PAGES } from '../walk/listed.ts';
import type { Stretch, WalkedLog } from '../walk/stretch.ts';

/** Stands for `next` where reading begins anew. No upstream gives it. */
export const AGAIN = '';

/** After so many attempts in a row that brought nothing a gap is given up. */
const MOST_TRIES = 3;

/**
 * The gap after its next page was refused, such as for a token that is too old: reading begins anew, and comes down to the
 * same place. Final after the third time without a page that went deeper.
 */
export function gapAfterRefusal(gap: OpenGap, nowMs: number): Gap {
  const tries = (gap.fill.tries ?? 0) + 1;
  return tries >= MOST_TRIES ? finalGap(gap, nowMs) : { ...gap, fill: { ...gap.fill, next: AGAIN, tries } };
}

/** What is left of the gap after a page of it, undefined when that is nothing. */
export function gapAfterPage(gap: OpenGap, log: WalkedLog, stretch: Stretch, nowMs: number): Gap | undefined {
  const { fill } = gap;
  const { end, next, isPartial } = stretch;
  // A partial page is asked for again, a while; one that stays so must not hold up the rest.
  const tries = (fill.tries ?? 0) + 1;
  if (isPartial && tries < MOST_TRIES) return { ...gap, fill: { ...fill, tries } };
  const { lowestKey = fill.lowestKey } = stretch;
  // Pages that are read anew from above bring nothing deeper.
  const isDeeper = lowestKey !== undefined && lowestKey < (fill.lowestKey ?? '2');
  const deepest = isDeeper ? lowestKey : fill.lowestKey;
  const toMs = deepest === undefined ? gap.toMs : (log.scheme.keyTimeMs(deepest) ?? gap.toMs);
  if (isTrimmed(lowestKey, fill.anchorKey, log.state)) return finalGap({ ...gap, toMs, reason: 'LOG_TRIMMED' }, nowMs);
  if (end === 'bottom') return undefined;
  const isEmpty = stretch.ids.size === 0;
  // An opaque id whose post was deleted answers with nothing, as the end of the timeline does.
  const isLost = isEmpty && !log.scheme.isOrdered && fill.next !== AGAIN;
  if (isLost && tries < MOST_TRIES) return { ...gap, fill: { ...fill, next: AGAIN, tries } };
  if (end === 'end' && !isLost) return undefined;
  // Reading does not come on: whatever lies below is not known to have been read.
  const isStuck = next === undefined || next === fill.next || (isEmpty && tries > MOST_EMPTY_PAGES);
  if (end === 'cut' || isLost || isStuck) return finalGap({ ...gap, toMs, reason: 'FEED_TRUNCATED' }, nowMs);
  return {
    ...gap,
    toMs,
    fill: { ...fill, next, lowestKey: deepest, tries: isEmpty ? tries : isDeeper ? undefined : fill.tries },
  };
}

/** What left the known-index meanwhile took history's begin above the anchor: below it nothing is appended any more. */
function isTrimmed(lowestKey: string | undefined, anchorKey: string, { floorKey }: LogState): boolean {
  return lowestKey !== undefined && floorKey !== undefined && lowestKey <= floorKey && floorKey > anchorKey;
}
