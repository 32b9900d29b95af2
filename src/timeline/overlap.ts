import { arrivalMs, arrivalOrderKey, type IdScheme } from '../ids/id-scheme.ts';
import { sinceIdBelowLatest, sinceIdByRetrievedAt } from '../ids/since-id.ts';
import type { PostId } from '../post.ts';
import type { SourcePolling } from '../source.ts';
import type { Anchor, LogState, TimelineStore } from '../stores/timeline-store.ts';
import type { UpstreamDescription } from '../upstreams/upstream.ts';
import { openFills } from './gaps.ts';
import { LEAST_OVERLAP_MS } from './lateness.ts';

/** Where a poll starts and what closes it. */
export interface WalkPlan {
  /** Exclusive, just below the anchor; absent where there is none to send. */
  readonly sinceId?: string | undefined;
  /** Reading this id, or anything at or below it, closes the poll. */
  readonly target: Target;
  /**
   * Absent, or an order key from which no further page is worth a request: what lies below was visible, or later than k,
   * when the last whole poll was sent. So a burst is read again for as long as k, not for as long as it stays the newest.
   */
  readonly enoughKey?: string | undefined;
}

export interface Target {
  /** Absent when nothing was ever seen of opaque ids: then only the timeline's end closes. */
  readonly orderKey?: string | undefined;
  /** Absent for a floor that no post has. */
  readonly upstreamId?: string | undefined;
  readonly postId?: PostId | undefined;
}

/**
 * The overlap of one poll. The floor lies k below the watermark; the anchor is the newest known id at or under it. Open gaps
 * end at what was read above them: below that their filling reads. Where nothing lies under the floor, history's begin is the anchor.
 */
export async function planWalk(query: {
  timelines: TimelineStore;
  logId: string;
  state: LogState;
  scheme: IdScheme;
  description: UpstreamDescription;
  overlapMs: number;
  /** When the last whole poll was sent, in server time; absent where it has no `Date`: then the lower bound alone holds. */
  retrievedAtMs?: number | undefined;
  overlap: SourcePolling['overlap'];
  nowMs: number;
}): Promise<WalkPlan> {
  const { state, scheme, description } = query;
  const floor = floorOf(query);
  const found = floor && (await query.timelines.anchor(query.logId, floor.orderKey));
  const anchor = found && found.orderKey >= (state.floorKey ?? '') ? found : undefined;
  const target = aboveGaps(anchor ?? historyBegin(state, scheme), state, scheme);
  if (scheme.name === 'opaque') return { target, sinceId: description.sinceId ? anchor?.belowId : undefined };
  const enoughMs = query.retrievedAtMs === undefined ? undefined : query.retrievedAtMs - query.overlapMs;
  const enough = enoughMs === undefined ? undefined : scheme.floor(enoughMs);
  const sinceId = lower(sinceIdBelow(target, scheme, description, state), floor?.sinceId, scheme);
  return {
    target,
    enoughKey: enough && scheme.orderKey(enough),
    sinceId: description.sinceId ? sinceId : undefined,
  };
}

/**
 * The k that a poll really uses, ms: what is wanted, but no further back than the newest `room` known posts, and at least the
 * published 1 s. What k asks beyond that is the sweeps'. @see design.md, section 4, "One poll"
 */
export async function fittingOverlapMs(query: {
  timelines: TimelineStore;
  logId: string;
  state: LogState;
  scheme: IdScheme;
  wantedMs: number;
  room: number;
  nowMs: number;
}): Promise<number> {
  const { timelines, logId, state, scheme, wantedMs, room, nowMs } = query;
  const newest = await timelines.knownBetween({ logId, limit: room + 1 });
  const last = newest[room];
  if (last === undefined) return wantedMs;
  const isOpaque = scheme.name === 'opaque';
  const lastMs = isOpaque ? arrivalMs(last.orderKey) : scheme.timeMs(last.upstreamId);
  const markMs = isOpaque ? nowMs : state.watermark && scheme.timeMs(state.watermark.upstreamId);
  if (lastMs === undefined || markMs === undefined) return wantedMs;
  return Math.max(LEAST_OVERLAP_MS, Math.min(wantedMs, markMs - lastMs));
}

