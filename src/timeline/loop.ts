import { type Asking, createAsking } from './asking.ts';
import { problemOf } from './back-off.ts';
import { keepLease } from './lease.ts';
import { createNap } from './nap.ts';
import { type Polled, poll } from './poll.ts';
import type { Reading } from './reading.ts';
import { createRetry } from './retry.ts';
import { createSchedule } from './schedule.ts';
import { createStatusTeller, dayProblem, outageProblem, type Said, stoppedProblem } from './status.ts';
import type { Trimmer } from './trim.ts';
import { createTurns } from './turns.ts';
import { createUpkeep, type UpkeepShare } from './upkeep.ts';
import type { Share } from './windows.ts';

/** The background loop of one source. */
export interface Loop {
  /** Polls, fills, sweeps and trims until `stop`, or until the token is refused. Never rejects. */
  run(): Promise<void>;
  readonly refresh: Asking['refresh'];
  /** Somebody reads this log at another gateway: the one that holds the lease polls as soon as it may. */
  called(): void;
  stop(): void;
}

const IDLE_MS = 3_600_000;

export function createLoop(deps: {
  reading: Reading;
  leases: Parameters<typeof keepLease>[0]['leases'];
  trimmer: Trimmer;
  random: () => number;
  log: (line: string) => void;
}): Loop {
  const { reading, leases, trimmer, random, log } = deps;
  const { source, clock, budget, notes, store, day, holder } = reading;
  const { polling } = source;
  const status = createStatusTeller(reading, log);
  const lease = keepLease({ leases, clock, name: `poll:${source.logId}`, holder, onChange: leaseChanged });
  const schedule = createSchedule({ clock, polling, pace: reading.pace });
  const retry = createRetry({ clock, polling, random });
  const upkeep = createUpkeep(reading, random);
  const isPolledByItself = polling.pollWhen === 'always';

  let isStopped = false;
  let isAsked = false;
  let isAdopted = false;
  const turns = createTurns();
  let lastPolledAtMs: number | undefined;
  let overlapMs = polling.overlapMs;
  let said: Pick<Said, 'state' | 'problems'> = { state: 'OK', problems: [] };
  let toldOutage: unknown;
  const nap = createNap(clock, reading.signal);
  budget.onChange(nap.wake);
  const asking = createAsking({
    clock,
    lease,
    status,
    minIntervalMs: polling.minIntervalMs,
    isStopped: () => isStopped,
    isYoung: () => isAdopted && schedule.youngMs() > 0 && lastPolledAtMs !== undefined,
    allowedInMs: () => (isAdopted ? Math.max(retry.leftMs(), budget.waitMs('poll', { isPreferred: true })) : 0),
    ask,
    callHolder: () => void store.signals.send(source.logId).catch(() => {}),
  });

  function ask(): void {
    isAsked = true;
    nap.wake();
  }

  function leaseChanged(error?: unknown): void {
    if (error !== undefined) void tellFailure(error);
    if (!lease.isHeld()) isAdopted = false;
    nap.wake();
  }

  /** Goes on where the gateway before left off: its least interval, its wait for a rate limit, its count of the day. */
  async function adopt(): Promise<void> {
    const state = await store.timelines.readLog(source.logId);
    const before = await status.read();
    upkeep.saw(state);
    lastPolledAtMs = before?.lastPolledAtMs;
    Object.assign(notes, before?.uncommitted);
    day?.restore(before?.readToday);
    schedule.adopt(lastPolledAtMs === undefined ? undefined : clock.now() - lastPolledAtMs);
    if (before?.state === 'WAITING' && before.readToday === undefined) {
      // Never longer than it was from the start, wherever the local clock was set meanwhile.
      const { nextPollAtMs = 0 } = before;
      const nowMs = clock.now();
      budget.hold(Math.min(nextPollAtMs - nowMs, nextPollAtMs - (lastPolledAtMs ?? nowMs)));
    }
    isAdopted = true;
  }

  /** What the source itself waits for. */
  function ownPollMs(): number {
    if (!isAsked && !isPolledByItself) return IDLE_MS;
    return Math.max(isAsked || retry.isFailing() ? schedule.youngMs() : schedule.dueMs(), retry.leftMs());
  }

  function ownUpkeepMs(share: UpkeepShare): number {
    const isIdle = !isPolledByItself || retry.isFailing() || lastPolledAtMs === undefined;
    return isIdle ? IDLE_MS : upkeep.dueMs(share);
  }

  /** ms until work of that share may begin. It stands in line from when the source wants it. */
  function inMs(share: Share): number {
    const ownMs = share === 'poll' ? ownPollMs() : ownUpkeepMs(share);
    return ownMs > 0 ? ownMs : budget.waitMs(share, { isPreferred: isAsked || schedule.isWatched(), queue: true });
  }

  /** Does what is due; gives the ms until something else is. */
  async function step(): Promise<number> {
    if (budget.stopped()) return end();
    if (!lease.isHeld()) return IDLE_MS;
    if (!isAdopted) await adopt();
    await tellWait();
    const share = turns.next((each) => inMs(each) === 0);
    if (share !== undefined) {
      budget.take(share);
      await (share === 'poll' ? attemptPoll() : attemptUpkeep(share)).finally(budget.done);
    }
    return Math.min(inMs('poll'), inMs('fill'), inMs('sweep'));
  }

  async function attemptPoll(): Promise<void> {
    isAsked = false;
    asking.began();
    lastPolledAtMs = clock.now();
    schedule.began();
    try {
      const polled = await poll(reading);
      overlapMs = polled.overlapMs;
      upkeep.saw(polled.state);
      if (polled.error) pollFailed(polled.error);
      else retry.succeeded();
      upkeep.polled(polled.requests);
      await tellPolled(polled);
      await trimmer.afterCommit(polled.appended);
      if (!isPolledByItself && Math.max(upkeep.dueMs('fill'), budget.waitMs('fill')) === 0) {
        budget.take('fill');
        await attemptUpkeep('fill');
      }
    } catch (error) {
      if (isStopped) return;
      pollFailed(error);
      await tellFailure(error);
    } finally {
      asking.ended();
    }
  }

  /** A limit with a known end says itself when the next attempt comes. */
  function pollFailed(error: unknown): void {
    retry.failed(error);
    const { retryAtMs } = problemOf(error, source.key);
    if (budget.blockedMs() > 0) retry.rest(0);
    else if (retryAtMs !== undefined) {
      const retryInMs = Math.min(IDLE_MS, retryAtMs - clock.now());
      retry.rest(Math.max(retry.leftMs(), retryInMs));
    }
  }

  async function attemptUpkeep(share: UpkeepShare): Promise<void> {
    const { appended, error } = await upkeep.work(share);
    if (isStopped) return;
    if (error !== undefined && budget.blockedMs() > 0) await tellFailure(error);
    else if (day !== undefined) await tell(budget.blockedMs() > 0 ? 'WAITING' : said.state, said.problems);
    await trimmer.afterCommit(appended);
  }

  async function tellPolled(polled: Polled): Promise<void> {
    const problems = polled.error ? [...polled.problems, problemOf(polled.error, source.key)] : polled.problems;
    const state = budget.blockedMs() > 0 ? 'WAITING' : polled.error ? 'FAILING' : 'OK';
    await tell(state, problems);
  }

  async function tellFailure(error: unknown): Promise<void> {
    await tell(budget.blockedMs() > 0 ? 'WAITING' : 'FAILING', [problemOf(error, source.key)]);
  }

  /** A poll that is due may wait for what happened to others: their state is this source's, too. */
  async function tellWait(): Promise<void> {
    const outage = ownPollMs() === 0 && !retry.isFailing() ? budget.outage() : undefined;
    if (outage !== undefined && toldOutage === undefined) await tell('FAILING', [outageProblem(source, outage)]);
    toldOutage = outage;
  }

  async function tell(state: Said['state'], problems: Said['problems']): Promise<void> {
    if (budget.stopped()) return;
    said = { state, problems };
    const isPlanned = isPolledByItself || state !== 'OK';
    const nextMs = Math.max(retry.leftMs(), schedule.dueMs(), budget.waitMs('poll'));
    const usedUp = dayProblem(reading);
    await status.tell({
      state,
      lastPolledAtMs,
      nextPollInMs: isPlanned ? nextMs : undefined,
      overlapMs,
      problems: usedUp ? [usedUp, ...problems] : problems,
    });
  }

  /** The token is refused: nothing is asked with it until the settings change, which begins a new process. */
  async function end(): Promise<number> {
    const error = budget.stopped();
    isStopped = true;
    if (error && lease.isHeld()) {
      await status.tell({ state: 'STOPPED', lastPolledAtMs, overlapMs, problems: [stoppedProblem(source, error)] });
    }
    // Another gateway may have a better token.
    lease.stop();
    return 0;
  }

  async function work(): Promise<void> {
    while (!isStopped) {
      nap.begin();
      let waitMs = 1000;
      try {
        waitMs = await step();
      } catch (error) {
        // The store is out: the lease and this loop come back to it.
        await tellFailure(error);
      }
      if (!isStopped && waitMs > 0) await nap.sleep(Math.min(waitMs, IDLE_MS));
    }
  }

  return {
    run: async () => void (await Promise.all([lease.run(), work()])),
    refresh(maxWaitMs) {
      if (schedule.asked()) nap.wake();
      return asking.refresh(maxWaitMs);
    },
    called() {
      if (!lease.isHeld()) return;
      schedule.asked();
      ask();
    },
    stop() {
      isStopped = true;
      lease.stop();
      nap.wake();
    },
  };
}
