import { type Problem, UpstreamError } from '../errors.ts';
import { type IdScheme, idScheme } from '../ids/id-scheme.ts';
import type { LogState } from '../stores/timeline-store.ts';
import type { UpstreamDescription, UpstreamPage } from '../upstreams/upstream.ts';
import { brokenSinceId, hides, isDoubtful, isSinceIdBroken } from './broken-since-id.ts';
import { type Committed, commitSifted } from './commit.ts';
import { depthOf } from './depth.ts';
import { noteWhole } from './feed-cut.ts';
import { historyBegin, isFirstPoll, schemeOf } from './history.ts';
import { wantedOverlapMs } from './lateness.ts';
import { fittingOverlapMs, planWalk, type WalkPlan } from './overlap.ts';
import { gapsAfterPoll } from './poll-gap.ts';
import { describe, type Reading, readPage } from './reading.ts';
import { type Sifted, sift } from './sift.ts';
import { type Depth, type Walk, walk } from './walk.ts';

export interface Polled extends Committed {
  /** What broke the poll off after its first page; the rest of it is a gap. */
  readonly error?: UpstreamError | undefined;
  /** What was left out, and why. */
  readonly problems: readonly Problem[];
  /** How many requests it took. */
  readonly requests: number;
  /** The k that was used. */
  readonly overlapMs: number;
}

/**
 * One poll: overlap, pages down to the anchor, one commit. Throws UpstreamError where nothing was read, StoreUnavailableError;
 * then nothing changes.
 * @see design.md, section 4, "One poll"
 */
export async function poll(reading: Reading): Promise<Polled> {
  const { source, store, clock, serverClock, notes, pace } = reading;
  const state = await store.timelines.readLog(source.logId);
  const description = await describe(reading);
  const scheme = schemeOf(state, source.polling.idScheme ?? description.idScheme);
  const overlapMs = await fittingOverlapMs({
    timelines: store.timelines,
    logId: source.logId,
    state,
    scheme,
    wantedMs: wantedOverlapMs(state.lateness, source.polling),
    room: pace.room(description.pageSize),
    nowMs: clock.now(),
  });
  const guess: Polling = { reading, state, description, scheme, overlapMs };

  const plan = isFirstPoll(state, scheme) ? undefined : await plannedWalk(guess);
  const walked = await walkDown(guess, plan);
  const polling = plan === undefined && isWrong(guess, walked) ? { ...guess, scheme: idScheme('opaque') } : guess;
  const isPartial = walked.pages.some((page) => page.partial);
  const nowMs = clock.now();
  const sifted = await siftWalk(polling, walked, plan === undefined, nowMs);
  const { posts: appended } = sifted.counts;
  pace.note(appended, sifted.spanMs);

  const target = plan?.target;
  const keepFromMs = nowMs - reading.keepMs;
  const emptyBeginMs = Math.floor(serverClock.now() - overlapMs);
  const historyKey = sifted.append.at(-1)?.orderKey;
  const isWhole = (walked.end === 'closed' || walked.end === 'ended') && !isPartial;
  const told = { ...brokenSinceId(reading, state), ...(isWhole && noteWhole(state, description, serverClock.now())) };
  const memory = Object.keys(told).length > 0 ? told : undefined;
  const committed = await commitSifted(reading, {
    state,
    // A partial page hides what lies below its newest post. At the page cap we must come forward all the same.
    sifted: isPartial && walked.end !== 'PAGE_CAP' ? { ...sifted, watermark: undefined } : sifted,
    nowMs,
    gaps: gapsAfterPoll({
      ...{ state, scheme, description, walked, target, isPartial, appended, nowMs, keepFromMs },
      serverNowMs: serverClock.now(),
    }),
    memory,
    ...(plan === undefined && historyBegin({ ids: walked.ids, scheme: polling.scheme, historyKey, emptyBeginMs })),
  });
  if (isWhole && committed.outcome !== 'conflict') notes.retrievedAtMs = notes.sentAtMs;
  const problems = problemsOf(walked, isPartial, source.key);
  return { ...committed, error: walked.error, problems, overlapMs, requests: walked.pages.length };
}

/** A wrong guess, of the settings or of the adapter, fails safe. */
function isWrong({ scheme }: Polling, { ids }: Walk): boolean {
  return ids.length > 0 && !ids.some((id) => scheme.includes(id));
}

