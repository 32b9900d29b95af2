import { UpstreamError } from '../errors.ts';
import type { IdScheme } from '../ids/id-scheme.ts';
import type { Gap, LogState } from '../stores/timeline-store.ts';
import type { PageRequest, UpstreamDescription, UpstreamPage } from '../upstreams/upstream.ts';
import { isSinceIdBroken } from './broken-since-id.ts';
import { type Committed, commitSifted } from './commit.ts';
import { depthOf } from './depth.ts';
import { AGAIN, gapAfterPage, gapAfterRefusal } from './gap-after.ts';
import { type OpenGap, openFills } from './gaps.ts';
import { schemeOf } from './history.ts';
import { sinceIdBelow, type Target } from './overlap.ts';
import { describe, type Reading, readPage } from './reading.ts';
import { NOTHING_SIFTED, type Sifted, sift } from './sift.ts';

/**
 * One page of the oldest open gap, in one commit; undefined when there is none. Throws UpstreamError where the upstream did
 * not answer, StoreUnavailableError; then nothing changes, and the next call goes on from the same place.
 */
export async function fillGap(reading: Reading): Promise<Committed | undefined> {
  const { source, store, clock, serverClock } = reading;
  const state = await store.timelines.readLog(source.logId);
  const gap = openFills(state.gaps)[0];
  if (gap === undefined) return undefined;
  const description = await describe(reading);
  const scheme = schemeOf(state, source.polling.idScheme ?? description.idScheme);
  const { anchorKey, anchorId } = gap.fill;
  const target: Target = { orderKey: anchorKey || undefined, upstreamId: anchorId || undefined };
  const filling: Filling = { reading, state, gap, description, scheme, target };

  let page: UpstreamPage;
  try {
    page = await readPage(reading, 'fill', requestOf(filling));
  } catch (error) {
    if (!isRefused(error)) throw error;
    const nowMs = clock.now();
    const gaps = replaced(state, gap, gapAfterRefusal(gap, nowMs));
    return commitSifted(reading, { state, sifted: NOTHING_SIFTED, nowMs, gaps });
  }

  const nowMs = clock.now();
  const sifted = await siftPage(filling, page, nowMs);
  const { timelines } = store;
  const depth = await depthOf(page, { target, state, scheme, timelines, logId: source.logId });
  const after = gapAfterPage({
    ...{ gap, page, state, scheme, description, nowMs },
    isClosed: depth === 'target',
    appended: sifted.append.filter(({ kind }) => kind === 'entry').length,
    serverNowMs: serverClock.now(),
  });
  return commitSifted(reading, { state, sifted, nowMs, gaps: replaced(state, gap, after) });
}

interface Filling {
  readonly reading: Reading;
  readonly state: LogState;
  readonly gap: OpenGap;
  readonly description: UpstreamDescription;
  readonly scheme: IdScheme;
  readonly target: Target;
}

/** Where reading goes on, or begins anew: below the lowest id that was read, else from the top. */
function requestOf({ reading, state, gap, description, scheme, target }: Filling): PageRequest {
  const { next, lowestId, tries } = gap.fill;
  // It only saves what lies below the anchor; where it may be what was refused, or hides posts, it is left out.
  const isDoubted =
    tries !== undefined || reading.notes.refusedSinceId !== undefined || isSinceIdBroken(reading, state);
  const sinceId = description.sinceId && !isDoubted ? sinceIdBelow(target, scheme, description, state) : undefined;
  if (next !== AGAIN) return { next, sinceId };
  // An opaque id names no place once its post is deleted.
  return { before: description.before && scheme.name !== 'opaque' ? lowestId : undefined, sinceId };
}

async function siftPage(
  { reading, state, scheme }: Filling,
  { posts, ids, sentAtMs }: UpstreamPage,
  nowMs: number,
): Promise<Sifted> {
  const { store, source, serverClock } = reading;
  const reads = posts.map((post) => ({ post, readAtMs: sentAtMs }));
  const postIds = posts.map(({ id }) => id);
  const known = await store.timelines.known(source.logId, postIds);
  const stored = await store.posts.getPosts([...known.keys()]);
  return sift({ reads, ids, known, stored, state, scheme, mode: 'fill', nowMs, serverNowMs: serverClock.now() });
}

function replaced({ gaps }: LogState, gap: Gap, after: Gap | undefined): readonly Gap[] {
  return gaps.flatMap((each) => (each !== gap ? [each] : after ? [after] : []));
}

/** The request itself is refused, such as for a token that is too old: asking the same again changes nothing. */
function isRefused(error: unknown): boolean {
  if (!(error instanceof UpstreamError) || error.status === undefined) return false;
  return error.status >= 400 && error.status < 500 && ![401, 408, 420, 429].includes(error.status);
}
