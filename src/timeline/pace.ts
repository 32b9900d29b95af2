import type { Clock } from '../clock.ts';

/** How fast a source brings posts, from which follows how soon it is worth a poll and how much a page has room for. */
export interface Pace {
  /** What the very first poll read: so many posts, made within the last `spanMs`. */
  noteHistory(posts: number, spanMs: number): void;
  /** A poll brought so many new posts. */
  note(posts: number): void;
  /** How many ms from one post to the next; infinite while none came. */
  intervalMs(): number;
  /**
   * How many known posts a poll may read again without one request more than its new posts need. Posts come as they like: of
   * `n` that are expected there may well be `n + 2 * sqrt(n)`, and one more is the anchor. So pages of `capacity` posts in all
   * hold an expected `(sqrt(capacity) - 1)^2`.
   */
  room(pageSize: number): number;
}

/** Over what the pace is averaged: an hour's burst is forgotten within the next. */
const AVERAGED_MS = 300_000;
/** History counts at most as much as so long a time: what was written lately tells more. */
const HISTORY_MS = 60_000;

/** An average whose older part counts less and less; begins with the history's own pace. */
export function createPace(clock: Pick<Clock, 'monotonic'>): Pace {
  let posts = 0;
  let overMs = 0;
  let atMs: number | undefined;
  const intervalMs = () => (posts > 0 ? overMs / posts : Number.POSITIVE_INFINITY);

  return {
    intervalMs,
    noteHistory(count, spanMs) {
      // One post makes no pace.
      if (count < 2) return;
      overMs = Math.min(HISTORY_MS, Math.max(1000, spanMs));
      posts = (count * overMs) / Math.max(1000, spanMs);
      atMs = clock.monotonic();
    },
    note(count) {
      const nowMs = clock.monotonic();
      const passedMs = nowMs - (atMs ?? nowMs);
      atMs = nowMs;
      // Over how long the first poll of a process looks back is not known.
      if (passedMs <= 0) return;
      const fade = Math.exp(-passedMs / AVERAGED_MS);
      posts = posts * fade + count;
      overMs = overMs * fade + passedMs;
    },
    room(pageSize) {
      const fresh = (clock.monotonic() - (atMs ?? clock.monotonic())) / intervalMs();
      const pages = Math.max(1, Math.ceil((Math.sqrt(fresh) + 1) ** 2 / pageSize));
      return Math.max(0, Math.floor((Math.sqrt(pages * pageSize) - 1) ** 2 - fresh));
    },
  };
}