interface Polling {
  readonly reading: Reading;
  readonly state: LogState;
  readonly description: UpstreamDescription;
  readonly scheme: IdScheme;
  readonly overlapMs: number;
}

function plannedWalk({ reading, state, description, scheme, overlapMs }: Polling): Promise<WalkPlan> {
  const { source, store, clock, notes } = reading;
  return planWalk({
    timelines: store.timelines,
    logId: source.logId,
    state,
    scheme,
    description,
    overlapMs,
    overlap: source.polling.overlap,
    retrievedAtMs: notes.retrievedAtMs,
    nowMs: clock.now(),
  });
}

/** Without a plan the first page that holds something is all of history. */
async function walkDown(polling: Polling, plan: WalkPlan | undefined): Promise<Walk> {
  const { reading } = polling;
  const { notes } = reading;
  const isUseless = plan?.sinceId === notes.refusedSinceId || isSinceIdBroken(reading, polling.state);
  let sinceId = isUseless ? undefined : plan?.sinceId;

  async function read(next: string | undefined): Promise<UpstreamPage> {
    try {
      const page = await readPage(reading, 'poll', { next, sinceId });
      if (next === undefined) notes.sentAtMs = reading.serverClock.lastSentAt();
      if (page.ids.length > 0 || next !== undefined || !isDoubtful(reading, polling.state, sinceId)) return page;
      const whole = await readPage(reading, 'poll', {});
      notes.doubtedSinceId = sinceId;
      if (!hides(whole, sinceId, polling.scheme)) return page;
      notes.brokenAtMs = reading.clock.now();
      sinceId = undefined;
      return whole;
    } catch (error) {
      const isRefused = error instanceof UpstreamError && error.status === 400 && next === undefined;
      if (sinceId === undefined || !isRefused) throw error;
      // Twitter's search refuses a since_id older than 7 days: then pages are walked to the anchor without it.
      notes.refusedSinceId = sinceId;
      sinceId = undefined;
      return read(next);
    }
  }

  const walked = await walk({
    read,
    depthOf: (page) => depthIn(polling, plan, page, sinceId),
    mayGoOn: () => reading.budget.mayGoOn(),
    isStopped: () => reading.signal.aborted,
    maxPages: reading.maxPages,
  });
  const last = walked.ids.at(-1);
  if (walked.end === 'ended' && sinceId !== undefined && last !== undefined) notes.bottom = { sinceId, id: last };
  return walked;
}

async function depthIn(
  { reading, state, scheme, description }: Polling,
  plan: WalkPlan | undefined,
  page: UpstreamPage,
  sinceId: string | undefined,
): Promise<Depth> {
  if (plan === undefined) return page.ids.length > 0 ? 'target' : 'new';
  const { bottom } = reading.notes;
  const isBottom = bottom !== undefined && bottom.sinceId === sinceId && bottom.id === page.ids.at(-1);
  // The anchor was deleted, and an earlier poll saw that nothing older follows this id: no need to ask again each time.
  if (isBottom && page.ids.length * 2 <= description.pageSize) return 'target';
  const { timelines } = reading.store;
  return depthOf(page, { ...plan, state, scheme, timelines, logId: reading.source.logId });
}

async function siftWalk(
  { reading, state, scheme }: Polling,
  { reads, ids }: Walk,
  isFirst: boolean,
  nowMs: number,
): Promise<Sifted> {
  const { store, source, serverClock } = reading;
  const postIds = reads.map(({ post }) => post.id);
  const known = await store.timelines.known(source.logId, postIds);
  const stored = await store.posts.getPosts([...known.keys()]);
  const mode = isFirst ? 'history' : 'poll';
  return sift({ reads, ids, known, stored, state, scheme, mode, nowMs, serverNowMs: serverClock.now() });
}

function problemsOf({ pages }: Walk, isPartial: boolean, sourceKey: string): readonly Problem[] {
  const told = pages.flatMap((page) => page.problems).map((problem) => ({ ...problem, sourceKey }));
  if (!isPartial || told.some((problem) => problem.code !== 'MALFORMED')) return told;
  return [...told, { code: 'UNAVAILABLE', message: 'the upstream answered with a partial page', sourceKey }];
}
