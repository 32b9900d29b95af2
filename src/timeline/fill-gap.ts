import { UpstreamError } from '../errors.ts';
import type { IdScheme } from '../ids/id-scheme.ts';
import type { Gap, GapFill, LogState } from '../stores/timeline-store.ts';
import type { UpstreamDescription, UpstreamPage } from '../upstreams/upstream.ts';
import { type Committed, commitSifted } from './commit.ts';
import { depthOf } from './depth.ts';
import { type OpenGap, openFills } from './gaps.ts';
import { schemeOf } from './history.ts';
import { sinceIdBelow, type Target } from './overlap.ts';
import { pageFloor } from './page-floor.ts';
import { describe, type Reading, readPage } from './reading.ts';
import { NOTHING_SIFTED, type Sifted, sift } from './sift.ts';
import { MOST_EMPTY_PAGES } from './walk.ts';

/** Stands for `next` where reading begins anew, below the lowest id that was read. No upstream gives it. */
const AGAIN = '';

/** After so many refusals in a row a gap is given up. */
const MOST_TRIES = 3;

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
  const { fill } = gap;
  const target: Target = { orderKey: fill.anchorKey || undefined, upstreamId: fill.anchorId || undefined };

  let page: UpstreamPage;
  try {
    const sinceId = description.sinceId ? sinceIdBelow(target, scheme, description, state) : undefined;
    const { next, lowestId: before } = fill;
    page = await readPage(reading, 'fill', next === AGAIN ? { before } : { next, sinceId });
  } catch (error) {
    if (!isRefused(error)) throw error;
    // A token that was too old: where any id will do, filling goes on below the lowest that was read.
    const { lowestId: before } = fill;
    if (description.before && before !== undefined && fill.next !== AGAIN) {
      return commitSifted(reading, {
        state,
        sifted: NOTHING_SIFTED,
        nowMs: clock.now(),
        gaps: replaced(state, gap, { ...gap, fill: { ...fill, next: AGAIN } }),
      });
    }
    return commitSifted(reading, {
      state,
      sifted: NOTHING_SIFTED,
      nowMs: clock.now(),
      gaps: replaced(state, gap, triedAgain(gap)),
    });
  }

  const reads = page.posts.map((post) => ({ post, readAtMs: page.sentAtMs }));
  const known = await store.timelines.known(
    source.logId,
    reads.map(({ post }) => post.id),
  );
  const stored = await store.posts.getPosts([...known.keys()]);
  const nowMs = clock.now();
  const serverNowMs = serverClock.now();
  const sifted = sift({ reads, ids: page.ids, known, stored, state, scheme, mode: 'fill', nowMs, serverNowMs });
  const { timelines } = store;
  const depth = await depthOf(page, { target, state, scheme, timelines, logId: source.logId });
  const after = gapAfter({ gap, page, isClosed: depth === 'target', state, scheme, description, sifted });
  return commitSifted(reading, { state, sifted, nowMs, gaps: replaced(state, gap, after) });
}

/** What is left of the gap after a page of it, undefined when that is nothing. */
function gapAfter(read: {
  gap: OpenGap;
  page: UpstreamPage;
  isClosed: boolean;
  state: LogState;
  scheme: IdScheme;
  description: UpstreamDescription;
  sifted: Sifted;
}): Gap | undefined {
  const { gap, page, isClosed, state, scheme, description, sifted } = read;
  const { fill } = gap;
  // A partial page is asked for again, a while; one that stays so must not hold up the rest.
  const refills = (fill.tries ?? 0) + 1;
  if (page.partial && refills < MOST_TRIES) return { ...gap, fill: { ...fill, tries: refills } };
  const lowestId = pageFloor(page.ids, scheme) ?? fill.lowestId;
  const toMs = lowestId === undefined ? undefined : (scheme.timeMs(lowestId) ?? gap.toMs);
  const lowestKey = lowestId === undefined || scheme.name === 'opaque' ? undefined : scheme.orderKey(lowestId);

  // What left the known-index meanwhile took history's begin above the anchor: below it nothing is appended any more.
  const isTrimmed = lowestKey !== undefined && state.floorKey !== undefined && lowestKey <= state.floorKey;
  if (isTrimmed && state.floorKey !== undefined && state.floorKey > fill.anchorKey) {
    return { ...given(gap), toMs, reason: 'LOG_TRIMMED', final: true };
  }
  if (isClosed) return undefined;
  const tries = page.ids.length === 0 ? (fill.tries ?? 0) + 1 : 0;
  if (page.next === undefined || page.next === fill.next || tries > MOST_EMPTY_PAGES) {
    const depth = (fill.depth ?? 0) + state.counts.posts + sifted.counts.posts;
    const isCut = description.feedDepth !== undefined && depth >= description.feedDepth;
    return isCut ? { ...given(gap), toMs, reason: 'FEED_TRUNCATED', final: true } : undefined;
  }
  const rest: GapFill = { ...fill, next: page.next, lowestId, tries: tries > 0 ? tries : undefined };
  return { ...gap, toMs, fill: rest };
}

function triedAgain(gap: OpenGap): Gap {
  const tries = (gap.fill.tries ?? 0) + 1;
  return tries >= MOST_TRIES ? { ...given(gap), final: true } : { ...gap, fill: { ...gap.fill, tries } };
}

function given({ fill: _, ...gap }: OpenGap): Gap {
  return gap;
}

function replaced({ gaps }: LogState, gap: Gap, after: Gap | undefined): readonly Gap[] {
  return gaps.flatMap((each) => (each !== gap ? [each] : after ? [after] : []));
}

/** The request itself is refused, such as for a token that is too old: asking again changes nothing. */
function isRefused(error: unknown): boolean {
  if (!(error instanceof UpstreamError) || error.status === undefined) return false;
  return error.status >= 400 && error.status < 500 && ![401, 408, 420, 429].includes(error.status);
}
