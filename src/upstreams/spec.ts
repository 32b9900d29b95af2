import type { IdSchemeName } from '../post.ts';

/** What one upstream is built from: already checked settings. */
export type UpstreamSpec = MastodonSpec | TwitterSpec;

interface CommonSpec {
  /** The base URL that is asked, such as `https://town.example`; its origin is the only one that gets the token. */
  readonly url: string;
  /** The network's identity, the part of a post id after `@`. Not always the host of `url`. */
  readonly host: string;
  /** Sent as a bearer token. Absent: asked as a stranger. */
  readonly token?: string | undefined;
  /** False: FOLLOWERS and DIRECT posts are dropped, and only their ids are told. */
  readonly keepPrivate: boolean;
  /** Wins over what the server says about itself. */
  readonly idScheme?: IdSchemeName | undefined;
  /** For one request as a whole, ms; the HTTP client's own (10 s) where absent. */
  readonly deadlineMs?: number | undefined;
}

export interface MastodonSpec extends CommonSpec {
  readonly kind: 'mastodon';
  readonly timeline: MastodonTimeline;
}

export interface TwitterSpec extends CommonSpec {
  readonly kind: 'twitter';
  /** `2` where absent. `search` is there in API 2 alone. */
  readonly api?: '2' | '1.1' | undefined;
  readonly timeline: TwitterTimeline;
}

export type MastodonTimeline =
  | { readonly type: 'home' }
  | { readonly type: 'public'; readonly only?: 'local' | 'remote' | undefined }
  | { readonly type: 'tag'; readonly tag: string }
  | { readonly type: 'list'; readonly id: string }
  | { readonly type: 'account'; readonly id: string };

export type TwitterTimeline =
  | { readonly type: 'home'; readonly userId: string }
  | { readonly type: 'user'; readonly userId: string }
  | { readonly type: 'list'; readonly id: string }
  | { readonly type: 'mentions'; readonly userId: string }
  | { readonly type: 'search'; readonly query: string };

export type TimelineSpec = MastodonTimeline | TwitterTimeline;

/** Twitter's own base URLs, for a source without a `url`. The API's version in the path may be left out of a base. */
export const TWITTER_URLS = { '2': 'https://api.twitter.com', '1.1': 'https://api.twitter.com/1.1' } as const;
