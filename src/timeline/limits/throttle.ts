import type { KnownThrottle } from '../../upstreams/upstream.ts';

/** A throttle that no header tells: we count for it ourselves. */
export interface Throttle {
  readonly known: KnownThrottle;
  /** From one request to the next, evenly, ms. */
  readonly intervalMs: number;
  /** ms until one more fits, where `most` of its requests may be used; 0: now. */
  waitMs(most?: number): number;
  /** How many more fit now, where `most` may be used. */
  left(most?: number): number;
  /** How much of it is not used, 0 to 1; 1 for one that only spaces requests. */
  unused(): number;
  sent(count: number): void;
  save(): SavedThrottle;
  /** Goes on with what another one counted, so long ago. */
  restore(saved: SavedThrottle, agoMs: number): void;
}

/** How many requests were sent how long ago, oldest first: `[[899000, 3], [20, 1]]`. */
export type SavedThrottle = readonly (readonly [agoMs: number, count: number])[];

/** What is sent within so small a part of the window counts as sent at once, with the last of it: little is kept, and never too little counted. */
const BUCKETS = 60;

interface Bucket {
  readonly fromMs: number;
  lastMs: number;
  count: number;
}

/** Never more than `requests` within any stretch of `windowMs`, wherever the upstream begins its windows. `now` is monotonic, ms. */
export function createThrottle(known: KnownThrottle, now: () => number): Throttle {
  const { requests, windowMs } = known;
  let buckets: readonly Bucket[] = [];

  function present(): number {
    const nowMs = now();
    buckets = buckets.filter(({ lastMs }) => lastMs > nowMs - windowMs);
    return nowMs;
  }

  const used = () => buckets.reduce((sum, { count }) => sum + count, 0);

  return {
    known,
    intervalMs: windowMs / requests,
    waitMs(most = requests) {
      const nowMs = present();
      let left = used();
      let waitMs = 0;
      for (const { lastMs, count } of buckets) {
        if (left < most) break;
        waitMs = Math.ceil(lastMs + windowMs - nowMs);
        left -= count;
      }
      return waitMs;
    },
    left(most = requests) {
      present();
      return most - used();
    },
    unused() {
      present();
      return requests === 1 ? 1 : (requests - used()) / requests;
    },
    sent(count) {
      const nowMs = present();
      const last = buckets.at(-1);
      if (last === undefined || nowMs - last.fromMs >= windowMs / BUCKETS) {
        buckets = [...buckets, { fromMs: nowMs, lastMs: nowMs, count }];
      } else {
        last.lastMs = nowMs;
        last.count += count;
      }
    },
    save() {
      const nowMs = present();
      return buckets.map(({ lastMs, count }) => [nowMs - lastMs, count]);
    },
    restore(saved, agoMs) {
      const savedAtMs = now() - agoMs;
      // Nothing is added to those: they would last longer with each owner.
      buckets = saved.map(([ms, count]) => ({ fromMs: Number.NEGATIVE_INFINITY, lastMs: savedAtMs - ms, count }));
    },
  };
}
