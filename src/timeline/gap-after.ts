import type { IdScheme } from '../ids/id-scheme.ts';
import type { Gap, LogState } from '../stores/timeline-store.ts';
import type { UpstreamDescription, UpstreamPage } from '../upstreams/upstream.ts';
import { isCutByAge, isCutByCount } from './feed-cut.ts';
import { finalGap, type OpenGap } from './gaps.ts';
import { pageFloor } from './page-floor.ts';
import { MOST_EMPTY_PAGES } from './walk.ts';

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

interface PageRead {
  readonly gap: OpenGap;
  readonly page: UpstreamPage;
  /** True when the page came down to the gap's anchor. */
  readonly isClosed: boolean;
  /** Posts of the page that were new. */
  readonly appended: number;
  /** Before the page. */
  readonly state: LogState;
  readonly scheme: IdScheme;
  readonly description: UpstreamDescription;
  readonly nowMs: number;
  readonly serverNowMs: number;
}

/** What is left of the gap after a page of it, undefined when that is nothing. */
export function gapAfterPage(read: PageRead): Gap | undefined {
  const { gap, page, isClosed, state, scheme, nowMs } = read;
  const { fill } = gap;
  // A partial page is asked for again, a while; one that stays so must not hold up the rest.
  const refills = (fill.tries ?? 0) + 1;
  if (page.partial && refills < MOST_TRIES) return { ...gap, fill: { ...fill, tries: refills } };
  const { lowestId, isDeeper } = lowestOf(read);
  const toMs = lowestId === undefined ? undefined : (scheme.timeMs(lowestId) ?? gap.toMs);
  const lowestKey = lowestId === undefined || scheme.name === 'opaque' ? undefined : scheme.orderKey(lowestId);

  // What left the known-index meanwhile took history's begin above the anchor: below it nothing is appended any more.
  const isTrimmed = lowestKey !== undefined && state.floorKey !== undefined && lowestKey <= state.floorKey;
  if (isTrimmed && state.floorKey !== undefined && state.floorKey > fill.anchorKey) {
    return finalGap({ ...gap, toMs, reason: 'LOG_TRIMMED' }, nowMs);
  }
  if (isClosed) return undefined;
  const isEmpty = page.ids.length === 0;
  const tries = isEmpty ? refills : isDeeper ? undefined : fill.tries;
  // An opaque id whose post was deleted answers with nothing, as the end of the timeline does.
  if (isEmpty && scheme.name === 'opaque' && fill.next !== AGAIN && refills < MOST_TRIES) {
    return { ...gap, fill: { ...fill, next: AGAIN, tries } };
  }
  if (page.next === undefined || page.next === fill.next || (isEmpty && refills > MOST_EMPTY_PAGES)) {
    return isCut(read) ? finalGap({ ...gap, toMs, reason: 'FEED_TRUNCATED' }, nowMs) : undefined;
  }
  return { ...gap, toMs, fill: { ...fill, next: page.next, lowestId, tries } };
}

/** Pages that were read anew from above bring nothing deeper. Opaque ids do not tell, but that something new was among them. */
function lowestOf({ gap, page, appended, scheme }: PageRead): { lowestId: string | undefined; isDeeper: boolean } {
  const { lowestId } = gap.fill;
  const floor = pageFloor(page.ids, scheme);
  if (floor === undefined) return { lowestId, isDeeper: false };
  const isDeeper =
    lowestId === undefined ||
    (scheme.name === 'opaque' ? appended > 0 : scheme.orderKey(floor) < scheme.orderKey(lowestId));
  return { lowestId: isDeeper ? floor : lowestId, isDeeper };
}

function isCut({ gap, state, scheme, description, appended, serverNowMs }: PageRead): boolean {
  const depth = (gap.fill.depth ?? 0) + state.counts.posts + appended;
  const anchorMs = gap.fill.anchorId === '' ? undefined : scheme.timeMs(gap.fill.anchorId);
  return isCutByCount(depth, description) || (anchorMs !== undefined && isCutByAge(anchorMs, description, serverNowMs));
}
