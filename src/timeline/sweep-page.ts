import { arrivalMs, type IdScheme } from '../ids/id-scheme.ts';
import type { SweepState, SweepWalk } from '../stores/sweep-state.ts';
import type { KnownPost, LogState } from '../stores/timeline-store.ts';
import type { UpstreamPage } from '../upstreams/upstream.ts';
import { pageFloor } from './page-floor.ts';
import { type Sifted, sift } from './sift.ts';
import { suspect } from './suspects.ts';
import { advanced } from './sweep-rounds.ts';
import type { Sweeping } from './sweeping.ts';
import { MOST_EMPTY_PAGES } from './walk.ts';

/** What one page of a sweep came to. */
export interface SweptPage {
  readonly sifted: Sifted;
  readonly sweep: SweepState;
  /** Local clock: when the commit is made. */
  readonly nowMs: number;
}

/** The most known posts of one page's stretch that are looked at: hundreds may be missing after an unfollow. */
const MOST_LOOKED_AT = 200;

/**
 * Finds late posts, edits and new counts on a page, suspects the known posts that are missing where it should show them, and
 * brings the walk forward. `walk.lowestKey` is where the page begins, absent for the top of the timeline.
 */
export async function siftSweptPage(
  sweeping: Sweeping,
  walk: Omit<SweepWalk, 'next'>,
  page: UpstreamPage,
): Promise<SweptPage> {
  const { reading, state, sweep, scheme } = sweeping;
  const { store, source, clock, serverClock } = reading;
  const { logId } = source;
  const reads = page.posts.map((post) => ({ post, readAtMs: page.sentAtMs }));
  const postIds = reads.map(({ post }) => post.id);
  const known = await store.timelines.known(logId, postIds);
  const stored = await store.posts.getPosts([...known.keys()]);
  const nowMs = clock.now();
  const serverNowMs = serverClock.now();
  const isBelowKnown = walk.lowestKey !== undefined;
  const sifted = sift({
    ...{ reads, ids: page.ids, known, stored, state, scheme },
    ...{ mode: 'sweep', isBelowKnown, nowMs, serverNowMs },
  });

  const lowest = scheme.name === 'opaque' ? lowestOf(known) : pageFloor(page.ids, scheme);
  const lowestKey = lowest === undefined || scheme.name === 'opaque' ? lowest : scheme.orderKey(lowest);
  const isEmpty = page.ids.length === 0;
  // An opaque id whose post was deleted answers with nothing, as the end of the timeline does.
  if (isEmpty && scheme.name === 'opaque' && isBelowKnown && !walk.isAgain) {
    const { toMs, startedAtMs } = walk;
    return { sifted, nowMs, sweep: { ...sweep, walk: { toMs, startedAtMs, isAgain: true } } };
  }
  const isEnd = page.next === undefined || (isEmpty && (walk.tries ?? 0) >= MOST_EMPTY_PAGES);
  const above = lowestKey ?? (isEmpty && isEnd ? endKey(sweeping, walk.toMs) : undefined);
  const missing = above === undefined ? [] : await findMissing(sweeping, page, { above, below: walk.lowestKey });
  const suspicions = suspect(sweep, { missing, shown: new Set(postIds) });

  const reachedMs = lowestKey === undefined ? undefined : timeOf(lowestKey, lowest, scheme);
  const isBottom = isEnd || isAtBegin(lowest, lowestKey, state);
  const isDone = isBottom || (reachedMs !== undefined && reachedMs < walk.toMs);
  const { topMs, startedAtMs } = walk;
  const { sweepIntervalMs } = source.polling;
  const fromMs = isBottom ? 0 : (reachedMs ?? 0);
  const sweptMs = isDone ? advanced(sweep.sweptMs, { fromMs, topMs, startedAtMs, sweepIntervalMs }) : sweep.sweptMs;
  const on = lowestKey ?? walk.lowestKey;
  const next = isDone || page.next === undefined || on === undefined ? undefined : page.next;
  const tries = isEmpty ? (walk.tries ?? 0) + 1 : undefined;
  return {
    sifted,
    nowMs,
    sweep: {
      sweptMs,
      ...suspicions,
      walk: next === undefined || on === undefined ? undefined : { ...walk, next, lowestKey: on, tries },
    },
  };
}

/** An empty page says that nothing older is there, unless the upstream cuts the timeline or cannot find its place in it. */
function endKey({ scheme, description }: Sweeping, toMs: number): string | undefined {
  const isCut = description.feedDepths !== undefined || description.feedMs !== undefined;
  const end = isCut ? undefined : scheme.floor(toMs);
  return end === undefined ? undefined : scheme.orderKey(end);
}

/** Known posts between the bounds, both left out, which the page does not hold. */
async function findMissing(
  { reading }: Sweeping,
  page: UpstreamPage,
  bounds: { above: string; below: string | undefined },
): Promise<readonly KnownPost[]> {
  const { above, below } = bounds;
  const { logId } = reading.source;
  const between = { logId, above, limit: MOST_LOOKED_AT, ...(below !== undefined && { upTo: below }) };
  const expected = await reading.store.timelines.knownBetween(between);
  const ids = new Set(page.ids);
  const postIds = new Set(page.posts.map(({ id }) => id));
  return expected.filter(
    ({ postId, upstreamId, orderKey }) => orderKey !== below && !postIds.has(postId) && !ids.has(upstreamId),
  );
}

/** Opaque ids: the order key of the known post that was first seen before all others of the page. */
function lowestOf(known: ReadonlyMap<string, { readonly orderKey: string }>): string | undefined {
  return [...known.values()].map(({ orderKey }) => orderKey).sort()[0];
}

function timeOf(orderKey: string, id: string | undefined, scheme: IdScheme): number | undefined {
  return scheme.name === 'opaque' ? arrivalMs(orderKey) : id === undefined ? undefined : scheme.timeMs(id);
}

/** Below it nothing is appended any more: the rest of a walk could only find edits of what a trim has forgotten. */
function isAtBegin(lowest: string | undefined, lowestKey = '', { floorKey, memory }: LogState): boolean {
  if (lowest === undefined) return false;
  // Opaque ids: a floor is never set, what came first is history.
  return lowest === memory?.beginId || lowestKey <= (floorKey ?? memory?.historyKey ?? '');
}
