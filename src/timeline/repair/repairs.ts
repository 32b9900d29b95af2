import type { DeletionCandidate } from '../../stores/repair-state.ts';
import type { Committed } from '../ingest/commit.ts';
import type { SourceContext } from '../walk/source-context.ts';
import { MOST_CANDIDATES } from './candidates.ts';
import { confirmDeletions } from './confirm.ts';
import { createDeadline } from './deadline.ts';
import { nominate } from './nominate.ts';
import { openRepair, presentCourt, toAsk } from './present.ts';
import { rescanPage, withWalk } from './rescan.ts';
import { dueInMs } from './rescan-rounds.ts';

/** What a source does for what polls cannot see: very late posts, edits without a date, removals, counts. */
export interface Repairs {
  /** ms until the next page is worth it. */
  rescanInMs(): number;
  /** ms until a deletion candidate is to be asked for by id; Infinity where there is none. */
  confirmInMs(): number;
  /** Goes on after another gateway. Throws StoreUnavailableError. */
  adopt(): Promise<void>;
  /** One page; undefined when there was nothing to do. Throws UpstreamError, StoreUnavailableError. */
  rescan(): Promise<Committed | undefined>;
  /** One request by id; undefined when there was nobody to ask for. Throws as `rescan` does. */
  confirm(): Promise<Committed | undefined>;
  /** Polls earn rescans: how many requests a poll took. */
  polled(requests: number): void;
  /** A read by id was told that these are gone: they are asked for once more, and looked for. Throws StoreUnavailableError. */
  nominate(posts: readonly Pick<DeletionCandidate, 'postId' | 'upstreamId'>[]): Promise<void>;
}

/** Requests for rescans that a poll's request earns: where they find nothing, and at most. */
const LEAST_EARNED = 0.1;
const MOST_EARNED = 0.35;
/** New posts a page at which rescans earn the most. */
const MOST_FOUND = 4;
const MOST_CREDIT = 20;
/** Between two looks at what others may have changed. */
const LEAST_WAIT_MS = 1000;

/** Rescans cost at most a tenth of what polls do, a third while they find much, but one request an interval is always theirs. */
export function createRepairs(context: SourceContext): Repairs {
  const { source, clock, store } = context;
  const { sweepIntervalMs } = source.polling;
  const work = createDeadline(clock);
  const grant = createDeadline(clock);
  const question = createDeadline(clock);
  grant.set(sweepIntervalMs);
  question.set(Number.POSITIVE_INFINITY);
  let credit = 0;
  let foundPerPage = 0;
  /** Looks at candidates and rounds take turns. */
  let isLookFirst = true;

  /** When somebody is to be asked for: each look would cost a turn. */
  async function planQuestion(): Promise<void> {
    const { candidates = [] } = (await store.timelines.readRepair(source.logId)) ?? {};
    const court = presentCourt(context);
    const isNow = toAsk(context, candidates, court).length > 0;
    const isLater = court.judgesById && candidates.length > 0;
    question.set(isNow ? 0 : isLater ? sweepIntervalMs : Number.POSITIVE_INFINITY);
  }

  async function rescan(): Promise<Committed | undefined> {
    const rescanned = await openRepair(context);
    if (rescanned === undefined) {
      work.set(sweepIntervalMs);
      return undefined;
    }
    const { repair, court, keyNowMs: nowMs } = rescanned;
    // Who is missing is asked for first: what finds no room would have to be looked for again.
    const isFull = repair.candidates.length >= MOST_CANDIDATES;
    const isUnasked = repair.candidates.some((each) => each.goneAtMs === undefined && each.askedAtMs === undefined);
    const walk = isFull && isUnasked && court.judgesById ? undefined : await withWalk(context, rescanned, isLookFirst);
    if (walk === undefined) {
      const dueMs = isFull ? LEAST_WAIT_MS : dueInMs(repair.rescannedMs, { nowMs, sweepIntervalMs });
      work.set(Math.max(LEAST_WAIT_MS, Math.min(dueMs, repair.candidates.length > 0 ? sweepIntervalMs : dueMs)));
      return undefined;
    }
    if (credit >= 1) credit -= 1;
    grant.set(sweepIntervalMs);
    if (repair.walk === undefined) isLookFirst = !isLookFirst;
    const found = await rescanPage(context, walk);
    foundPerPage += (found.appended - foundPerPage) / 5;
    if (isFull) work.set(sweepIntervalMs);
    await planQuestion();
    return found;
  }

  async function confirm(): Promise<Committed | undefined> {
    const rescanned = await openRepair(context);
    const { log, repair, court } = rescanned ?? {};
    const asked = repair && court ? toAsk(context, repair.candidates, court) : [];
    question.set(sweepIntervalMs);
    if (log === undefined || repair === undefined || court === undefined || asked.length === 0) {
      await planQuestion();
      return undefined;
    }
    const { bulk } = log.description;
    const found = await confirmDeletions(context, log, repair, { asked: asked.slice(0, Math.max(1, bulk)), court });
    await planQuestion();
    return found;
  }

  return {
    rescanInMs: () => Math.max(work.leftMs(), credit >= 1 ? 0 : grant.leftMs()),
    confirmInMs: question.leftMs,
    adopt: planQuestion,
    rescan,
    confirm,
    polled(count) {
      const earned = LEAST_EARNED + (MOST_EARNED - LEAST_EARNED) * Math.min(1, foundPerPage / MOST_FOUND);
      credit = Math.min(MOST_CREDIT, credit + count * earned);
    },
    async nominate(posts) {
      await nominate(context, posts);
      await planQuestion();
    },
  };
}
