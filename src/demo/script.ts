import type { DemoReply, DemoRequest } from './demo-server.ts';
import type { MastodonDemo } from './mastodon-demo.ts';
import type { TwitterDemo } from './twitter-demo.ts';

/** The upstreams of the demo, by the name that their source has in the settings. */
export interface DemoNetworks {
  /** Steady, with a late post every 20 s and an edit every 25 s. */
  readonly town: MastodonDemo;
  /** Quiet, but 95 posts at once every 2 minutes, when it also throttles. */
  readonly square: MastodonDemo;
  /** GoToSocial: ids are ULIDs. */
  readonly pond: MastodonDemo;
  /** Out of order for 20 s of every 40. */
  readonly harbour: MastodonDemo;
  /** Twitter 2. */
  readonly birds: TwitterDemo;
}

/** What happens in the demo, one step a second; everything that it shows off happens within the first minute. */
export interface DemoScript {
  /** Posts from before the start: the history that a first poll brings. */
  prologue(nowMs: number): void;
  step(nowMs: number): void;
  /** The answers of `square` and `harbour`, with their faults. */
  square(request: DemoRequest): DemoReply;
  harbour(request: DemoRequest): DemoReply;
}

const BURST = 95;
const THROTTLED_MS = 6_000;
const LATE_MS = 5_000;

export function createDemoScript(networks: DemoNetworks, now: () => number): DemoScript {
  const { town, square, pond, harbour, birds } = networks;
  let second = 0;
  let requestsSinceBurst = Number.POSITIVE_INFINITY;
  let throttledUntilMs = 0;
  let harbourIsOut = false;

  return {
    prologue(nowMs) {
      for (const network of Object.values(networks)) {
        for (let minutesAgo = 10; minutesAgo > 0; minutesAgo--) network.replay.publish(nowMs, minutesAgo * 60_000);
      }
    },
    step(nowMs) {
      second += 1;
      if (second % 3 === 0) town.replay.publish(nowMs);
      if (second % 20 === 8) town.replay.publish(nowMs, LATE_MS);
      if (second % 25 === 15) town.replay.edit(nowMs);
      if (second % 7 === 0) birds.replay.publish(nowMs);
      if (second % 9 === 0) pond.replay.publish(nowMs);
      if (second % 6 === 0) harbour.replay.publish(nowMs);
      if (second % 120 === 12) {
        for (let n = BURST; n > 0; n--) square.replay.publish(nowMs, n * 10);
        requestsSinceBurst = 0;
      }
      harbourIsOut = second % 40 >= 20;
    },
    square(request) {
      if (throttledUntilMs > now()) return throttled(throttledUntilMs);
      if (!request.path.includes('/timelines/')) return square.answer(request);
      requestsSinceBurst += 1;
      if (requestsSinceBurst === 2) {
        throttledUntilMs = now() + THROTTLED_MS;
        return throttled(throttledUntilMs);
      }
      return square.answer(request);
    },
    harbour: (request) =>
      harbourIsOut ? { status: 503, body: { error: 'Service temporarily unavailable' } } : harbour.answer(request),
  };
}

function throttled(resetAtMs: number): DemoReply {
  return {
    status: 429,
    body: { error: 'Too many requests' },
    headers: {
      'x-ratelimit-limit': '300',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': new Date(resetAtMs).toISOString(),
    },
  };
}
