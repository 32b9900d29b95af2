import type { Clock } from '../clock.ts';
import type { Problem } from '../errors.ts';
import type { StoryKeys } from '../ids/story-key.ts';
import type { PostId } from '../post.ts';
import type { Candidate, Recommender } from '../recommenders/recommender.ts';
import type { FeedStore } from '../stores/feed-store.ts';
import type { Turns } from './turns.ts';

/** What generating and publishing need. */
export interface OpenDeps {
  readonly feeds: FeedStore;
  readonly recommender: Recommender;
  /** Stands in when `recommender` fails and the viewer has no live instance. */
  readonly local: Recommender;
  readonly storyKeys: StoryKeys;
  readonly clock: Clock;
  /** Has one of several gateways generate; absent: there is only this one. */
  readonly turns?: Turns | undefined;
  readonly settings: {
    /** The most items of an instance. */
    readonly size: number;
    /** An instance lives so long after it was last read. */
    readonly instanceTtlSeconds: number;
    /** A first page shows the same instance for so long. */
    readonly currentTtlSeconds: number;
    /** What a page answers whose instance is gone. */
    readonly whenGone: 'continue' | 'empty';
  };
  /** True for hosts that a source has: what a recommender names elsewhere is dropped. Absent: nothing is. */
  readonly hasHost?: ((host: string) => boolean) | undefined;
  readonly log?: ((line: string) => void) | undefined;
}

/** Whose feed, and what it may be made of. */
export interface OpenRequest {
  readonly userId: string;
  /** How many items the page that follows shows at most: at least 1. */
  readonly limit: number;
  /** Newest first, at most 48 h old; waits for an empty log. */
  readonly candidates: () => Promise<{ candidates: readonly Candidate[]; problems: readonly Problem[] }>;
  /** Told which posts of a new instance are no candidates, in its order: nobody waits for it, and it never throws. */
  readonly readAhead?: ((ids: readonly PostId[]) => void) | undefined;
}
