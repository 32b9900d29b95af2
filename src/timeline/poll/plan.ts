import type { IdScheme } from '../../ids/id-scheme.ts';
import { sinceIdBelowLatest, sinceIdByRetrievedAt } from '../../ids/since-id.ts';
import { openFills } from '../ingest/gaps.ts';
import type { SourceContext } from '../walk/source-context.ts';
import type { StretchPlan, WalkedLog } from '../walk/stretch.ts';
import { historyBottom } from './history.ts';
import { LEAST_OVERLAP_MS, wantedOverlapMs } from './lateness.ts';

/** Ids of today, compared as doubles, come in steps of 16: one less would be rounded up, to the anchor itself. */
const DOUBLE_STEP = 16;

/**
 * How far down a poll reads, with the overlap k. The floor lies k below the watermark; the anchor is the newest known post at
 * or under it. Open gaps end at what was read above them: below that their filling reads. Where nothing lies under the floor,
 * history's begin is the anchor.
 */
export async function planPoll(context: SourceContext, log: WalkedLog, overlapMs: number): Promise<StretchPlan> {
  const { source, store, notes, maxPages } = context;
  const { state, scheme, description } = log;
  const { retrievedAtMs } = notes;
  const { overlap } = source.polling;
  const floor = floorOf(context, log, overlapMs, overlap === 'retrieved-at' ? retrievedAtMs : undefined);
  const found = floor === undefined ? undefined : await store.timelines.anchor(source.logId, floor);
  const bottomKey = openFills(state.gaps).reduce(
    (key, { fill }) => higher(key, fill.lowestKey ?? ''),
    higher(found?.orderKey ?? '', historyBottom(state)),
  );
  const enoughMs = retrievedAtMs === undefined ? undefined : retrievedAtMs - overlapMs;
  return {
    readFor: { kind: 'poll', pool: 'poll' },
    bottomKey,
    // What lies below was visible, or later than k, when the last whole poll was sent: a burst is read again for as long as k.
    enoughKey: scheme.isOrdered && enoughMs !== undefined ? scheme.floorKey(enoughMs) : undefined,
    // While a log is empty, older posts than k may be the first ones that show: they are new all the same.
    sinceId: description.sinceId && state.counts.posts > 0 ? sinceIdBelow(bottomKey, log) : undefined,
    maxPages,
  };
}

/** The exclusive since_id whose reply still holds the post of that order key; undefined for opaque ids. */
export function sinceIdBelow(orderKey: string, { scheme, description }: WalkedLog): string | undefined {
  return scheme.idBelow(orderKey, description.roundsIds ? DOUBLE_STEP + 1 : 1);
}

/**
 * The k that a poll really uses, ms: what is wanted, but no further back than the newest known posts that fit into its pages
 * with the new ones, and at least the published 1 s. What k asks beyond that is the rescans'. @see design.md, section 4, "One poll"
 */
export async function fittingOverlapMs(
  context: SourceContext,
  { state, scheme, description }: WalkedLog,
): Promise<number> {
  const { source, store, clock, pace } = context;
  const wantedMs = wantedOverlapMs(state.lateness, source.polling);
  const room = pace.room(description.pageSize);
  const newest = await store.timelines.knownBetween({ logId: source.logId, limit: room + 1 });
  const last = newest[room];
  const lastMs = last && scheme.keyTimeMs(last.orderKey);
  const markMs = scheme.isOrdered ? state.watermark && scheme.keyTimeMs(state.watermark.orderKey) : clock.now();
  if (lastMs === undefined || markMs === undefined) return wantedMs;
  return Math.max(LEAST_OVERLAP_MS, Math.min(wantedMs, markMs - lastMs));
}

/** The order key k below the watermark, or below now where ids are opaque. */
function floorOf(
  { clock }: SourceContext,
  { state, scheme }: WalkedLog,
  overlapMs: number,
  retrievedAtMs: number | undefined,
): string | undefined {
  if (state.watermark === undefined) return undefined;
  if (!scheme.isOrdered) return scheme.floorKey(clock.now() - overlapMs);
  const { upstreamId: latestId } = state.watermark;
  const latestMs = scheme.timeMs(latestId);
  if (latestMs === undefined) return undefined;
  return adjustedKey(scheme, { latestId, latestMs, retrievedAtMs, kMs: overlapMs });
}

/** The published formula, or its lower bound alone where no time of the last request is given; the same for other timed ids. */
function adjustedKey(
  scheme: IdScheme,
  from: { latestId: string; latestMs: number; retrievedAtMs: number | undefined; kMs: number },
): string {
  const { latestMs, retrievedAtMs, kMs } = from;
  if (scheme.layout === undefined) {
    return scheme.floorKey(Math.max(latestMs - kMs, Math.min((retrievedAtMs ?? 0) - kMs, latestMs)));
  }
  if (retrievedAtMs === undefined) return scheme.orderKey(sinceIdBelowLatest(scheme.layout, from));
  return scheme.orderKey(sinceIdByRetrievedAt(scheme.layout, { ...from, retrievedAtMs }));
}

function higher(a: string, b: string): string {
  return a > b ? a : b;
}
