/** How large a fleet is, and what its servers allow. Real time. */
export interface FleetOptions {
  readonly seed: number;
  readonly gateways: number;
  /** Each of its own server. */
  readonly tokens: number;
  readonly sourcesPerToken: number;
  /** Of pages with a since_id or max_id, told by no header. */
  readonly throttle: Limit;
  /** Of all requests, told by the headers. */
  readonly headers: Limit;
  readonly minIntervalMs: number;
  /** Of each timeline: so few that a poll is one page, also after a fault. */
  readonly postsPerSecond: number;
  readonly runMs: number;
  /** From one fault to the next at least, at most half as much more: time enough for others to take over. */
  readonly faultEveryMs: number;
}

export interface Limit {
  readonly requests: number;
  readonly windowMs: number;
}

/** 20 sources of 4 tokens at Mastodon's own rates, 300 a quarter of an hour, in stretches a fifth as long: each is run through thrice. */
export const FLEET: FleetOptions = {
  seed: 1,
  gateways: 3,
  tokens: 4,
  sourcesPerToken: 5,
  throttle: { requests: 60, windowMs: 180_000 },
  headers: { requests: 60, windowMs: 60_000 },
  minIntervalMs: 1000,
  postsPerSecond: 0.3,
  runMs: 540_000,
  faultEveryMs: 40_000,
};

/** The same in about a minute: time runs ten times as fast, but for the leases. */
export const SMALL_FLEET: FleetOptions = {
  ...FLEET,
  tokens: 2,
  sourcesPerToken: 6,
  throttle: { requests: 30, windowMs: 9000 },
  headers: { requests: 60, windowMs: 6000 },
  minIntervalMs: 100,
  postsPerSecond: 1,
  runMs: 45_000,
  faultEveryMs: 11_000,
};

/** A lease's TTL, the pause between two attempts to take it over, and a second for the poll. */
export const FAILOVER_MS = 7000;

/** How often a source is polled where nothing fails: it shares the polls' part, 70 %, of what its token may ask. */
export function regularMs({ sourcesPerToken, throttle, minIntervalMs }: FleetOptions): number {
  return Math.max(minIntervalMs, (sourcesPerToken * throttle.windowMs) / (0.7 * throttle.requests));
}
