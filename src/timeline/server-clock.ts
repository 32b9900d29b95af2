import type { Clock } from '../clock.ts';
import type { UpstreamPage } from '../upstreams/upstream.ts';

/** The upstream's time, as far as its `Date` headers tell; without them the local clock's. */
export interface ServerClock {
  /** Learns from a reply that has just come. */
  note(page: UpstreamPage): void;
  /** Unix ms, at most a second ahead: an id above it is of the future. */
  now(): number;
  /** When the request of the last reply was sent, never too late; undefined where the server has no `Date`. */
  lastSentAt(): number | undefined;
}

/** `Date` has a resolution of 1 s: the server's true time lies anywhere within it. */
const DATE_RESOLUTION_MS = 999;

export function createServerClock(clock: Clock): ServerClock {
  let aheadMs = 0;
  let sentAtMs: number | undefined;
  return {
    note({ serverDateMs, sentAtMs: localSentAtMs }) {
      sentAtMs = undefined;
      if (serverDateMs === undefined) return;
      const nowMs = clock.now();
      aheadMs = serverDateMs + DATE_RESOLUTION_MS - nowMs;
      sentAtMs = serverDateMs - Math.max(0, nowMs - localSentAtMs);
    },
    now: () => clock.now() + aheadMs,
    lastSentAt: () => sentAtMs,
  };
}
