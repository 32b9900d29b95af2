/** One fixed kind of traffic and weather: nobody picks. */
export interface Scenario {
  readonly name: string;
  readonly postsPerSecond: number;
  readonly lateness: Lateness;
  /** With restarts, 429 storms, clock steps and trims. */
  readonly isRough: boolean;
  readonly limit: { readonly requests: number; readonly windowMs: number };
  /** How long posts are written. */
  readonly trafficMs: number;
}

/** (i) as measured on Twitter: 1 % of the posts are 0.6 to 4.1 s late. (ii) as recorded on the fediverse: up to 3 hours. */
export type Lateness = 'twitter' | 'fediverse';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const PACES = [
  { postsPerSecond: 0.05, limit: { requests: 300, windowMs: 15 * MINUTE }, trafficMs: 12 * HOUR },
  { postsPerSecond: 1, limit: { requests: 300, windowMs: 15 * MINUTE }, trafficMs: HOUR },
  { postsPerSecond: 4, limit: { requests: 300, windowMs: 15 * MINUTE }, trafficMs: 20 * MINUTE },
  { postsPerSecond: 20, limit: { requests: 300, windowMs: 5 * MINUTE }, trafficMs: 5 * MINUTE },
] as const;

/** All sixteen. */
export const SCENARIOS: readonly Scenario[] = PACES.flatMap((pace) =>
  (['twitter', 'fediverse'] as const).flatMap((lateness) =>
    [false, true].map((isRough) => ({
      ...pace,
      lateness,
      isRough,
      name: `${pace.postsPerSecond}/s ${lateness} ${isRough ? 'rough' : 'calm'}`,
    })),
  ),
);

/** The most requests that a poller may need, as a multiple of the plain one's. */
export const MOST_REQUESTS: Readonly<Record<Lateness, number>> = { twitter: 1.25, fediverse: 1.5 };

/** The latest that a post shows, ms. */
export const MOST_LATE_MS = 3 * HOUR;

/** What is not delivered so long after it became visible is lost. */
export const LOST_AFTER_MS = 24 * HOUR;

/** The seeds that every run of the lab has; as many more are drawn. */
export const FIXED_SEEDS: readonly number[] = Array.from({ length: 20 }, (_, n) => n + 1);
