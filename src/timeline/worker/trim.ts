import type { Clock } from '../../clock.ts';
import type { Source } from '../../source.ts';
import type { TimelineStore } from '../../stores/timeline-store.ts';

/** Bounds a log now and then. */
export interface Trimmer {
  /** Trims when an hour has passed since the last time, or a thousand records were appended. */
  afterCommit(appended: number): Promise<void>;
}

const INTERVAL_MS = 3_600_000;
const APPENDED = 1000;
const LEAST_KNOWN = 10_000;

/**
 * The known-index keeps twice the deepest walk, so that what a poll can read again is never taken for new, and as many
 * posts as the log: rescans read down to where it begins.
 */
export function createTrimmer(deps: {
  source: Source;
  timelines: TimelineStore;
  clock: Clock;
  keep: { keepHours: number; keepEntries: number; keepMegabytes?: number | undefined };
  maxPages: number;
  pageSize: () => number;
}): Trimmer {
  const { source, timelines, clock, keep, maxPages } = deps;
  let trimmedAtMs = Number.NEGATIVE_INFINITY;
  let since = 0;
  return {
    async afterCommit(appended) {
      since += appended;
      const nowMs = clock.now();
      if (Math.abs(nowMs - trimmedAtMs) < INTERVAL_MS && since < APPENDED) return;
      await timelines.trim({
        logId: source.logId,
        beforeMs: nowMs - keep.keepHours * 3_600_000,
        keepEntries: keep.keepEntries,
        keepBytes: keep.keepMegabytes && keep.keepMegabytes * 1_048_576,
        keepKnown: Math.max(LEAST_KNOWN, keep.keepEntries, 2 * maxPages * deps.pageSize()),
      });
      trimmedAtMs = nowMs;
      since = 0;
    },
  };
}
