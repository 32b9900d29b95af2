import type { Clock } from '../../clock.ts';
import type { SourcePolling } from '../../source.ts';
import type { Pace } from '../poll/pace.ts';

/** When a source wants to be polled, whatever its budget allows. */
export interface Schedule {
  /** Goes on after another loop, whose last poll was so long ago; absent: there was none. */
  adopt(agoMs: number | undefined): void;
  /** A poll begins. */
  began(): void;
  /** A reader wants the source; gives true when none did of late. */
  asked(): boolean;
  /** True for two minutes after a reader asked. */
  isWatched(): boolean;
  /** ms since the last poll began; Infinity before the first. */
  agoMs(): number;
  /** ms until the least interval since the last poll is over. */
  youngMs(): number;
  /** ms until the next poll is due, if nobody asks. */
  dueMs(): number;
}

/** So long after a reader asked, others are likely to come. */
const WATCHED_MS = 120_000;

/**
 * Watched sources are due at each least interval, others when one new post can be expected, by the pace of the last minutes;
 * at the idle interval at last. Begins with a poll.
 */
export function createSchedule(deps: {
  clock: Clock;
  polling: SourcePolling;
  pace: Pick<Pace, 'intervalMs'>;
}): Schedule {
  const { clock, polling, pace } = deps;
  const { minIntervalMs, idleIntervalMs, pollWhen } = polling;
  const never = Number.NEGATIVE_INFINITY;
  let isFirst = true;
  let beganAtMs = never;
  let askedAtMs = never;

  const leftMs = (intervalMs: number) => Math.max(0, Math.ceil(beganAtMs + intervalMs - clock.monotonic()));
  const isWatched = () => pollWhen === 'always' && clock.monotonic() - askedAtMs < WATCHED_MS;

  return {
    adopt(agoMs) {
      if (agoMs === undefined || agoMs < 0) return;
      beganAtMs = clock.monotonic() - agoMs;
    },
    began() {
      isFirst = false;
      beganAtMs = clock.monotonic();
    },
    asked() {
      const wasWatched = isWatched();
      askedAtMs = clock.monotonic();
      return !wasWatched;
    },
    isWatched,
    agoMs: () => clock.monotonic() - beganAtMs,
    youngMs: () => leftMs(minIntervalMs),
    dueMs() {
      if (isFirst || isWatched()) return leftMs(minIntervalMs);
      return leftMs(Math.max(minIntervalMs, Math.min(idleIntervalMs, pace.intervalMs())));
    },
  };
}
