import type { IdSchemeName, Network } from './post.ts';
import type { Upstream } from './upstreams/upstream.ts';

/** One configured upstream timeline, as the composition root built it from the settings. */
export interface Source {
  /** The settings key; `source:<key>` is its id in the schema. */
  readonly key: string;
  /** The source's identity (kind, host, timeline, account): a key that is re-used for something else is another log. */
  readonly logId: string;
  readonly network: Network;
  /** The network's identity, such as `x.com` or `town.example:8443`: the part of a post id after `@`. */
  readonly host: string;
  /** The URL that is asked. */
  readonly url: string;
  /** As people would say it: `home`, `public (local)`, `tag #cats`, `user 2244994945`. */
  readonly timeline: string;
  readonly audience: Audience;
  readonly upstream: Upstream;
  /** Names the (host, token) pair whose rate budget this source shares. Holds no secret. */
  readonly credentialId: string;
  /**
   * Present where the server did not say yet whose token it is. To be called before the first page is asked for, and again before
   * the next try while it throws: UpstreamError where the server does not answer, or where the token is of another account than
   * the log (FORBIDDEN, for good), StoreUnavailableError. Nothing may be read before it resolves.
   */
  readonly confirmAccount?: ((signal?: AbortSignal) => Promise<void>) | undefined;
  /** True where no token is sent. */
  readonly anonymous?: boolean | undefined;
  readonly polling: SourcePolling;
}

export interface SourcePolling {
  readonly minIntervalMs: number;
  readonly idleIntervalMs: number;
  /** At least this long between two rescans of one stretch of the timeline. */
  readonly sweepIntervalMs: number;
  /** The overlap k while nothing was measured, in ms of id time. */
  readonly overlapMs: number;
  /** True when the settings name `overlapMs` for this source: then k is not measured. */
  readonly ownOverlap: boolean;
  readonly overlap: 'latest' | 'retrieved-at';
  readonly pollWhen: 'always' | 'asked';
  /** True when `minIntervalMs` was set for this source by name: then it wins over the software's known throttles. */
  readonly ownInterval: boolean;
  /** The most posts to read in one day (UTC), for upstreams that bill them. Absent: no bound. */
  readonly maxPostsPerDay?: number | undefined;
  /** From the settings; otherwise the upstream finds out. */
  readonly idScheme?: IdSchemeName | undefined;
}

export type Audience = 'anyone' | 'signed-in' | readonly string[];

/** Who asks. Without a `userId` nobody signed in. */
export interface Viewer {
  readonly userId?: string | undefined;
}

/** True when the viewer may see what this source brought. */
export function mayRead(audience: Audience, viewer: Viewer): boolean {
  if (audience === 'anyone') return true;
  if (viewer.userId === undefined) return false;
  return audience === 'signed-in' || audience.includes(viewer.userId);
}
