import { type Problem, UpstreamError } from '../../errors.ts';
import type { SourceStatus } from '../../stores/timeline-store.ts';
import type { JobKind } from '../limits/pools.ts';
import type { Polled } from '../poll/poll.ts';
import type { SourceContext } from '../walk/source-context.ts';
import { createRetry, problemOf } from './retry.ts';
import type { Schedule } from './schedule.ts';
import { dayProblem, outageProblem, refusedProblem, type StatusReporter } from './status.ts';

/** How a source fares: when it is polled again after what went wrong, and what is told about it. */
export interface Failures {
  began(): void;
  polled(polled: Polled): Promise<void>;
  /** The poll brought nothing. A 401 is believed: it is to be confirmed before. */
  pollFailed(error: unknown): Promise<void>;
  /** Background work went well, or ended with this error. */
  repaired(kind: Exclude<JobKind, 'poll'>, error?: unknown): Promise<void>;
  storeFailed(error: unknown): Promise<void>;
  /** A poll that is due may wait for what happened to others: their state is this source's, too. */
  noticeOutage(isDue: boolean): void;
  /** Goes on after another gateway. */
  adopt(before: SourceStatus | undefined): void;
  /** ms until the next poll may be tried. */
  leftMs(): number;
  isFailing(): boolean;
  /** True once the upstream refused the source for good: it is tried once an hour. */
  isStopped(): boolean;
  lastPolledAtMs(): number | undefined;
}

const HOUR_MS = 3_600_000;

export function createFailures(deps: {
  context: SourceContext;
  status: StatusReporter;
  schedule: Schedule;
  random: () => number;
}): Failures {
  const { context, status, schedule, random } = deps;
  const { source, clock, requests } = context;
  const { polling } = source;
  const polls = createRetry({ clock, polling, random });
  const inBackground = new Map<JobKind, Problem>();
  let lastPolledAtMs: number | undefined;
  let { overlapMs } = polling;
  let told: { state: SourceStatus['state']; problems: readonly Problem[] } = { state: 'OK', problems: [] };
  let toldOutage: unknown;

  const leftMs = () => polls.leftMs(schedule.isWatched());

  async function report(state: SourceStatus['state'], problems: readonly Problem[]): Promise<void> {
    told = { state, problems };
    const isPlanned = polling.pollWhen === 'always' || state !== 'OK';
    const nextMs = Math.max(leftMs(), schedule.dueMs(), requests.waitMs('poll'));
    const usedUp = dayProblem(context);
    await status.report({
      state,
      lastPolledAtMs,
      nextPollInMs: isPlanned ? nextMs : undefined,
      overlapMs,
      problems: [...(usedUp ? [usedUp] : []), ...problems, ...inBackground.values()],
    });
  }

  /** A limit with a known end says itself when the next attempt comes. */
  function waitAfter(error: unknown): void {
    polls.failed(error);
    const { retryAtMs } = problemOf(error, source.key);
    if (requests.blockedMs() > 0) polls.rest(0);
    else if (retryAtMs !== undefined) polls.rest(Math.max(leftMs(), Math.min(HOUR_MS, retryAtMs - clock.now())));
  }

  async function pollFailed(error: unknown): Promise<void> {
    waitAfter(error);
    if (error instanceof UpstreamError && error.code === 'UNAUTHORIZED') {
      polls.rest(HOUR_MS);
      return report('STOPPED', [refusedProblem(source, error, clock.now() + HOUR_MS)]);
    }
    await report(requests.blockedMs() > 0 ? 'WAITING' : 'FAILING', [problemOf(error, source.key)]);
  }

  return {
    began() {
      lastPolledAtMs = clock.now();
    },
    async polled({ error, problems, overlapMs: used }) {
      overlapMs = used;
      if (error) waitAfter(error);
      else polls.succeeded();
      const state = requests.blockedMs() > 0 ? 'WAITING' : error ? 'FAILING' : 'OK';
      await report(state, error ? [...problems, problemOf(error, source.key)] : problems);
    },
    pollFailed,
    async repaired(kind, error) {
      const before = inBackground.get(kind);
      const isBlocked = requests.blockedMs() > 0;
      // A limit is no failure: it is told as such, and the work waits.
      const isFailure = error !== undefined && !isBlocked;
      if (isFailure) inBackground.set(kind, problemOf(error, source.key));
      else if (error === undefined) inBackground.delete(kind);
      if (error !== undefined && isBlocked) await report('WAITING', [problemOf(error, source.key)]);
      else if (isFailure || before !== undefined || requests.day !== undefined)
        await report(isBlocked ? 'WAITING' : told.state, told.problems);
    },
    storeFailed: (error) => report('FAILING', [problemOf(error, source.key)]),
    noticeOutage(isDue) {
      const outage = isDue && !polls.isFailing() ? requests.outage() : undefined;
      if (outage !== undefined && toldOutage === undefined) void report('FAILING', [outageProblem(source, outage)]);
      toldOutage = outage;
    },
    adopt(before) {
      lastPolledAtMs = before?.lastPolledAtMs;
      schedule.adopt(lastPolledAtMs === undefined ? undefined : clock.now() - lastPolledAtMs);
    },
    leftMs,
    isFailing: polls.isFailing,
    isStopped: () => told.state === 'STOPPED',
    lastPolledAtMs: () => lastPolledAtMs,
  };
}
