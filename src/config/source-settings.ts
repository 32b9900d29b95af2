import type { IdSchemeName } from '../post.ts';
import type { Audience } from '../source.ts';
import { type MastodonTimeline, TWITTER_URLS, type TwitterTimeline } from '../upstreams/spec.ts';
import type { CheckedSource } from './source-schema.ts';

/** One checked source, all defaults filled in. */
export type SourceSettings = MastodonSource | TwitterSource;

interface CommonSource {
  /** The key in the settings file. */
  readonly key: string;
  /** The base URL that is asked, without a slash at its end. */
  readonly url: string;
  /** The network's identity, the part of a post id after `@`. */
  readonly host: string;
  readonly token?: string | undefined;
  readonly audience: Audience;
  readonly minIntervalMs: number;
  /** True when the source has a `minIntervalMs` of its own. */
  readonly ownInterval: boolean;
  /** True when the source has an `overlapMs` of its own. */
  readonly ownOverlap: boolean;
  /** In ms of id time, at least 1000. */
  readonly overlapMs: number;
  readonly overlap: 'latest' | 'retrieved-at';
  readonly pollWhen: 'always' | 'asked';
  /** Absent: as many as there are. */
  readonly maxPostsPerDay?: number | undefined;
  readonly deadlineMs: number;
  /** Absent: the upstream finds out. */
  readonly idScheme?: IdSchemeName | undefined;
}

export interface MastodonSource extends CommonSource {
  readonly kind: 'mastodon';
  readonly timeline: MastodonTimeline;
}

export interface TwitterSource extends CommonSource {
  readonly kind: 'twitter';
  readonly api: '2' | '1.1';
  readonly timeline: TwitterTimeline;
}

/** Posts read are billed there, and the rate windows are 15 minutes long. */
const TWITTER_INTERVAL_MS = 60_000;
const OVERLAP_MS = { mastodon: 60_000, twitter: 10_000 };
const TWITTER_HOST = 'x.com';

/** Fills in what a source left out. */
export function checkedSource(key: string, source: CheckedSource, polling: { minIntervalMs: number }): SourceSettings {
  const { token, deadlineMs, overlap, pollWhen } = source;
  const common = {
    key,
    token,
    audience: source.audience ?? 'anyone',
    ownInterval: source.minIntervalMs !== undefined,
    ownOverlap: source.overlapMs !== undefined,
    overlapMs: source.overlapMs ?? OVERLAP_MS[source.kind],
    overlap,
    pollWhen,
    maxPostsPerDay: source.maxPostsPerDay,
    deadlineMs,
  };
  if (source.kind === 'mastodon') {
    const { kind, url, timeline, idScheme } = source;
    const host = source.host ?? new URL(url).host;
    const minIntervalMs = source.minIntervalMs ?? polling.minIntervalMs;
    return { ...common, kind, url: withoutSlash(url), host, timeline, minIntervalMs, idScheme };
  }
  const { kind, api, url = TWITTER_URLS[source.api], host = TWITTER_HOST, timeline } = source;
  const minIntervalMs = source.minIntervalMs ?? Math.max(polling.minIntervalMs, TWITTER_INTERVAL_MS);
  return { ...common, kind, api, url: withoutSlash(url), host, timeline, minIntervalMs };
}

function withoutSlash(url: string): string {
  return new URL(url).href.replace(/\/+$/, '');
}
