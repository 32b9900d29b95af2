import type { Problem } from '../errors.ts';
import type { IdSchemeName, Post } from '../post.ts';

/**
 * One timeline of one remote network, as the domain sees it. An adapter speaks the network's words inside and these outside.
 * Every method throws UpstreamError. Adding a network is one file that returns this, and one line in upstreams/registry.ts.
 */
export interface Upstream {
  /** What the server is. Asked once, kept while it answers; a server that does not tell is described by the safest guess. */
  describe(signal?: AbortSignal): Promise<UpstreamDescription>;
  /** One page, as the upstream orders it (newest first but for its own oddities). One request. */
  readPage(request: PageRequest): Promise<UpstreamPage>;
  /**
   * Posts by their upstream ids, at most `describe().bulk` a request, else bounded parallel.
   * Ids of another form than the network's are answered as gone without a request. Never throws because it was refused:
   * `failed` has UNAUTHORIZED for each id then, as timelines may be read all the same.
   */
  fetchPosts(upstreamIds: readonly string[], signal?: AbortSignal): Promise<FetchedPosts>;
  /**
   * Whose token it is, by the network's own id of the account; undefined where the server does not let this token ask.
   * Throws UpstreamError where it may tell later: UNAVAILABLE, RATE_LIMITED. Absent where the settings name the account.
   */
  account?(signal?: AbortSignal): Promise<string | undefined>;
  /** How many requests were ever sent. Absent: one a page, one a `bulk` of ids, none to describe. */
  requestsSent?(): number;
}

export interface UpstreamDescription {
  /** As nodeinfo or the instance document names it, with the version: `mastodon 4.3.1`. */
  readonly software?: string | undefined;
  readonly idScheme: IdSchemeName;
  /** True where ids are compared as doubles (home and list of Mastodon proper): since_id must then lie 16 lower. */
  readonly roundsIds: boolean;
  /** The most posts that one page holds. */
  readonly pageSize: number;
  /** How many posts the upstream keeps in this timeline, one of these; absent when it is not cut. */
  readonly feedDepths?: readonly number[] | undefined;
  /** How far back the upstream shows posts, ms; absent where it shows all that it keeps. */
  readonly feedMs?: number | undefined;
  /** False where since_id is known not to exist (Twitter 2 lists): then pages are walked to the anchor. */
  readonly sinceId: boolean;
  /** True where reading may begin below any id (`PageRequest.before`). */
  readonly before?: boolean | undefined;
  /** The most ids that one request by id takes; 1 where there is no such request. */
  readonly bulk: number;
  /**
   * False where deleted posts are answered by id as if they were there (snac): then nothing but their absence from the timeline
   * tells. Absent or true: a post that is answered by id is alive.
   */
  readonly aliveById?: boolean | undefined;
  /** The software's known throttles which no header tells: one token may ask so much of one host. */
  readonly throttles?: readonly KnownThrottle[] | undefined;
  /** Names the endpoint where headers tell limits of each endpoint apart (Twitter); absent where they are the token's. */
  readonly endpoint?: string | undefined;
}

/** At most `requests` within any `windowMs`. */
export interface KnownThrottle {
  readonly requests: number;
  readonly windowMs: number;
  /** `pages`: reads of timelines alone. */
  readonly counts: 'pages' | 'all';
}

export interface PageRequest {
  /** Exclusive: posts with ids above it. Left out where the upstream has none. */
  readonly sinceId?: string | undefined;
  /** `next` of the page before, to walk to older posts; opaque, may be stored, stays valid over a restart where the upstream allows it. */
  readonly next?: string | undefined;
  /**
   * Posts with ids below it: where a walk begins that need not come down from the top. Never together with `sinceId` or `next`,
   * and only where `describe().before` says so.
   */
  readonly before?: string | undefined;
  /** At most `pageSize`, which is the default. */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface UpstreamPage {
  readonly posts: readonly Post[];
  /** All upstream ids that the reply held, with those that were dropped or malformed: what closes a walk. */
  readonly ids: readonly string[];
  /** Absent when the upstream says that there is nothing older. A page without posts may have one. */
  readonly next?: string | undefined;
  /** True for a reply that is known not to be whole (206, partial errors): the watermark must not move. */
  readonly partial: boolean;
  /** What was left out and why: malformed posts, partial errors. Without `sourceKey`. */
  readonly problems: readonly Problem[];
  /** The tightest of `limits`. */
  readonly rateLimit?: RateLimit | undefined;
  readonly limits?: readonly NamedLimit[] | undefined;
  /** When the request was sent, Unix ms of the local clock. */
  readonly sentAtMs: number;
  /** The server's `Date`, Unix ms with 1 s resolution; absent where the server has none. */
  readonly serverDateMs?: number | undefined;
}

/** What the headers allow. */
export interface RateLimit {
  readonly limit: number;
  readonly remaining: number;
  /** Unix ms, of the server's clock. */
  readonly resetAtMs: number;
}

/** One of the limits that the headers tell; all of them hold. */
export interface NamedLimit extends RateLimit {
  /** With `limit`, what tells it from others: `x-rate-limit`. */
  readonly name: string;
  /** True where it is about `describe().endpoint` alone, not about the token. */
  readonly endpoint: boolean;
}

export interface FetchedPosts {
  /** Keyed by the upstream id that was asked. */
  readonly posts: ReadonlyMap<string, Post>;
  /** Asked ids that the upstream answered with 404 or 410. */
  readonly gone: readonly string[];
  /** Asked ids about which nothing is known now, with the reason. */
  readonly failed: ReadonlyMap<string, Problem>;
  readonly limits?: readonly NamedLimit[] | undefined;
  /** Local clock, Unix ms. */
  readonly sentAtMs: number;
}
