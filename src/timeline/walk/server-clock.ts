import type { Clock } from '../../clock.ts';
import type { UpstreamPage } from '../../upstreams/upstream.ts';

/** The upstream's time, as far as its `Date` headers tell; without them the local clock's. */
export interface ServerClock {
  /** Learns from a reply that has just come, `roundTripMs` after its request by a clock that nobody sets. */
  note(page: Pick<UpstreamPage, 'serverDateMs' | 'sentAtMs'>, roundTripMs: number): void;
  /** Unix ms, at most a second ahead: an id above it is of the future. */
  now(): number;
  /** When the request of the last reply was sent, never too late; undefined where the server has no `Date`. */
  lastSentAt(): number | undefined;
}

/** `Date` has a resolution of 1 s: the server's true time lies anywhere within it. */
const DATE_RESOLUTION_MS = 999;

export function createServerClock(clock: Pick<Clock, 'now' | 'monotonic'>): ServerClock {
  let noted: { readonly serverMs: number; readonly atMs: number } | undefined;
  let sentAtMs: number | undefined;
  return {
    note({ serverDateMs, sentAtMs: localSentAtMs }, roundTripMs) {
      sentAtMs = undefined;
      if (serverDateMs === undefined) return;
      noted = { serverMs: serverDateMs + DATE_RESOLUTION_MS, atMs: clock.monotonic() };
      // The wall clock may be set meanwhile, the other one stands still while the machine sleeps: the longer one holds.
      sentAtMs = serverDateMs - Math.max(0, roundTripMs, clock.now() - localSentAtMs);
    },
    now: () => (noted ? noted.serverMs + clock.monotonic() - noted.atMs : clock.now()),
    lastSentAt: () => sentAtMs,
  };
}
