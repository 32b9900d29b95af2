/**
 * At these ages, in sweep intervals, every stretch of a timeline is read again: 5 and 15 minutes, 3.5 hours, a day. Most
 * late posts come soon; the latest that was recorded between federated servers came after 3 h 6 min.
 */
const AGES = [1, 3, 42, 288] as const;
/** So much of the timeline, in sweep intervals, is worth a walk: deep rounds in longer pieces. */
const STEPS = [1, 3, 6, 36] as const;
/** Where there are too few requests for all, the round that finds the most goes first. */
const FIRST_TO_LAST = [2, 0, 1, 3] as const;
/** Young rounds, whose next stretch may always be due, do not keep the oldest from its own once it is two steps behind. */
const OLDEST_BEFORE_YOUNG = [2, 3, 0, 1] as const;

/** A stretch that a round has to read: everything older than `topMs`, down to `toMs`. In the time of ids, Unix ms. */
export interface RescannedStretch {
  readonly topMs: number;
  readonly toMs: number;
}

/** Rounds that have everything since `beginMs` before them. */
export function newRounds(beginMs: number): readonly number[] {
  return AGES.map(() => beginMs);
}

/**
 * The rounds' marks as they are at `nowMs`: what fell a round behind is left to the next one, whose age it has come to,
 * and nothing is read below `floorMs`, where nothing is appended.
 */
export function caughtUp(
  rescannedMs: readonly number[],
  at: { nowMs: number; sweepIntervalMs: number; floorMs: number },
): readonly number[] {
  return AGES.map((_, round) => {
    const next = AGES[round + 1];
    const leftMs = next === undefined ? at.floorMs : at.nowMs - next * at.sweepIntervalMs;
    return Math.max(rescannedMs[round] ?? 0, leftMs, at.floorMs);
  });
}

/** What is to be read now; undefined when no round has enough before it. */
export function dueStretch(
  rescannedMs: readonly number[],
  at: { nowMs: number; sweepIntervalMs: number },
): RescannedStretch | undefined {
  const stretchOf = (round: 0 | 1 | 2 | 3): RescannedStretch => {
    return { topMs: at.nowMs - AGES[round] * at.sweepIntervalMs, toMs: rescannedMs[round] ?? 0 };
  };
  const stepsDue = (round: 0 | 1 | 2 | 3): number => {
    const { topMs, toMs } = stretchOf(round);
    return (topMs - toMs) / (STEPS[round] * at.sweepIntervalMs);
  };
  const order = stepsDue(3) >= 2 ? OLDEST_BEFORE_YOUNG : FIRST_TO_LAST;
  const round = order.find((each) => stepsDue(each) >= 1);
  return round === undefined ? undefined : stretchOf(round);
}

/** How many ms until a round has enough before it. */
export function dueInMs(rescannedMs: readonly number[], at: { nowMs: number; sweepIntervalMs: number }): number {
  const waits = AGES.map(
    (age, round) => (rescannedMs[round] ?? 0) + (age + STEPS[round as 0]) * at.sweepIntervalMs - at.nowMs,
  );
  return Math.max(0, Math.min(...waits));
}

/**
 * The marks after everything between `fromMs` and `topMs` (absent: to the top) was read by a walk that began at
 * `startedAtMs`: a round comes forward to its own age, where nothing is left out between.
 */
export function advanced(
  rescannedMs: readonly number[],
  read: { fromMs: number; topMs?: number | undefined; startedAtMs: number; sweepIntervalMs: number },
): readonly number[] {
  return AGES.map((age, round) => {
    const markMs = rescannedMs[round] ?? 0;
    const ownMs = read.startedAtMs - age * read.sweepIntervalMs;
    const reachMs = Math.min(ownMs, read.topMs ?? ownMs);
    return read.fromMs <= markMs ? Math.max(markMs, reachMs) : markMs;
  });
}

/** True for what a walk that began at `startedAtMs` reads again for some round: so each post is looked for a few times, not all the time. */
export function isDueAt(
  rescannedMs: readonly number[],
  timeMs: number,
  walk: { startedAtMs: number; sweepIntervalMs: number },
): boolean {
  return AGES.some((age, round) => {
    return timeMs >= (rescannedMs[round] ?? 0) && timeMs <= walk.startedAtMs - age * walk.sweepIntervalMs;
  });
}
