import type { Clock } from '../../clock.ts';
import type { StatusReporter } from './status.ts';

/** Readers who want a log to be fresh, and the one poll that answers them all. */
export interface RefreshCoalescer {
  /**
   * True once the log is younger than the source's least interval, or was tried to be; false when that took more than
   * `maxWaitMs`, or is not allowed within it. Never rejects.
   */
  refresh(maxWaitMs: number): Promise<boolean>;
  /** An attempt begins; whoever asks from now on waits for it. */
  began(): void;
  ended(): void;
}

/** How often a gateway that does not dispatch the source looks whether the other one has polled, while a reader waits. */
const LOOK_MS = 100;

export function createRefreshCoalescer(worker: {
  clock: Clock;
  status: StatusReporter;
  minIntervalMs: number;
  /** True while this gateway polls the source. */
  isOwner: () => boolean;
  isStopped: () => boolean;
  isYoung: () => boolean;
  /** How many ms until the upstream may be asked again. */
  allowedInMs: () => number;
  /** Has it polled as soon as it may. */
  ask: () => void;
  /** Calls whichever gateway polls it to do so as soon as it may. */
  callOwner: () => void;
}): RefreshCoalescer {
  const { clock, status, isOwner, isStopped } = worker;
  let attempt = Promise.withResolvers<void>();
  let isUnderWay = false;
  let watching: Promise<boolean> | undefined;

  async function attemptWithin(maxWaitMs: number): Promise<boolean> {
    const giveUp = new AbortController();
    const done = attempt.promise.then(() => true);
    const answered = await Promise.race([done, clock.sleep(maxWaitMs, giveUp.signal).then(() => false)]);
    giveUp.abort();
    return answered;
  }

  /** Another gateway polls, or none yet: waits until one has, or it is for this one to do. */
  async function watch(maxWaitMs: number): Promise<boolean> {
    if (!(await status.isPolledWithin(worker.minIntervalMs))) worker.callOwner();
    for (let leftMs = maxWaitMs; ; leftMs -= LOOK_MS) {
      if (await status.isPolledWithin(worker.minIntervalMs)) return true;
      if (leftMs <= 0 || isStopped()) return false;
      if (isOwner()) return refresh(leftMs);
      await clock.sleep(Math.min(LOOK_MS, leftMs));
    }
  }

  async function refresh(maxWaitMs: number): Promise<boolean> {
    if (isStopped()) return false;
    if (!isOwner()) {
      watching ??= watch(maxWaitMs).finally(() => {
        watching = undefined;
      });
      return watching;
    }
    if (!isUnderWay) {
      if (worker.isYoung()) return true;
      if (worker.allowedInMs() > maxWaitMs) return false;
      worker.ask();
    }
    return attemptWithin(maxWaitMs);
  }

  return {
    refresh,
    began() {
      isUnderWay = true;
    },
    ended() {
      isUnderWay = false;
      attempt.resolve();
      attempt = Promise.withResolvers();
    },
  };
}
