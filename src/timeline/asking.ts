import type { Clock } from '../clock.ts';
import type { KeptLease } from './lease.ts';
import type { StatusTeller } from './status.ts';

/** Readers who want a log to be fresh, and the one poll that answers them all. */
export interface Asking {
  /**
   * True once the log is younger than the source's least interval, or was tried to be; false when that took more than
   * `maxWaitMs`, or is not allowed within it. Never rejects.
   */
  refresh(maxWaitMs: number): Promise<boolean>;
  /** An attempt begins; whoever asks from now on waits for it. */
  began(): void;
  ended(): void;
}

/** How often a gateway without the lease looks whether the other one has polled, while a reader waits. */
const LOOK_MS = 100;

export function createAsking(loop: {
  clock: Clock;
  lease: KeptLease;
  status: StatusTeller;
  minIntervalMs: number;
  isStopped: () => boolean;
  isYoung: () => boolean;
  /** How many ms until the upstream may be asked again. */
  allowedInMs: () => number;
  /** Has the loop poll as soon as it may. */
  ask: () => void;
  /** Calls whichever gateway holds the lease to poll as soon as it may. */
  callHolder: () => void;
}): Asking {
  const { clock, lease, status } = loop;
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

  /** Another gateway polls, or none yet: waits until one has, or the lease is ours. */
  async function watch(maxWaitMs: number): Promise<boolean> {
    lease.tryNow();
    if (!(await status.isPolledWithin(loop.minIntervalMs))) loop.callHolder();
    for (let leftMs = maxWaitMs; ; leftMs -= LOOK_MS) {
      if (await status.isPolledWithin(loop.minIntervalMs)) return true;
      if (leftMs <= 0 || loop.isStopped()) return false;
      if (lease.isHeld()) return refresh(leftMs);
      await clock.sleep(Math.min(LOOK_MS, leftMs));
    }
  }

  async function refresh(maxWaitMs: number): Promise<boolean> {
    if (loop.isStopped()) return false;
    if (!lease.isHeld()) {
      watching ??= watch(maxWaitMs).finally(() => {
        watching = undefined;
      });
      return watching;
    }
    if (!isUnderWay) {
      if (loop.isYoung()) return true;
      if (loop.allowedInMs() > maxWaitMs) return false;
      loop.ask();
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
