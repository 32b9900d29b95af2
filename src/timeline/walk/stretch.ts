import type { Problem, UpstreamError } from '../../errors.ts';
import type { IdScheme } from '../../ids/id-scheme.ts';
import type { Post, PostId } from '../../post.ts';
import type { KnownEntry, LogState } from '../../stores/timeline-store.ts';
import type { UpstreamDescription } from '../../upstreams/upstream.ts';
import type { ReadFor } from './ask.ts';
import type { Places } from './place-posts.ts';

/** A log as it was when the walk began. */
export interface WalkedLog {
  readonly state: LogState;
  readonly scheme: IdScheme;
  readonly description: UpstreamDescription;
}

/** From where, how far down, and for whose share of the budget pages are read. */
export interface StretchPlan {
  readonly readFor: ReadFor;
  /** Where the first page begins; both absent: at the top. */
  readonly next?: string | undefined;
  readonly before?: string | undefined;
  /** Exclusive; left out where it is known to hide posts. */
  readonly sinceId?: string | undefined;
  /** The lowest order key read above; absent: the walk begins at the top. */
  readonly topKey?: string | undefined;
  /** A page with this order key, or any below it, ends the walk. Absent: the first page that holds something is all. */
  readonly bottomKey: string | undefined;
  /** An order key from which no further page is worth a request. */
  readonly enoughKey?: string | undefined;
  /** What is known down there, at or below this order key, tells that the walk was not cut; absent: whatever is known. */
  readonly joinKey?: string | undefined;
  readonly maxPages: number;
}

/** What was read. */
export interface Stretch {
  /** Newest first; each post once, as it was read last. */
  readonly reads: readonly Read[];
  /** All ids that the replies held, in their order. */
  readonly ids: ReadonlySet<string>;
  /** Those of the posts that the log knows, removed ones included. */
  readonly known: ReadonlyMap<PostId, KnownEntry>;
  readonly places: Places;
  readonly topKey?: string | undefined;
  /** How deep it came. Absent where nothing tells. */
  readonly lowestKey?: string | undefined;
  readonly end: StretchEnd;
  /** Why it broke off, in a gap's words, and the error if it was one. */
  readonly brokenBy?: 'RATE_LIMITED' | 'PAGE_CAP' | 'UPSTREAM_ERROR' | undefined;
  readonly error?: UpstreamError | undefined;
  /** Where reading goes on; absent when the timeline ended. */
  readonly next?: string | undefined;
  readonly isPartial: boolean;
  readonly problems: readonly Problem[];
  readonly requests: number;
}

export interface Read {
  readonly post: Post;
  readonly readAtMs: number;
}

/**
 * `bottom`: the plan's bottom was reached. `joined`: what is known was, and the plan allows no more pages. `end`: the timeline ended.
 * `cut`: it ended, and showed nothing of what is known and should still be there. `broken`: before any of these.
 */
export type StretchEnd = 'bottom' | 'joined' | 'end' | 'cut' | 'broken';
