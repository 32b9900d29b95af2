import type { Clock } from '../clock.ts';
import type { LeaseStore } from '../stores/store.ts';

/** A lease that is kept for as long as this gateway works on a log. */
export interface KeptLease {
  /** True while it is ours, as far as the local clock tells. */
  isHeld(): boolean;
  /** Takes and renews it until `stop`. */
  run(): Promise<void>;
  /** Tries to take it now, if another holds it. */
  tryNow(): void;
  /** Ends `run`; lets go of the lease. */
  stop(): void;
}

const TTL_MS = 5000;
const RENEW_MS = 1600;
const RETRY_MS = 1000;

/** `onChange` is told when the lease is won, lost or cannot be asked for (with the store's error). Saves work only: commits compare and set. */
export function keepLease(deps: {
  leases: LeaseStore;
  clock: Clock;
  name: string;
  holder: string;
  onChange: (error?: unknown) => void;
}): KeptLease {
  const { leases, clock, name, holder, onChange } = deps;
  let heldSinceMs: number | undefined;
  let isStopped = false;
  let nap = new AbortController();

  const isHeld = () => heldSinceMs !== undefined && !isStopped && Math.abs(clock.now() - heldSinceMs) < TTL_MS;

  async function ask(): Promise<void> {
    const before = isHeld();
    const nowMs = clock.now();
    try {
      const isOurs = await leases.acquire({ name, holder, ttlMs: TTL_MS, nowMs });
      heldSinceMs = isOurs ? nowMs : undefined;
      if (before !== isHeld()) onChange();
    } catch (error) {
      onChange(error);
    }
  }

  return {
    isHeld,
    async run() {
      while (!isStopped) {
        nap = new AbortController();
        await ask();
        if (!isStopped) await clock.sleep(isHeld() ? RENEW_MS : RETRY_MS, nap.signal);
      }
      // An outage leaves the lease to its TTL.
      await leases.release(name, holder).catch(() => {});
    },
    tryNow() {
      if (!isHeld()) nap.abort();
    },
    stop() {
      isStopped = true;
      nap.abort();
    },
  };
}
