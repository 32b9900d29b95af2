import type { DeletionCandidate } from '../../stores/repair-state.ts';
import type { Worker } from '../dispatch/dispatcher.ts';
import { createRepairs } from '../repair/repairs.ts';
import type { SourceContext } from '../walk/source-context.ts';
import { createFailures } from './failures.ts';
import { noteGaps, runPoll, runRepair } from './jobs.ts';
import type { WorkerParts, WorkerState } from './parts.ts';
import { createRefreshCoalescer, type RefreshCoalescer } from './refresh.ts';
import { createRetry } from './retry.ts';
import { createSchedule } from './schedule.ts';
import { createStatusReporter } from './status.ts';
import type { Trimmer } from './trim.ts';
import { pollInMs, wantsOf } from './wants.ts';

/** The work on one source: what it wants to do next, and doing it. */
export interface SourceWorker extends Worker {
  readonly refresh: RefreshCoalescer['refresh'];
  /** Somebody reads this log at another gateway: the one that owns the token polls as soon as it may. */
  called(): void;
  /** A read by id was told that these posts are gone. Never rejects. */
  foundGone(posts: readonly Pick<DeletionCandidate, 'postId' | 'upstreamId'>[]): Promise<void>;
  /** True once nothing but the log's own account can be read. */
  isConfirmed(): boolean;
  /** The store does not answer: nothing is polled. */
  storeFailed(error: unknown): void;
  stop(): void;
}

interface WorkerDeps {
  readonly context: SourceContext;
  readonly trimmer: Trimmer;
  readonly random: () => number;
  readonly log: (line: string) => void;
  /** True while this gateway dispatches the source's token. */
  readonly isOwner: () => boolean;
  /** What it wants may have changed. */
  readonly changed: () => void;
}

export function createWorker(deps: WorkerDeps): SourceWorker {
  const { context, log, isOwner, changed } = deps;
  const { source, store, notes } = context;
  const status = createStatusReporter(context, log);
  const parts = createParts(deps, status, ask);
  const { state, schedule, failures, repairs, coalescer } = parts;

  function ask(): void {
    state.isAsked = true;
    changed();
  }

  return {
    source,
    wants() {
      if (state.isAdopted) failures.noticeOutage(pollInMs(parts) === 0);
      return wantsOf(parts);
    },
    async work(kind) {
      state.lastJob = kind;
      state.pollsInARow = kind === 'poll' ? state.pollsInARow + 1 : 0;
      await (kind === 'poll' ? runPoll(parts) : runRepair(parts, kind));
    },
    polledAgoMs: parts.schedule.agoMs,
    async adopt() {
      noteGaps(parts, await store.timelines.readLog(source.logId));
      const before = await status.read();
      Object.assign(notes, before?.uncommitted);
      failures.adopt(before);
      await repairs.adopt();
      state.isAdopted = true;
    },
    lost() {
      state.isAdopted = false;
    },
    refresh(maxWaitMs) {
      if (schedule.asked()) changed();
      return coalescer.refresh(maxWaitMs);
    },
    called() {
      if (!isOwner()) return;
      schedule.asked();
      ask();
    },
    foundGone: (posts) => repairs.nominate(posts).then(changed, () => {}),
    isConfirmed: () => state.isConfirmed,
    storeFailed(error) {
      if (state.isAdopted) void failures.storeFailed(error);
    },
    stop() {
      state.isStopped = true;
      changed();
    },
  };
}

function createParts(
  { context, trimmer, random, isOwner }: WorkerDeps,
  status: ReturnType<typeof createStatusReporter>,
  ask: () => void,
): WorkerParts {
  const { source, clock, requests, store } = context;
  const { polling, logId } = source;
  const schedule = createSchedule({ clock, polling, pace: context.pace });
  const failures = createFailures({ context, status, schedule, random });
  const state: WorkerState = {
    ...{ isStopped: false, isAsked: false, isAdopted: false, hasGap: false, mayFill: false, pollsInARow: 0 },
    ...{ isConfirmed: source.confirmAccount === undefined, lastJob: undefined },
  };
  return {
    ...{ context, schedule, failures, trimmer, state },
    fills: createRetry({ clock, polling, random }),
    rescans: createRetry({ clock, polling, random }),
    repairs: createRepairs(context),
    coalescer: createRefreshCoalescer({
      ...{ clock, status, minIntervalMs: polling.minIntervalMs, isOwner, ask },
      isStopped: () => state.isStopped,
      isYoung: () => state.isAdopted && schedule.youngMs() > 0 && failures.lastPolledAtMs() !== undefined,
      allowedInMs: () => (state.isAdopted ? Math.max(failures.leftMs(), requests.waitMs('poll', true)) : 0),
      callOwner: () => void store.signals.send(logId).catch(() => {}),
    }),
  };
}
