import { UpstreamError } from '../../errors.ts';
import type { Gap, LogState } from '../../stores/timeline-store.ts';
import { NOTHING_READ } from '../ingest/classify.ts';
import { type Committed, classifyStretch, commitFound } from '../ingest/commit.ts';
import { type OpenGap, openFills } from '../ingest/gaps.ts';
import { sinceIdBelow } from '../poll/plan.ts';
import { openLog } from '../poll/poll.ts';
import { readStretch } from '../walk/read-stretch.ts';
import type { SourceContext } from '../walk/source-context.ts';
import type { Stretch, StretchPlan, WalkedLog } from '../walk/stretch.ts';
import { AGAIN, gapAfterPage, gapAfterRefusal } from './gap-after-page.ts';

/**
 * One page of the oldest open gap, in one commit; undefined when there is none. Throws UpstreamError where the upstream did
 * not answer, StoreUnavailableError; then nothing changes, and the next call goes on from the same place.
 */
export async function fillGap(context: SourceContext, pool: 'poll' | 'repair'): Promise<Committed | undefined> {
  const log = await openLog(context);
  const { state } = log;
  const gap = openFills(state.gaps)[0];
  if (gap === undefined) return undefined;
  let stretch: Stretch;
  try {
    stretch = await readStretch(context, log, planOf(context, log, gap, pool));
  } catch (error) {
    if (!isRefused(error)) throw error;
    const nowMs = context.clock.now();
    const gaps = replaced(state, gap, gapAfterRefusal(gap, nowMs));
    return commitFound(context, { state, classified: NOTHING_READ, nowMs, gaps });
  }
  const classified = await classifyStretch(context, log, stretch, 'fill');
  const { nowMs } = classified;
  const gaps = replaced(state, gap, gapAfterPage(gap, log, stretch, nowMs));
  return commitFound(context, { state, classified, nowMs, gaps });
}

/** Where reading goes on, or begins anew: below the lowest id that was read, else from the top. */
function planOf({ notes }: SourceContext, log: WalkedLog, gap: OpenGap, pool: 'poll' | 'repair'): StretchPlan {
  const { description, scheme } = log;
  const { next, lowestKey, tries, anchorKey } = gap.fill;
  // It only saves what lies below the anchor; where it may be what was refused, it is left out.
  const isDoubted = tries !== undefined || notes.refusedSinceId !== undefined;
  const sinceId = description.sinceId && !isDoubted ? sinceIdBelow(anchorKey, log) : undefined;
  const plan = {
    readFor: { kind: 'fill', pool } as const,
    sinceId,
    bottomKey: anchorKey,
    joinKey: anchorKey,
    maxPages: 1,
  };
  if (next !== AGAIN) return { ...plan, next, topKey: lowestKey };
  // An opaque id names no place once its post is deleted.
  const before = description.before && lowestKey !== undefined ? scheme.idBelow(lowestKey, 0) : undefined;
  return { ...plan, before, topKey: before && lowestKey };
}

function replaced({ gaps }: LogState, gap: Gap, after: Gap | undefined): readonly Gap[] {
  return gaps.flatMap((each) => (each !== gap ? [each] : after ? [after] : []));
}

/** The request itself is refused, such as for a token that is too old: asking the same again changes nothing. */
function isRefused(error: unknown): boolean {
  if (!(error instanceof UpstreamError) || error.status === undefined) return false;
  return error.status >= 400 && error.status < 500 && ![401, 408, 420, 429].includes(error.status);
}
