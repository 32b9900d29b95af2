import { UpstreamError } from '../../errors.ts';
import type { RepairState, RescanWalk } from '../../stores/repair-state.ts';
import { NOTHING_READ } from '../ingest/classify.ts';
import { type Committed, classifyStretch, commitFound } from '../ingest/commit.ts';
import { MOST_EMPTY_PAGES } from '../walk/listed.ts';
import { readStretch } from '../walk/read-stretch.ts';
import type { SourceContext } from '../walk/source-context.ts';
import type { Read, Stretch, WalkedLog } from '../walk/stretch.ts';
import { type Absence, afterLook, type Court, judgeAbsence, MOST_CANDIDATES, waitsForLook } from './candidates.ts';
import { removalsOf } from './confirm.ts';
import { findMissing, shownIn } from './missing.ts';
import { advanced, dueStretch, isDueAt, type RescannedStretch } from './rescan-rounds.ts';

/** After so many refusals or partial pages in a row a walk is given up; the next one begins anew. */
const MOST_TRIES = 3;

/** In sweep intervals: so often the marks are kept where nothing else has changed. */
const KEPT_EVERY = 12;

/** What is rescanned, as it is now. */
export interface Rescanned {
  readonly log: WalkedLog;
  readonly repair: RepairState;
  /** What the store has of it; absent: nothing yet. */
  readonly kept?: RepairState | undefined;
  readonly court: Court;
  /** In the time of order keys. */
  readonly keyNowMs: number;
}

/** With the rescan that is under way, or the next one that is due, or a look at candidates; undefined: none is. */
export async function withWalk(
  context: SourceContext,
  rescanned: Rescanned,
  isLookFirst: boolean,
): Promise<(Rescanned & { readonly walking: RescanWalk }) | undefined> {
  const { repair, log, keyNowMs: nowMs } = rescanned;
  if (repair.walk) return { ...rescanned, walking: repair.walk };
  const due = dueStretch(repair.rescannedMs, { nowMs, sweepIntervalMs: context.source.polling.sweepIntervalMs });
  const look = isLookFirst || due === undefined ? await lookFor(context, rescanned) : undefined;
  const stretch = look?.stretch ?? due;
  if (stretch === undefined) return undefined;
  const walking = await begun(context, log, stretch, nowMs);
  return { ...rescanned, repair: { ...repair, candidates: look?.candidates ?? repair.candidates }, walking };
}

async function begun(
  { source, store }: SourceContext,
  { scheme, description }: WalkedLog,
  { topMs, toMs }: RescannedStretch,
  startedAtMs: number,
): Promise<RescanWalk> {
  const walk = { toMs, startedAtMs };
  if (!description.before || !scheme.isOrdered) return walk;
  // Where few posts are newer, one page from the top serves all rounds.
  const limit = Math.ceil(description.pageSize / 2);
  const lowestKey = scheme.floorKey(topMs + 1);
  const newer = await store.timelines.knownBetween({ logId: source.logId, above: lowestKey, limit });
  return newer.length < limit ? walk : { ...walk, topMs, before: scheme.idBelow(lowestKey, 0), lowestKey };
}

/** The place of the newest candidate that only a look can judge; of all of them, where a walk comes down from the top anyway. */
async function lookFor({ source, store }: SourceContext, { log, repair, court }: Rescanned) {
  const { scheme, description } = log;
  const postIds = repair.candidates.filter((each) => waitsForLook(each, court)).map(({ postId }) => postId);
  if (postIds.length === 0) return undefined;
  const known = await store.timelines.known(source.logId, postIds);
  const timeMs = ({ orderKey }: { orderKey: string }) => scheme.keyTimeMs(orderKey) ?? 0;
  const times = [...known.values()].map(timeMs);
  const topMs = times.reduce((a, b) => Math.max(a, b), 0);
  const toMs = description.before && scheme.isOrdered ? topMs : times.reduce((a, b) => Math.min(a, b), topMs);
  // What the log does not have any more is looked for with the others, and gone after that.
  const isSought = new Set(postIds.filter((id) => timeMs(known.get(id) ?? { orderKey: '' }) >= toMs || !known.has(id)));
  const candidates = repair.candidates.map((each) =>
    isSought.has(each.postId) ? { ...each, isLookedFor: true } : each,
  );
  return { stretch: { topMs: topMs + 1, toMs: toMs - 1 }, candidates };
}

