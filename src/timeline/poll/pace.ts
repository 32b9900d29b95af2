import type { Clock } from '../../clock.ts';

/** How fast a source brings posts, from which follows how soon it is worth a poll and how much a page has room for. */
export interface Pace {
  /** A poll brought so many new posts, the oldest of them made `spanMs` ago; 0 where ids do not tell. */
  note(posts: number, spanMs: number): void;
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
/** What came before this process counts at most as much as so long a time: what is written now tells more. */
const BEFORE_MS = 60_000;

/** An average whose older part counts less and less; the first poll of a process begins it with the pace of what it brought. */
export function createPace(clock: Pick<Clock, 'monotonic'>): Pace {
  let posts = 0;
  let overMs = 0;
  let atMs: number | undefined;
  const intervalMs = () => (posts > 0 ? overMs / posts : Number.POSITIVE_INFINITY);

  return {
    intervalMs,
    note(count, spanMs) {
      const nowMs = clock.monotonic();
      const passedMs = atMs === undefined ? undefined : nowMs - atMs;
      atMs = nowMs;
      if (passedMs === undefined) {
        // One post makes no pace.
        const isTold = count > 1 && spanMs > 0;
        overMs = isTold ? Math.min(BEFORE_MS, Math.max(1000, spanMs)) : 0;
        posts = isTold ? (count * overMs) / Math.max(1000, spanMs) : 0;
      } else if (passedMs > 0) {
        const fade = Math.exp(-passedMs / AVERAGED_MS);
        posts = posts * fade + count;
        overMs = overMs * fade + passedMs;
      }
    },
    room(pageSize) {
      const fresh = (clock.monotonic() - (atMs ?? clock.monotonic())) / intervalMs();
      const pages = Math.max(1, Math.ceil((Math.sqrt(fresh) + 1) ** 2 / pageSize));
      return Math.max(0, Math.floor((Math.sqrt(pages * pageSize) - 1) ** 2 - fresh));
    },
  };
}
