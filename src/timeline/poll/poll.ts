import type { Problem, UpstreamError } from '../../errors.ts';
import { type IdScheme, idScheme } from '../../ids/id-scheme.ts';
import { type Committed, classifyStretch, commitFound } from '../ingest/commit.ts';
import { describe } from '../walk/ask.ts';
import { placePosts } from '../walk/place-posts.ts';
import { readStretch } from '../walk/read-stretch.ts';
import type { SourceContext } from '../walk/source-context.ts';
import type { Stretch, StretchPlan, WalkedLog } from '../walk/stretch.ts';
import { gapsAfterPoll } from './gap-after-poll.ts';
import { type HistoryBegin, historyBegin, isFirstPoll, schemeOf } from './history.ts';
import { fittingOverlapMs, planPoll } from './plan.ts';
import { noteWhole } from './shown-for.ts';

/** What a poll came to. */
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

/** The first page that holds something is all of history. */
const FIRST: StretchPlan = {
  readFor: { kind: 'poll', pool: 'poll' },
  bottomKey: undefined,
  maxPages: Number.POSITIVE_INFINITY,
};

/**
 * One poll: overlap, pages down to the anchor, one commit. Throws UpstreamError where nothing was read, StoreUnavailableError;
 * then nothing changes.
 * @see design.md, section 4, "One poll"
 */
export async function poll(context: SourceContext): Promise<Polled> {
  const { serverClock, notes, pace } = context;
  const log = await openLog(context);
  const { state } = log;
  const overlapMs = await fittingOverlapMs(context, log);
  const isFirst = isFirstPoll(state, log.scheme);
  const plan = isFirst ? FIRST : await planPoll(context, log, overlapMs);
  const { stretch, scheme } = await read(context, log, plan);
  const classified = await classifyStretch(context, { ...log, scheme }, stretch, isFirst ? 'history' : 'poll');
  const { nowMs } = classified;
  const { posts: found } = classified.counts;
  pace.note(found, classified.spanMs);

  const serverNowMs = serverClock.now();
  const isWhole = stretch.end !== 'broken' && !stretch.isPartial;
  const emptyKey = scheme.floorKey(Math.floor(serverNowMs - overlapMs));
  const begin = historyBegin(state, { isFirst, lowestKey: stretch.lowestKey, scheme, emptyKey });
  const committed = await commitFound(context, {
    ...{ state, nowMs },
    // A partial page hides what lies below its newest post. At the page cap we must come forward all the same.
    classified:
      stretch.isPartial && stretch.brokenBy !== 'PAGE_CAP' ? { ...classified, watermark: undefined } : classified,
    gaps: gapsAfterPoll({ ...log, stretch, bottomKey: plan.bottomKey, serverNowMs, nowMs }),
    floorKey: begin?.floorKey,
    memory: memoryAfter(context, log, { isWhole, begin }),
  });
  if (isWhole && committed.outcome !== 'conflict') notes.retrievedAtMs = notes.sentAtMs;
  const { error, requests } = stretch;
  return { ...committed, error, problems: problemsOf(stretch, context.source.key), overlapMs, requests };
}

/** The log as it is, with what its upstream is. */
export async function openLog(context: SourceContext): Promise<WalkedLog> {
  const { source, store } = context;
  const state = await store.timelines.readLog(source.logId);
  const description = await describe(context);
  return { state, description, scheme: schemeOf(state, source.polling.idScheme ?? description.idScheme) };
}

/** A wrong guess of the scheme, of the settings or of the adapter, fails safe: a first poll's ids are opaque then. */
async function read(
  context: SourceContext,
  log: WalkedLog,
  plan: StretchPlan,
): Promise<{ stretch: Stretch; scheme: IdScheme }> {
  const { source, store, clock } = context;
  const stretch = await readStretch(context, log, plan);
  const isWrong = stretch.ids.size > 0 && ![...stretch.ids].some((id) => log.scheme.includes(id));
  if (plan.bottomKey !== undefined || !isWrong) return { stretch, scheme: log.scheme };
  const scheme = idScheme('opaque');
  const places = await placePosts({
    ...{ posts: stretch.reads.map(({ post }) => post), known: new Map(), state: log.state, scheme },
    ...{ timelines: store.timelines, logId: source.logId, nowMs: clock.now() },
  });
  return { stretch: { ...stretch, places, lowestKey: places.lowestKey }, scheme };
}

function memoryAfter(
  { notes, serverClock }: SourceContext,
  { state, description }: WalkedLog,
  poll: { isWhole: boolean; begin: HistoryBegin | undefined },
): Readonly<Record<string, string>> | undefined {
  const broken = notes.brokenAtMs === undefined ? undefined : String(notes.brokenAtMs);
  const told = {
    ...(broken !== undefined && broken !== state.memory?.brokenAtMs && { brokenAtMs: broken }),
    ...(poll.isWhole && noteWhole(state, description, serverClock.now())),
    ...poll.begin?.memory,
  };
  return Object.keys(told).length > 0 ? told : undefined;
}

function problemsOf({ problems, isPartial }: Stretch, sourceKey: string): readonly Problem[] {
  if (!isPartial || problems.some(({ code }) => code !== 'MALFORMED')) return problems;
  return [...problems, { code: 'UNAVAILABLE', message: 'the upstream answered with a partial page', sourceKey }];
}
