import { createRandom } from '../../experiment/random.ts';

const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
export const PAGE = 20;
export const GENERATIONS = 3;

/** One request: a scroll's first page, or the next of what it has. */
export interface Visit {
  /** Ms of the day. */
  readonly atMs: number;
  readonly viewerId: string;
  /** Names the scroll. */
  readonly scroll: number;
  readonly isFirst: boolean;
  /** Nothing more comes of this scroll. */
  readonly isLast: boolean;
}

/**
 * A day of so many viewers, by time: each starts a scroll in every third of it; 30 % ask page 2, 30 % of those page 3; 10 % of all
 * come back 3 h after their last page and go on. A next page comes 30 s after the one before or later: half of them within a
 * minute, one in 60 after more than 30 min. The same for a seed.
 */
export function createWorkload(viewers: number, seed: number): readonly Visit[] {
  const random = createRandom(seed);
  const visits: Visit[] = [];
  for (let scroll = 0; scroll < viewers * GENERATIONS; scroll += 1) {
    const viewerId = `u${100_000 + Math.floor(scroll / GENERATIONS)}`;
    let atMs = ((scroll % GENERATIONS) + random()) * (DAY_MS / GENERATIONS);
    const times = [atMs];
    for (let page = 2; page <= 3 && random() < 0.3; page += 1) {
      atMs += Math.min((MINUTE_MS * 0.5) / (1 - random()), 2 * HOUR_MS);
      times.push(atMs);
    }
    if (random() < 0.1) times.push(atMs + 3 * HOUR_MS);
    const inDay = times.filter((each) => each < DAY_MS);
    for (const [n, each] of inDay.entries()) {
      visits.push({ atMs: each, viewerId, scroll, isFirst: n === 0, isLast: n === inDay.length - 1 });
    }
  }
  return visits.sort((a, b) => a.atMs - b.atMs);
}
