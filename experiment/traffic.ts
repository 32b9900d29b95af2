import { encodeSnowflake, MASTODON } from '../src/ids/snowflake.ts';
import { simulatedId } from '../test/simulated-ids.ts';
import type { SimulatedPost } from '../test/simulated-timeline.ts';
import type { Lateness, Scenario } from './scenarios.ts';

/** A little history, so that the first poll has something to begin with. */
const BEFORE_MS = 40_000;
/** What a commit takes on a healthy server. */
const COMMIT_MS = 5;

/**
 * The posts of a scenario in the order of their ids: Poisson arrivals from a little before `startMs` on. An id carries the time
 * at which it was made; it is visible later by the scenario's lateness.
 */
export function writePosts(
  {
    postsPerSecond,
    lateness,
    trafficMs,
    scheme,
  }: Pick<Scenario, 'postsPerSecond' | 'lateness' | 'trafficMs' | 'scheme'>,
  startMs: number,
  random: () => number,
): readonly SimulatedPost[] {
  const posts: SimulatedPost[] = [];
  let atMs = startMs - BEFORE_MS;
  let lastMs = 0;
  let sequence = 0;
  for (;;) {
    atMs += (-Math.log(1 - random()) * 1000) / postsPerSecond;
    if (atMs >= startMs + trafficMs) return posts;
    const madeMs = Math.floor(atMs);
    sequence = madeMs === lastMs ? sequence + 1 : Math.floor(random() * 60_000);
    lastMs = madeMs;
    const id =
      scheme === undefined
        ? encodeSnowflake(MASTODON, { timeMs: madeMs, sequence: Math.min(sequence, 65_535) })
        : simulatedId(scheme, madeMs, sequence);
    const visibleAtMs = madeMs + Math.round(drawLateness(lateness, random));
    posts.push({ id, atMs: madeMs, visibleAtMs, text: `post ${posts.length}` });
  }
}

/** Shares of posts that are late by at most so many ms; between them the logarithm is straight. */
const FEDIVERSE: readonly (readonly [share: number, ms: number])[] = [
  [0, 200],
  [0.5, 2500],
  [0.9, 40_000],
  [0.95, 630_000],
  [1, 10_800_000],
];

/** How late one post shows, ms. @see upstreams.md, section 1 */
export function drawLateness(lateness: Lateness, random: () => number): number {
  const share = random();
  if (lateness === 'twitter') return share < 0.01 ? 600 + random() * 3500 : random() * COMMIT_MS;
  const above = FEDIVERSE.findIndex(([upTo]) => share < upTo);
  const [lowShare, lowMs] = FEDIVERSE[above - 1] ?? [0, 200];
  const [highShare, highMs] = FEDIVERSE[above] ?? [1, 10_800_000];
  return lowMs * (highMs / lowMs) ** ((share - lowShare) / (highShare - lowShare));
}
