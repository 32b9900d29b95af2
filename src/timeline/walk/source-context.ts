import type { Clock } from '../../clock.ts';
import type { Source } from '../../source.ts';
import type { Store } from '../../stores/store.ts';
import type { RateLimit, UpstreamDescription } from '../../upstreams/upstream.ts';
import type { Requests } from '../dispatch/requests.ts';
import type { Pace } from '../poll/pace.ts';
import type { ServerClock } from './server-clock.ts';

/** What all work on one source works with. */
export interface SourceContext {
  readonly source: Source;
  readonly store: Pick<Store, 'timelines' | 'posts' | 'signals' | 'notes'>;
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  readonly requests: Requests;
  readonly pace: Pace;
  /** The most pages that one poll reads. */
  readonly maxPages: number;
  /** How long final gaps are told: as long as entries are kept. */
  readonly keepMs: number;
  /** Ends requests, never commits. */
  readonly signal: AbortSignal;
  readonly notes: Notes;
}

/** What is remembered in this process alone: losing it costs a request or a count, never a post. */
export interface Notes {
  /** Counted since the last commit, which takes them along. */
  requests: number;
  duplicatesDropped: number;
  description?: UpstreamDescription | undefined;
  rateLimit?: RateLimit | undefined;
  /** When the last request was sent that brought a page, local clock: the credential was good then. */
  readAtMs?: number | undefined;
  /** When the last poll's first request was sent, in server time. */
  sentAtMs?: number | undefined;
  /** The same of the last whole poll. */
  retrievedAtMs?: number | undefined;
  /** Where a poll with this since_id found the end of the timeline, without its anchor. */
  end?: { readonly sinceId: string; readonly id: string } | undefined;
  /** The since_id that is left out once to see what it hides, and whether a page was read without it. */
  doubt?: { readonly sinceId: string; readonly isSettled: boolean } | undefined;
  /** When a since_id was found to hide posts, Unix ms of the local clock. */
  brokenAtMs?: number | undefined;
  /** The since_id that the upstream answered with 400. */
  refusedSinceId?: string | undefined;
  /** How far rescans have come, where that is not kept yet. */
  rescannedMs?: readonly number[] | undefined;
}
