import type { ForYouView } from '../feed/for-you.ts';
import type { SnowflakeLayout } from '../generated/graphql.ts';
import type { LatenessHistogram } from '../stores/timeline-store.ts';
import type { TimelineView } from '../timeline/reader/read.ts';

/** What the resolvers of a schema type take, where our domain has no type of that name. @see codegen.ts */
export type ForYouItem = ForYouView['items'][number];
export type TimelineEntry = TimelineView['entries'][number];
export type TimelineGap = TimelineView['gaps'][number];

export type Lateness = LatenessHistogram;

/** A decimal id that is known to fit its layout. */
export interface SnowflakeValue {
  readonly value: string;
  readonly layout: SnowflakeLayout;
}

/** A viewer who is signed in. */
export interface SignedIn {
  readonly userId: string;
}
