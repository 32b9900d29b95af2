import type { Clock } from '../../clock.ts';
import type { JobKind, RequestKind } from '../limits/pools.ts';
import { nextResetMs, type RateLimiter } from '../limits/rate-limiter.ts';
import { hasSpareFill, limitersOf, pacedMs, type SourceLimits } from '../limits/source-limits.ts';
import { createFairQueue, type FairQueue, type Turn, type Waits } from './fair-queue.ts';

/** Whose turn it is among the sources of one token. */
export interface Scheduler {
  /** The job that goes first of all that may begin; undefined: none has its turn yet. Each source's own are in order of preference. */
  next<Each extends Candidate>(candidates: readonly Each[]): Each | undefined;
  /** A request of that source is sent, or a job of it begins. */
  went(limits: SourceLimits, request: Pick<Job, 'pool' | 'request'>): void;
  /** ms until there may be a turn for it; at least 1. */
  freeInMs(candidate: Candidate): number;
  /** About how many ms it would have to wait for its turn. */
  waitMs(candidate: Candidate): number;
}

export interface Job {
  readonly kind: JobKind;
  readonly pool: 'poll' | 'repair';
  readonly request: RequestKind;
  readonly isPreferred: boolean;
}

export interface Candidate {
  readonly limits: SourceLimits;
  readonly want: Job;
}

interface Step {
  readonly queue: FairQueue<SourceLimits>;
  readonly turn: Turn;
}

/** A candidate with where it has to have its turn; undefined: it need not there. */
interface Waiting<Each> extends Waits<SourceLimits> {
  readonly candidate: Each;
  readonly steps: readonly (Step | undefined)[];
}

/** Where there are more jobs than may be under way at once, repairs have a turn after so many polls. */
const MOST_POLLS_IN_A_ROW = 3;
/** What others do not use makes the wait shorter, and at a reset all is shared out anew. */
const LOOK_AGAIN_MS = 10_000;

/**
 * A request has its turn at the endpoint's limits first, then at the token's, then among all that may go: where nothing is paced,
 * that alone tells who goes first.
 */
export function createScheduler(clock: Clock): Scheduler {
  const queues = new Map<RateLimiter | 'all', Record<'poll' | 'repair', FairQueue<SourceLimits>>>();
  let pollsInARow = 0;

  function queueOf(limiter: RateLimiter | 'all', pool: 'poll' | 'repair'): FairQueue<SourceLimits> {
    const startMs = clock.monotonic();
    const both = queues.get(limiter) ?? { poll: createFairQueue(startMs), repair: createFairQueue(startMs) };
    queues.set(limiter, both);
    return both[pool];
  }

  function stepsOf(limits: SourceLimits, { pool, request }: Pick<Job, 'pool' | 'request'>) {
    const nowMs = clock.monotonic();
    const steps = limitersOf(limits, request).map((limiter): Step | undefined => {
      const queue = queueOf(limiter, pool);
      const intervalMs = pacedMs(limits, limiter, pool, request);
      return intervalMs > 0 ? { queue, turn: { nowMs, intervalMs } } : undefined;
    });
    return [...steps, { queue: queueOf('all', pool), turn: { nowMs, intervalMs: 0 } }];
  }

  const turnsOf = (limits: SourceLimits, request: Pick<Job, 'pool' | 'request'>) =>
    stepsOf(limits, request).filter((step) => step !== undefined);

  function nextOf<Each extends Candidate>(pool: 'poll' | 'repair', candidates: readonly Each[]): Each | undefined {
    const waiting = candidates
      .filter(({ want }) => want.pool === pool)
      .map((candidate) => ({
        ...{ candidate, steps: stepsOf(candidate.limits, candidate.want) },
        ...waitsOf(candidate),
      }));
    return narrow(narrow(narrow(waiting, -3), -2), -1)[0]?.candidate;
  }

  return {
    next(candidates) {
      const poll = nextOf('poll', candidates);
      const repair = nextOf('repair', candidates);
      if (poll === undefined || repair === undefined) return poll ?? repair;
      if (poll.limits === repair.limits) return candidates.indexOf(poll) < candidates.indexOf(repair) ? poll : repair;
      pollsInARow = pollsInARow < MOST_POLLS_IN_A_ROW ? pollsInARow + 1 : 0;
      return pollsInARow > 0 ? poll : repair;
    },
    went(limits, request) {
      for (const { queue, turn } of turnsOf(limits, request)) queue.went(limits, turn);
    },
    freeInMs({ limits, want }) {
      const freeMs = Math.max(0, ...turnsOf(limits, want).map(({ queue, turn }) => queue.freeInMs(turn)));
      return Math.max(1, Math.min(LOOK_AGAIN_MS, freeMs, ...limitersOf(limits, want.request).map(nextResetMs)));
    },
    waitMs(candidate) {
      const waits = waitsOf(candidate);
      const turns = turnsOf(candidate.limits, candidate.want);
      return Math.max(0, ...turns.map(({ queue, turn }) => queue.waitMs(waits, turn)));
    },
  };
}

function waitsOf({ limits, want: { kind, pool, isPreferred } }: Candidate): Waits<SourceLimits> {
  return {
    guest: limits,
    isPreferred: isPreferred || kind === 'fill',
    // A gap that has just opened need not wait for turns when there were so many before that nobody used.
    isUrgent: kind === 'fill' && pool === 'repair' && hasSpareFill(limits),
  };
}

/** Of each queue of that step whoever is next there, and those that need not have a turn in any. */
function narrow<Each>(waiting: readonly Waiting<Each>[], at: -3 | -2 | -1): readonly Waiting<Each>[] {
  const groups = Map.groupBy(waiting, ({ steps }) => steps.at(at)?.queue);
  return [...groups.values()].flatMap((group) => {
    const step = group[0]?.steps.at(at);
    return step === undefined ? group : (step.queue.next(group, step.turn) ?? []);
  });
}
