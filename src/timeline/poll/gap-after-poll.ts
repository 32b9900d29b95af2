import type { Gap } from '../../stores/timeline-store.ts';
import { finalGap, isPartialGap, newGapId } from '../ingest/gaps.ts';
import type { Stretch, WalkedLog } from '../walk/stretch.ts';
import { isTooOld, wholeAtMs } from './shown-for.ts';

/** A poll that was read, as far as it decides on gaps. */
interface PollRead extends WalkedLog {
  readonly stretch: Stretch;
  /** Down to where it was to read; absent for a first poll. */
  readonly bottomKey: string | undefined;
  /** In the time of ids. */
  readonly serverNowMs: number;
  readonly nowMs: number;
}

/**
 * The log's gaps after a poll. A walk that broke off leaves an open one, a cut timeline a final one; a partial page one
 * without a fill, until a whole poll follows. A first poll leaves none but the last.
 */
export function gapsAfterPoll(poll: PollRead): readonly Gap[] {
  const { state, stretch } = poll;
  const isWhole = !stretch.isPartial && stretch.end !== 'broken';
  const kept = isWhole ? state.gaps.filter((gap) => !isPartialGap(gap)) : state.gaps;
  const added = gapOf(poll);
  return added ? [...kept, added] : kept;
}

function gapOf({ state, scheme, description, stretch, bottomKey, ...at }: PollRead): Gap | undefined {
  const { end, next, lowestKey } = stretch;
  const id = newGapId();
  const fromMs = bottomKey === undefined ? undefined : scheme.keyTimeMs(bottomKey);
  const toMs = lowestKey === undefined ? undefined : scheme.keyTimeMs(lowestKey);
  if (end === 'broken') {
    if (next === undefined || bottomKey === undefined) return undefined;
    const reason = stretch.brokenBy ?? 'UPSTREAM_ERROR';
    return { id, fromMs, toMs, reason, final: false, fill: { next, anchorKey: bottomKey, lowestKey } };
  }
  if (stretch.isPartial)
    return state.gaps.some(isPartialGap) ? undefined : { id, fromMs, reason: 'PARTIAL', final: false };
  if (bottomKey === undefined) return undefined;
  const cut: Gap = { id, fromMs, toMs, reason: 'FEED_TRUNCATED', final: true };
  if (end === 'cut') return finalGap(cut, at.nowMs);
  // Whatever the log has is too old to be shown: then the time of the last whole poll tells whether something was missed.
  if (end !== 'end' || stretch.known.size > 0) return undefined;
  const missedMs = Math.max(fromMs ?? 0, wholeAtMs(state));
  return isTooOld(missedMs, description, at.serverNowMs) ? finalGap({ ...cut, fromMs: missedMs }, at.nowMs) : undefined;
}
