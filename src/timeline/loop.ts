import { type Asking, createAsking } from './asking.ts';
import { backOffMs, problemOf } from './back-off.ts';
import { createDue } from './due.ts';
import { fillGap } from './fill-gap.ts';
import { openFills } from './gaps.ts';
import { keepLease } from './lease.ts';
import { type Polled, poll } from './poll.ts';
import { type Reading, throttleMs } from './reading.ts';
import { createStatusTeller } from './status.ts';
import { createSweeper } from './sweep.ts';
import type { Trimmer } from './trim.ts';

/** The background loop of one source. */
export interface Loop {
  /** Polls, fills and trims until `stop`. Never rejects. */
  run(): Promise<void>;
  readonly refresh: Asking['refresh'];
  stop(): void;
}

const IDLE_MS = 3_600_000;

export function createLoop(deps: {
  reading: Reading;
  leases: Parameters<typeof keepLease>[0]['leases'];
  holder: string;
  trimmer: Trimmer;
  random: () => number;
  log: (line: string) => void;
}): Loop {
  const { reading, leases, holder, trimmer, random, log } = deps;
  const { source, clock, budget, notes, store } = reading;
  const { polling } = source;
  const status = createStatusTeller({ source, timelines: store.timelines, clock, log });
  const lease = keepLease({ leases, clock, name: `poll:${source.logId}`, holder, onChange: leaseChanged });

  const young = createDue(clock);
  const idle = createDue(clock);
  const backOff = createDue(clock);
  const fillBackOff = createDue(clock);
  const sweepBackOff = createDue(clock);
  const sweeper = createSweeper(reading);
  let failures = 0;
  let fillFailures = 0;
  let sweepFailures = 0;
  let isStopped = false;
  let isAsked = false;
  let isAdopted = false;
  let hasGap = false;
  let lastPolledAtMs: number | undefined;
  let overlapMs = polling.overlapMs;
  let nap = new AbortController();
  const asking = createAsking({
    clock,
    lease,
    status,
    minIntervalMs: polling.minIntervalMs,
    isStopped: () => isStopped,
    isYoung: () => isAdopted && young.leftMs() > 0 && lastPolledAtMs !== undefined,
    allowedInMs: () => (isAdopted ? Math.max(backOff.leftMs(), budget.waitMs('poll')) : 0),
    ask() {
      isAsked = true;
      wake();
    },
  });

  function wake(): void {
    nap.abort();
  }

  function leaseChanged(error?: unknown): void {
    if (error !== undefined) void tellFailure(error);
    if (!lease.isHeld()) isAdopted = false;
    wake();
  }

  /** Goes on where the gateway before left off: its least interval, its wait for a rate limit. */
  async function adopt(): Promise<void> {
    const state = await store.timelines.readLog(source.logId);
    const told = await status.read();
    hasGap = openFills(state.gaps).length > 0;
    lastPolledAtMs = told?.lastPolledAtMs;
    Object.assign(notes, told?.uncommitted);
    const agoMs = clock.now() - (lastPolledAtMs ?? 0);
    young.set(agoMs >= 0 ? Math.max(0, polling.minIntervalMs - agoMs) : 0);
    if (told?.state === 'WAITING') {
      // Never longer than it was from the start, wherever the local clock was set meanwhile.
      const { nextPollAtMs = 0 } = told;
      const nowMs = clock.now();
      budget.block(nowMs + Math.min(nextPollAtMs - nowMs, nextPollAtMs - (lastPolledAtMs ?? nowMs)));
    }
    isAdopted = true;
  }

  function pollInMs(): number {
    const allowedMs = Math.max(young.leftMs(), backOff.leftMs(), budget.waitMs('poll'));
    if (isAsked) return allowedMs;
    return polling.pollWhen === 'asked' ? IDLE_MS : Math.max(allowedMs, idle.leftMs());
  }

  function fillInMs(): number {
    if (!hasGap || polling.pollWhen === 'asked' || failures > 0) return IDLE_MS;
    return Math.max(fillBackOff.leftMs(), budget.waitMs('fill'));
  }

  function sweepInMs(): number {
    if (polling.pollWhen === 'asked' || failures > 0 || lastPolledAtMs === undefined) return IDLE_MS;
    return Math.max(sweeper.dueInMs(), sweepBackOff.leftMs(), budget.waitMs('sweep'));
  }

  /** Does what is due; gives the ms until something else is. */
  async function step(): Promise<number> {
    if (!lease.isHeld()) return IDLE_MS;
    if (!isAdopted) await adopt();
    if (pollInMs() === 0) await attemptPoll();
    else if (fillInMs() === 0) await attemptFill();
    else if (sweepInMs() === 0) await attemptSweep();
    return Math.min(pollInMs(), fillInMs(), sweepInMs());
  }

  async function attemptPoll(): Promise<void> {
    isAsked = false;
    asking.began();
    lastPolledAtMs = clock.now();
    young.set(polling.minIntervalMs);
    idle.set(polling.idleIntervalMs);
    try {
      const polled = await poll(reading);
      overlapMs = polled.overlapMs;
      hasGap = openFills(polled.state.gaps).length > 0;
      if (polled.error) pollFailed(polled.error);
      else failures = 0;
      sweeper.polled(polled.requests);
      await tellPolled(polled);
      await trimmer.afterCommit(polled.appended);
      if (hasGap && polling.pollWhen === 'asked' && budget.waitMs('fill') === 0) await attemptFill();
    } catch (error) {
      if (isStopped) return;
      pollFailed(error);
      await tellFailure(error);
    } finally {
      asking.ended();
    }
  }

  /** The next attempt comes when it may, not at the idle interval. A limit with a known end blocks the whole budget until then. */
  function pollFailed(error: unknown): void {
    failures += 1;
    const blockedMs = budget.blockedMs();
    const waitMs = Math.max(
      backOffMs(error, failures, polling, random),
      retryInMs(problemOf(error, source.key).retryAtMs),
    );
    if (blockedMs === 0) backOff.set(waitMs);
    idle.set(blockedMs || waitMs);
  }

  function retryInMs(retryAtMs: number | undefined): number {
    return retryAtMs === undefined ? 0 : Math.min(IDLE_MS, retryAtMs - clock.now());
  }

  async function attemptFill(): Promise<void> {
    try {
      const filled = await fillGap(reading);
      fillFailures = 0;
      // Where nothing tells how much is allowed, a gap is not worth more requests than the polls.
      if (notes.rateLimit === undefined)
        fillBackOff.set(Math.max(throttleMs(source, 'fill', notes.description), polling.minIntervalMs));
      hasGap = filled !== undefined && openFills(filled.state.gaps).length > 0;
      await trimmer.afterCommit(filled?.appended ?? 0);
    } catch (error) {
      if (isStopped) return;
      fillFailures += 1;
      fillBackOff.set(backOffMs(error, fillFailures, polling, random));
      if (budget.blockedMs() > 0) await tellFailure(error);
    }
  }

  async function attemptSweep(): Promise<void> {
    try {
      const swept = await sweeper.step();
      sweepFailures = 0;
      await trimmer.afterCommit(swept?.appended ?? 0);
    } catch (error) {
      if (isStopped) return;
      sweepFailures += 1;
      sweepBackOff.set(backOffMs(error, sweepFailures, polling, random));
      if (budget.blockedMs() > 0) await tellFailure(error);
    }
  }

  async function tellPolled(polled: Polled): Promise<void> {
    const problems = polled.error ? [...polled.problems, problemOf(polled.error, source.key)] : polled.problems;
    const state = budget.blockedMs() > 0 ? 'WAITING' : polled.error ? 'FAILING' : 'OK';
    await tell(state, problems);
  }

  async function tellFailure(error: unknown): Promise<void> {
    await tell(budget.blockedMs() > 0 ? 'WAITING' : 'FAILING', [problemOf(error, source.key)]);
  }

  async function tell(state: 'OK' | 'WAITING' | 'FAILING', problems: Polled['problems']): Promise<void> {
    const waitMs = Math.max(idle.leftMs(), backOff.leftMs(), budget.waitMs('poll'));
    await status.tell({
      state,
      lastPolledAtMs,
      nextPollAtMs: polling.pollWhen === 'asked' && state === 'OK' ? undefined : clock.now() + waitMs,
      overlapMs,
      software: notes.description?.software,
      rateLimit: notes.rateLimit,
      uncommitted: { requests: notes.requests, duplicatesDropped: notes.duplicatesDropped },
      problems,
    });
  }

  async function work(): Promise<void> {
    while (!isStopped) {
      nap = new AbortController();
      let waitMs = 1000;
      try {
        waitMs = await step();
      } catch (error) {
        // The store is out: the lease and this loop come back to it.
        await tellFailure(error);
      }
      if (!isStopped && waitMs > 0) await clock.sleep(Math.min(waitMs, IDLE_MS), nap.signal);
    }
  }

  return {
    run: async () => void (await Promise.all([lease.run(), work()])),
    refresh: asking.refresh,
    stop() {
      isStopped = true;
      lease.stop();
      wake();
    },
  };
}