/** The highest exclusive since_id whose reply still holds the target. */
export function sinceIdBelow(
  target: Target,
  scheme: IdScheme,
  description: UpstreamDescription,
  state: LogState,
): string | undefined {
  if (target.upstreamId === undefined) {
    const beginMs = state.memory?.beginMs;
    return beginMs === undefined ? undefined : scheme.floor(Number(beginMs));
  }
  let sinceId = scheme.justBelow(target.upstreamId);
  // Compared as doubles, ids of today come in steps of 16: one less would be rounded up, to the anchor itself.
  for (let step = 0; description.roundsIds && step < 16 && sinceId !== undefined; step += 1) {
    sinceId = scheme.justBelow(sinceId) ?? sinceId;
  }
  return sinceId;
}

interface Floor {
  readonly orderKey: string;
  readonly sinceId?: string | undefined;
}

function floorOf(query: Parameters<typeof planWalk>[0]): Floor | undefined {
  const { state, scheme, overlapMs, overlap, nowMs } = query;
  if (state.watermark === undefined) return undefined;
  if (scheme.name === 'opaque') return { orderKey: arrivalOrderKey(Math.max(0, nowMs - overlapMs), 0) };
  const latestMs = scheme.timeMs(state.watermark.upstreamId);
  if (latestMs === undefined) return undefined;
  const retrievedAtMs = overlap === 'retrieved-at' ? query.retrievedAtMs : undefined;
  const sinceId = adjustedSinceId(scheme, {
    latestId: state.watermark.upstreamId,
    latestMs,
    retrievedAtMs,
    kMs: overlapMs,
  });
  return sinceId === undefined ? undefined : { orderKey: scheme.orderKey(sinceId), sinceId };
}

/** The published formula, or its lower bound alone where no time of the last request is given; the same for other timed ids. */
function adjustedSinceId(
  scheme: IdScheme,
  from: { latestId: string; latestMs: number; retrievedAtMs?: number | undefined; kMs: number },
): string | undefined {
  const { latestMs, retrievedAtMs, kMs } = from;
  if (scheme.layout === undefined) {
    return scheme.floor(Math.max(latestMs - kMs, Math.min((retrievedAtMs ?? 0) - kMs, latestMs)));
  }
  if (retrievedAtMs === undefined) return sinceIdBelowLatest(scheme.layout, from);
  return sinceIdByRetrievedAt(scheme.layout, { ...from, retrievedAtMs });
}

function historyBegin({ memory, floorKey }: LogState, scheme: IdScheme): Target {
  const id = memory?.beginId;
  if (id === undefined) return { orderKey: scheme.name === 'opaque' ? undefined : floorKey };
  if (scheme.name === 'opaque') return { upstreamId: id, orderKey: memory?.historyKey };
  const key = scheme.orderKey(id);
  return { upstreamId: id, orderKey: floorKey !== undefined && floorKey > key ? floorKey : key };
}

/** The lowest id read above an open gap closes a poll, where it lies above the anchor. */
function aboveGaps(anchor: Anchor | Target, state: LogState, scheme: IdScheme): Target {
  let target: Target = { orderKey: anchor.orderKey, upstreamId: anchor.upstreamId, postId: anchor.postId };
  for (const { fill } of openFills(state.gaps)) {
    if (fill.lowestId === undefined) continue;
    if (scheme.name === 'opaque') target = { ...target, upstreamId: fill.lowestId, postId: undefined };
    else if (scheme.orderKey(fill.lowestId) > (target.orderKey ?? '')) {
      target = { orderKey: scheme.orderKey(fill.lowestId), upstreamId: fill.lowestId };
    }
  }
  return target;
}

/** An edited post's id has moved up, away from its place in the order: then the floor itself is sent. */
function lower(a: string | undefined, b: string | undefined, scheme: IdScheme): string | undefined {
  if (a === undefined || b === undefined) return a;
  return scheme.orderKey(a) <= scheme.orderKey(b) ? a : b;
}
