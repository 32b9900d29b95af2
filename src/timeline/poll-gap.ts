import type { IdScheme } from '../ids/id-scheme.ts';
import type { Gap, LogState } from '../stores/timeline-store.ts';
import type { UpstreamDescription } from '../upstreams/upstream.ts';
import { isCutByAge, isCutByCount, wholeAtMs } from './feed-cut.ts';
import { finalGap, isPartialGap, keepGaps, newGapId } from './gaps.ts';
import type { Target } from './overlap.ts';
import { pageFloor } from './page-floor.ts';
import type { Walk } from './walk.ts';

/**
 * The log's gaps after a poll, undefined where they stay as they are. A walk that did not come down to its target leaves an
 * open gap; one that found the feed's end before what was read earlier a final one; a partial page one without a fill,
 * until a whole poll follows. A first poll (no target) leaves none but the last.
 */
export function gapsAfterPoll(poll: {
  state: LogState;
  scheme: IdScheme;
  description: UpstreamDescription;
  walked: Walk;
  target: Target | undefined;
  isPartial: boolean;
  /** Posts that this poll appends. */
  appended: number;
  /** In the time of ids. */
  serverNowMs: number;
  nowMs: number;
  /** Final gaps from before are forgotten, Unix ms. */
  keepFromMs: number;
}): readonly Gap[] | undefined {
  const { state, walked, isPartial } = poll;
  const isWhole = !isPartial && (walked.end === 'closed' || walked.end === 'ended');
  const kept = isWhole ? state.gaps.filter((gap) => !isPartialGap(gap)) : state.gaps;
  const added = gapOf(poll);
  const gaps = keepGaps(added ? [...kept, added] : kept, poll.keepFromMs);
  return gaps.length === state.gaps.length && gaps.every((gap, at) => gap === state.gaps[at]) ? undefined : gaps;
}

function gapOf(poll: Parameters<typeof gapsAfterPoll>[0]): Gap | undefined {
  const { state, scheme, description, walked, target, isPartial } = poll;
  const { end, ids, next } = walked;
  const lowestId = pageFloor(walked.pages.findLast((page) => page.ids.length > 0)?.ids ?? [], scheme);
  const fromMs = target?.upstreamId === undefined ? undefined : scheme.timeMs(target.upstreamId);
  const toMs = lowestId === undefined ? undefined : scheme.timeMs(lowestId);
  const id = newGapId();

  if (end === 'RATE_LIMITED' || end === 'PAGE_CAP' || end === 'UPSTREAM_ERROR') {
    if (next === undefined || target === undefined) return undefined;
    const anchor = { anchorKey: target.orderKey ?? '', anchorId: target.upstreamId ?? '' };
    const depth = ids.length - state.counts.posts - poll.appended;
    return { id, fromMs, toMs, reason: end, final: false, fill: { next, ...anchor, lowestId, depth } };
  }
  if (isPartial) return state.gaps.some(isPartialGap) ? undefined : { id, fromMs, reason: 'PARTIAL', final: false };
  if (end !== 'ended' || walked.joined || target === undefined) return undefined;
  const cut: Gap = { id, fromMs, toMs, reason: 'FEED_TRUNCATED', final: true };
  if (isCutByCount(ids.length, description)) return finalGap(cut, poll.nowMs);
  const missedMs = Math.max(fromMs ?? 0, wholeAtMs(state));
  const isCut = fromMs !== undefined && isCutByAge(missedMs, description, poll.serverNowMs);
  return isCut ? finalGap({ ...cut, fromMs: missedMs }, poll.nowMs) : undefined;
}
