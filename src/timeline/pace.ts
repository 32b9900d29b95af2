/** How fast a source brings posts, and how far back that lets a poll look. */
export interface Pace {
  /** Posts that a poll brought, and the stretch of time which they are of. */
  note(posts: number, spanMs: number, nowMs: number): void;
  /**
   * The overlap k in ms: what is wanted, but at most what fits into one page at the source's pace, and at least 1 s.
   * @see design.md, section 4: "at most what fits with the new posts into one page more"
   */
  overlapMs(wantedMs: number, pageSize: number, nowMs: number): number;
}

/** The published k: "Your Timelines Are Leaky". */
const LEAST_OVERLAP_MS = 1000;
/** Over what the pace is averaged: a burst must not shrink the overlap for which it is read again. */
const AVERAGED_MS = 300_000;

export function createPace(): Pace {
  let recent = 0;
  let atMs = 0;
  const decayed = (nowMs: number) => recent * Math.exp(-Math.max(0, nowMs - atMs) / AVERAGED_MS);
  return {
    note(posts, spanMs, nowMs) {
      recent = decayed(nowMs) + (posts * AVERAGED_MS) / Math.max(AVERAGED_MS, spanMs);
      atMs = nowMs;
    },
    overlapMs(wantedMs, pageSize, nowMs) {
      const fitsMs = (pageSize * AVERAGED_MS) / Math.max(decayed(nowMs), 1e-9);
      return Math.floor(Math.max(LEAST_OVERLAP_MS, Math.min(wantedMs, fitsMs)));
    },
  };
}