/**
 * One page of a rescan, in one commit: late posts, edits without a date, new counts, and what is missing. Throws UpstreamError,
 * StoreUnavailableError.
 */
export async function rescanPage(
  context: SourceContext,
  rescanned: Rescanned & { readonly walking: RescanWalk },
): Promise<Committed> {
  const { log, repair, court, walking } = rescanned;
  const { state } = log;
  const stretch = await readPageOf(context, rescanned);
  if (stretch === undefined || stretch.isPartial) {
    const tries = (walking.tries ?? 0) + 1;
    const isGivenUp = walking.next === undefined || tries >= MOST_TRIES;
    const after = isGivenUp ? ended(rescanned, repair.rescannedMs) : { ...repair, walk: { ...walking, tries } };
    return commitFound(context, { state, classified: NOTHING_READ, nowMs: context.clock.now(), repair: after });
  }
  const classified = await classifyStretch(context, log, stretch, 'rescan');
  const { candidates, removed, left } = judgeAbsence(
    repair.candidates,
    await absenceIn(context, rescanned, stretch),
    court,
  );
  const removals = await removalsOf(context, removed, classified.nowMs);
  const isCrowded = walking.isCrowded || left > 0 || undefined;
  const judged = { ...rescanned, repair: { ...repair, candidates }, walking: { ...walking, isCrowded } };
  const after = walkedOn(context, judged, stretch);
  const committed = await commitFound(context, {
    state,
    classified: { ...classified, append: [...classified.append, ...removals] },
    nowMs: classified.nowMs,
    repair: isWorthKeeping(context, rescanned, after) ? after : undefined,
  });
  // What was read and not committed is read again.
  if (committed.outcome !== 'conflict') context.notes.rescannedMs = after.rescannedMs;
  return committed;
}

/** The marks alone may wait: a page or two more is what losing them costs, and nothing where all posts lie below them. */
function isWorthKeeping({ source }: SourceContext, { log, kept }: Rescanned, after: RepairState): boolean {
  const isUnderWay = [kept, after].some((each) => each?.walk !== undefined || (each?.candidates.length ?? 0) > 0);
  if (kept === undefined || isUnderWay) return true;
  const aheadMs = (after.rescannedMs[0] ?? 0) - (kept.rescannedMs[0] ?? 0);
  const newestMs = log.scheme.keyTimeMs(log.state.watermark?.orderKey ?? '') ?? 0;
  const isIdle = newestMs < (kept.rescannedMs.at(-1) ?? 0);
  return !isIdle && aheadMs >= KEPT_EVERY * source.polling.sweepIntervalMs;
}

/** Undefined where the request itself is refused: what `next` named is gone, or its token too old. */
async function readPageOf(
  context: SourceContext,
  { log, walking }: Rescanned & { readonly walking: RescanWalk },
): Promise<Stretch | undefined> {
  const { next, before, toMs, lowestKey: topKey } = walking;
  const floorKey = log.scheme.floorKey(toMs);
  const bottomKey = floorKey > (log.state.floorKey ?? '') ? floorKey : log.state.floorKey;
  const readFor = { kind: 'rescan', pool: 'repair' } as const;
  try {
    return await readStretch(context, log, { readFor, next, before, topKey, bottomKey, maxPages: 1 });
  } catch (error) {
    const isRefused = error instanceof UpstreamError && [400, 404, 410, 422].includes(error.status ?? 0);
    if (!isRefused || next === undefined) throw error;
    return undefined;
  }
}

