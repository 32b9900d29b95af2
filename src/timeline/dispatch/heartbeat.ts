import type { Clock } from '../../clock.ts';
import type { LeaseStore } from '../../stores/store.ts';

/** Shows all gateways that this one lives: one lease a gateway, however many tokens it dispatches. */
export interface Heartbeat {
  /** True while others believe so, as far as the local clock tells. */
  isHeld(): boolean;
  /** Renews it when it is time. True when it had lapsed, so that others may have taken over. Throws StoreUnavailableError. */
  renew(): Promise<boolean>;
  /** True for a moment after it lapsed: others that seem dead could not renew theirs, either. */
  isPatient(): boolean;
  /** Adds to `living` those of the holders that live. */
  addLiving(holders: Iterable<string>, living: Set<string>): Promise<void>;
  /** An outage leaves it to its time. */
  stop(): Promise<void>;
}

export type HeartbeatLeases = Pick<LeaseStore, 'acquire' | 'release' | 'holders'>;

export const RENEW_MS = 1600;
const TTL_MS = 5000;
const PATIENCE_MS = 1600;

export function createHeartbeat(deps: { leases: HeartbeatLeases; clock: Clock; holder: string }): Heartbeat {
  const { leases, clock, holder } = deps;
  const nameOf = (gateway: string) => `gateway:${gateway}`;
  let renewedAtMs: number | undefined;
  let patientUntilMs = Number.NEGATIVE_INFINITY;

  const isRenewedWithin = (ms: number) => renewedAtMs !== undefined && Math.abs(clock.now() - renewedAtMs) < ms;
  const isHeld = () => isRenewedWithin(TTL_MS);

  return {
    isHeld,
    async renew() {
      if (isRenewedWithin(RENEW_MS)) return false;
      const nowMs = clock.now();
      const isOurs = await leases.acquire({ name: nameOf(holder), holder, ttlMs: TTL_MS, nowMs });
      // It may have ended before it was renewed: what counts is when the answer came.
      const lapsed = !isHeld();
      if (lapsed && renewedAtMs !== undefined) patientUntilMs = clock.monotonic() + PATIENCE_MS;
      renewedAtMs = isOurs ? nowMs : undefined;
      return lapsed;
    },
    isPatient: () => clock.monotonic() < patientUntilMs,
    async addLiving(holders, living) {
      const names = new Set([...holders].filter((each) => !living.has(each)).map(nameOf));
      if (names.size === 0) return;
      for (const each of (await leases.holders([...names], clock.now())).values()) living.add(each);
    },
    async stop() {
      await leases.release(nameOf(holder), holder).catch(() => {});
    },
  };
}
