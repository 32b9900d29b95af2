import type { Clock } from '../clock.ts';
import type { RateLimit } from '../upstreams/upstream.ts';

/** What a request is for: each has its share of what one token may ask of one host. */
export type Share = 'poll' | 'fill' | 'sweep' | 'byId';

/** The requests that one (host, token) may send, shared by all sources of it. */
export interface Budget {
  /** How many ms until that share may send its next request; 0: now. */
  waitMs(share: Share): number;
  /** How many ms nothing at all may be sent: the upstream said so. */
  blockedMs(): number;
  /**
   * Counts a request. Never refuses: a walk of several pages is not torn apart, the share's next request waits for it.
   * `throttleMs` paces where no headers tell.
   */
  spend(share: Share, throttleMs: number): void;
  /** What the headers of a reply allow. */
  note(rateLimit: RateLimit | undefined): void;
  /** Nothing is sent until then (Unix ms). */
  block(untilMs: number): void;
}

const SHARES: Readonly<Record<Share, number>> = { poll: 0.7, fill: 0.1, sweep: 0.1, byId: 0.1 };
/** Requests that a share may send at once before it is paced. Reads by id come in bursts: one a page that a viewer asks for. */
const BURST: Readonly<Record<Share, number>> = { poll: 0, fill: 0, sweep: 0, byId: 10 };
/** The longest that a header is believed; Twitter's longest window is a day. */
const LONGEST_MS = 25 * 3_600_000;

/** A reset that moves by less is the same window's: some servers reckon it anew in whole seconds for each reply. */
const SAME_RESET_MS = 5000;

/** What one window of the upstream's limit allows. */
interface Window {
  readonly resetAtMs: number;
  /** What was left when it was first seen: this is shared out. */
  readonly shared: number;
  readonly remaining: number;
  readonly spent: Record<Share, number>;
}

export function createBudget(clock: Clock): Budget {
  let window: Window | undefined;
  let blockedUntilMs = 0;
  let lastMs = 0;
  const paid: Record<Share, { untilMs: number; intervalMs: number }> = {
    poll: { untilMs: 0, intervalMs: 0 },
    fill: { untilMs: 0, intervalMs: 0 },
    sweep: { untilMs: 0, intervalMs: 0 },
    byId: { untilMs: 0, intervalMs: 0 },
  };

  /** Now; when the local clock was set back, what was reckoned in its old time is set back with it. */
  function present(): number {
    const nowMs = clock.now();
    const backMs = lastMs - nowMs;
    if (backMs > 0) {
      blockedUntilMs -= backMs;
      for (const share of Object.values(paid)) share.untilMs -= backMs;
    }
    lastMs = nowMs;
    if (window !== undefined && window.resetAtMs <= nowMs) window = undefined;
    return nowMs;
  }

  return {
    waitMs(share) {
      const nowMs = present();
      const { untilMs, intervalMs } = paid[share];
      return Math.ceil(Math.max(0, blockedUntilMs - nowMs, untilMs - BURST[share] * intervalMs - nowMs));
    },
    blockedMs() {
      const nowMs = present();
      return Math.ceil(Math.max(0, blockedUntilMs - nowMs));
    },
    spend(share, throttleMs) {
      const nowMs = present();
      let intervalMs = (throttleMs * SHARES.poll) / SHARES[share];
      if (window !== undefined) {
        const left = Math.min(window.remaining, SHARES[share] * window.shared - window.spent[share]);
        intervalMs = (window.resetAtMs - nowMs) / Math.max(1, left);
        window.spent[share] += 1;
      }
      paid[share] = { untilMs: Math.max(nowMs, paid[share].untilMs) + intervalMs, intervalMs };
    },
    note(rateLimit) {
      const nowMs = present();
      if (rateLimit === undefined || rateLimit.resetAtMs <= nowMs || rateLimit.resetAtMs > nowMs + LONGEST_MS) return;
      const { resetAtMs, remaining } = rateLimit;
      const isSame = window !== undefined && Math.abs(window.resetAtMs - resetAtMs) < SAME_RESET_MS;
      window =
        window !== undefined && isSame
          ? { ...window, remaining }
          : { resetAtMs, remaining, shared: remaining, spent: { poll: 0, fill: 0, sweep: 0, byId: 0 } };
      if (rateLimit.remaining <= 0) blockedUntilMs = Math.max(blockedUntilMs, rateLimit.resetAtMs);
    },
    block(untilMs) {
      blockedUntilMs = Math.max(blockedUntilMs, Math.min(untilMs, present() + LONGEST_MS));
    },
  };
}