/** What the page should have shown, and what it did. */
async function absenceIn(
  context: SourceContext,
  { log, repair, court, walking }: Rescanned & { readonly walking: RescanWalk },
  stretch: Stretch,
): Promise<Absence> {
  const { scheme, description } = log;
  const shown = shownIn(stretch);
  // An end says that nothing older is there, unless the upstream cuts the timeline or cannot find its place in it.
  const isWhole = isEndOf(stretch) && description.feedDepths === undefined && description.feedMs === undefined;
  const isSure = walking.isRestarted || !isLost(log, walking, stretch);
  const above = isWhole && isSure ? scheme.floorKey(walking.toMs) : stretch.lowestKey;
  if (above === undefined) return { missing: [], shown };
  const candidates = new Set(repair.candidates.map(({ postId }) => postId));
  const at = { startedAtMs: walking.startedAtMs, sweepIntervalMs: court.sweepIntervalMs };
  const missing = await findMissing(context, stretch, {
    ...{ above, upTo: stretch.topKey },
    isCandidate: (postId) => candidates.has(postId),
    isDue: ({ orderKey }) => isDueAt(repair.rescannedMs, scheme.keyTimeMs(orderKey) ?? 0, at),
    // One more than find room, so that it shows.
    limit: MOST_CANDIDATES + 1,
  });
  return { missing, shown, ...(stretch.known.size > 0 && { betweenKey: stretch.lowestKey }) };
}

function isEndOf({ end }: Stretch): boolean {
  return end === 'end' || end === 'cut';
}

/**
 * True where a page of opaque ids does not go on below the last one: it is empty, or shows only what the log has above. The
 * post that names its place was deleted, which is answered as the end of the timeline is, or is listed higher up, perhaps too.
 */
function isLost({ scheme }: WalkedLog, { next, lowestKey = '2' }: RescanWalk, { ids, reads, known }: Stretch): boolean {
  if (scheme.isOrdered || next === undefined) return false;
  const isAbove = ({ post }: Read) => (known.get(post.id)?.orderKey ?? '') >= lowestKey;
  // Posts that were left out tell nothing.
  return ids.size === 0 || (reads.length > 0 && reads.every(isAbove));
}

/** How far the rescans have come with this page. */
function walkedOn(
  { source }: SourceContext,
  rescanned: Rescanned & { readonly walking: RescanWalk },
  stretch: Stretch,
): RepairState {
  const { repair, log, walking } = rescanned;
  const { next: here, before: _, ...walk } = walking;
  const { toMs, startedAtMs, topMs, isCrowded } = walk;
  const isAstray = isLost(log, walking, stretch);
  if (isAstray && !walk.isRestarted) return { ...repair, walk: { toMs, startedAtMs, isCrowded, isRestarted: true } };
  const tries = (walk.tries ?? 0) + 1;
  const isEmpty = stretch.ids.size === 0;
  // Lost again: pages would go round in circles for ever. Empty ones are taken for the end.
  const isStuck = stretch.next === here || (isEmpty ? tries > MOST_EMPTY_PAGES : isAstray);
  const isEnd = isEndOf(stretch) || (isEmpty && isStuck);
  if (!isEnd && !isStuck && stretch.end !== 'bottom') {
    const on = { ...walk, next: stretch.next, lowestKey: stretch.lowestKey ?? walk.lowestKey };
    return { ...repair, walk: { ...on, tries: isEmpty ? tries : undefined } };
  }
  // What found no room is read again.
  if (isCrowded) return ended(rescanned, repair.rescannedMs);
  const lowestKey = stretch.lowestKey ?? walk.lowestKey;
  const isAtBegin = lowestKey !== undefined && lowestKey <= (log.state.floorKey ?? '');
  const fromMs = isEnd || isAtBegin ? 0 : (log.scheme.keyTimeMs(lowestKey ?? '') ?? 0);
  const { sweepIntervalMs } = source.polling;
  return ended(rescanned, advanced(repair.rescannedMs, { fromMs, topMs, startedAtMs, sweepIntervalMs }));
}

function ended({ repair, court }: Rescanned, rescannedMs: readonly number[]): RepairState {
  return { ...repair, rescannedMs, walk: undefined, candidates: afterLook(repair.candidates, court) };
}
