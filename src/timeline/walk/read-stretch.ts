import { UpstreamError } from '../../errors.ts';
import type { KnownPost } from '../../stores/timeline-store.ts';
import type { UpstreamPage } from '../../upstreams/upstream.ts';
import { fetchById, readPage } from './ask.ts';
import { hides, isSinceIdBroken } from './broken-since-id.ts';
import {
  addPage,
  beginWalk,
  isAtBottom,
  isAtEnd,
  isBelowNew,
  isMet,
  liveThere,
  placeAll,
  takeDetour,
  type Walk,
} from './listed.ts';
import type { SourceContext } from './source-context.ts';
import type { Stretch, StretchEnd, StretchPlan, WalkedLog } from './stretch.ts';

/** So few posts may all have been deleted: then it is asked whether they were. */
const FEW = 3;

/** Of posts that are held until they are committed, all at once: a hundred pages of usual ones. */
const MAX_BYTES = 16_000_000;

/** Reads pages downwards. Throws what the first request throws; later errors end the walk with what was read. */
export async function readStretch(context: SourceContext, log: WalkedLog, plan: StretchPlan): Promise<Stretch> {
  const { notes, signal, requests } = context;
  const walk = beginWalk(context, log, plan, isUseless(context, log, plan) ? undefined : plan.sinceId);
  for (;;) {
    let page: UpstreamPage;
    try {
      page = await ask(walk);
    } catch (error) {
      if (isRefused(error, walk)) {
        // Twitter's search refuses a since_id older than 7 days: then pages are walked to the anchor without it.
        notes.refusedSinceId = walk.sinceId;
        walk.sinceId = undefined;
        continue;
      }
      // What the since_id hides is not known yet: the next walk begins without it.
      const isOpen = walk.doubted !== undefined;
      if (walk.pages.length === 0 || isOpen || signal.aborted || !(error instanceof UpstreamError)) throw error;
      return finish(walk, 'broken', error.code === 'RATE_LIMITED' ? 'RATE_LIMITED' : 'UPSTREAM_ERROR', error);
    }
    const { doubted } = walk;
    if (doubted !== undefined && hides(page.ids, walk.ids, doubted, log.scheme)) notes.brokenAtMs = context.clock.now();
    walk.doubted = undefined;
    if (walk.sinceId === undefined && notes.doubt && notes.doubt.sinceId === plan.sinceId)
      notes.doubt = { ...notes.doubt, isSettled: true };
    await addPage(walk, page);
    if (isAtBottom(walk, page)) return finish(walk, 'bottom');
    if (isAtEnd(walk) && !takeDetour(walk)) {
      const end = await endOf(walk);
      if (end !== undefined) return finish(walk, end);
    } else if (walk.pages.length >= plan.maxPages || walk.bytes >= MAX_BYTES) {
      return walk.isJoined ? finish(walk, 'joined') : finish(walk, 'broken', 'PAGE_CAP');
    } else if (!requests.mayGoOn()) return finish(walk, 'broken', 'RATE_LIMITED');
  }
}

function isUseless(context: SourceContext, { state }: WalkedLog, { sinceId }: StretchPlan): boolean {
  const { refusedSinceId, doubt } = context.notes;
  const isOpen = doubt?.sinceId === sinceId && doubt?.isSettled === false;
  return sinceId === refusedSinceId || isOpen || isSinceIdBroken(context, state);
}

async function ask({ context, plan, pages, next, before, sinceId }: Walk): Promise<UpstreamPage> {
  const page = await readPage(context, plan.readFor, { next, sinceId, before });
  if (pages.length === 0) context.notes.sentAtMs = context.serverClock.lastSentAt();
  return page;
}

function isRefused(error: unknown, { sinceId, pages }: Walk): boolean {
  return error instanceof UpstreamError && error.status === 400 && sinceId !== undefined && pages.length === 0;
}

/** What it is that the timeline seems to end; undefined where it is read once more without since_id, which may hide the rest. */
async function endOf(walk: Walk): Promise<'end' | 'cut' | undefined> {
  const { notes } = walk.context;
  const { sinceId } = walk;
  const id = walk.pages.findLast(({ ids }) => ids.length > 0)?.ids.at(-1);
  const live = isMet(walk) ? [] : await liveThere(walk, FEW + 1);
  if (live.length === 0) {
    if (sinceId !== undefined && id !== undefined) notes.end = { sinceId, id };
    return 'end';
  }
  if (sinceId === undefined || notes.doubt?.sinceId === sinceId)
    return isBelowNew(walk) && !(await areGone(walk, live)) ? 'cut' : 'end';
  notes.doubt = { sinceId, isSettled: false };
  walk.doubted = sinceId;
  walk.sinceId = undefined;
  walk.next = walk.plan.next;
  walk.before = walk.plan.before;
  return undefined;
}

/** True where these are few, and the upstream says of each that it is deleted. */
async function areGone({ context }: Walk, live: readonly KnownPost[]): Promise<boolean> {
  if (live.length > FEW || !context.requests.mayReadById()) return false;
  try {
    for (const { upstreamId } of live) {
      const { gone } = await fetchById(context, [upstreamId]);
      if (!gone.includes(upstreamId)) return false;
    }
    return true;
  } catch (error) {
    if (context.signal.aborted || !(error instanceof UpstreamError)) throw error;
    return false;
  }
}

async function finish(
  walk: Walk,
  end: StretchEnd,
  brokenBy?: Stretch['brokenBy'],
  error?: UpstreamError,
): Promise<Stretch> {
  const { reads, ids, known, plan, pages, next, context, log } = walk;
  const places = await placeAll(walk);
  return {
    ...{ reads: [...reads.values()], ids, known, places, topKey: plan.topKey, end, brokenBy, error, next },
    lowestKey: log.scheme.isOrdered ? walk.floor : places.lowestKey,
    isPartial: pages.some(({ partial }) => partial),
    problems: pages
      .flatMap(({ problems }) => problems)
      .map((problem) => ({ ...problem, sourceKey: context.source.key })),
    requests: pages.length,
  };
}
