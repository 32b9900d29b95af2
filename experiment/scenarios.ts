/** One fixed kind of traffic and faults: nobody picks. */
export interface Scenario {
  readonly name: string;
  readonly postsPerSecond: number;
  readonly lateness: Lateness;
  /** With restarts, 429 storms, clock steps and trims. */
  readonly isRough: boolean;
  readonly limit: { readonly requests: number; readonly windowMs: number };
  /** How long posts are written. */
  readonly trafficMs: number;
  /** The server's ids; Mastodon's where absent. */
  readonly scheme?: 'opaque';
  /** Which shares of the posts are edited, and deleted, after they were shown. */
  readonly changes?: { readonly edited: number; readonly deleted: number };
  /** So many of the newest posts are deleted at once, after this share of the traffic. */
  readonly wave?: { readonly posts: number; readonly at: number };
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

/** Every pace with each lateness, calm and rough; then what becomes of posts that were shown. */
export const SCENARIOS: readonly Scenario[] = [
  ...PACES.flatMap((pace) =>
    (['twitter', 'fediverse'] as const).flatMap((lateness) =>
      [false, true].map((isRough) => ({
        ...pace,
        lateness,
        isRough,
        name: `${pace.postsPerSecond}/s ${lateness} ${isRough ? 'rough' : 'calm'}`,
      })),
    ),
  ),
  {
    ...PACES[1],
    lateness: 'fediverse',
    isRough: false,
    scheme: 'opaque',
    changes: { edited: 0.05, deleted: 0.05 },
    name: '1/s opaque ids, edits and deletions',
  },
  {
    ...PACES[2],
    lateness: 'twitter',
    isRough: false,
    wave: { posts: 2000, at: 0.75 },
    name: '4/s moderation wave',
  },
];

/** The most requests that a poller may need, as a multiple of the plain one's; absent where what was read is to be read again to be judged. */
export function mostRequests({ lateness, changes, wave }: Scenario): number | undefined {
  if (changes !== undefined || wave !== undefined) return undefined;
  return lateness === 'twitter' ? 1.25 : 1.5;
}

/** The latest that a post shows, ms. */
export const MOST_LATE_MS = 3 * HOUR;

/** What is not delivered so long after it became visible is lost. */
export const LOST_AFTER_MS = 24 * HOUR;

/** The seeds that every run of the lab has; as many more are drawn. */
export const FIXED_SEEDS: readonly number[] = Array.from({ length: 20 }, (_, n) => n + 1);
