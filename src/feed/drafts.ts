import { emptyServedSet, type ServedSet } from '../ids/served-set.ts';
import type { StoryKey } from '../ids/story-key.ts';
import type { Candidate, Recommender } from '../recommenders/recommender.ts';
import { type Draft, generate, referenced } from './generate.ts';
import type { MadeInstance } from './instance.ts';
import { createLimiter, type Limiter } from './limiter.ts';
import type { OpenDeps, OpenRequest } from './open-request.ts';

/** Makes what new feeds hold, of all viewers of one gateway. */
export interface Drafts {
  /** All that holds a draft is to be done within it. @see Limiter */
  run: Limiter['run'];
  /** A draft, by default for a scroll that has served nothing. Throws RecommenderUnavailableError. */
  draw(request: OpenRequest, candidates: readonly Candidate[], options?: DraftOptions): Promise<Draft>;
  /** Its instance, what it names kept in the store. Throws StoreUnavailableError. */
  settle(draft: Draft, key?: StoryKey): Promise<MadeInstance>;
}

export interface DraftOptions {
  /** Instead of the one of the settings. */
  readonly recommender?: Recommender;
  /** What the scroll has served, and the key of its hashes. */
  readonly scroll?: { readonly served: ServedSet; readonly key: StoryKey };
  /** The most items. */
  readonly size?: number;
}

export function createDrafts(deps: OpenDeps): Drafts {
  const { feeds, storyKeys, clock, settings, hasHost, log } = deps;
  const limiter = createLimiter({ clock });
  return {
    run: limiter.run,
    async draw({ userId, readAhead }, candidates, options = {}) {
      const { recommender = deps.recommender, size = settings.size } = options;
      const { scroll = { served: emptyServedSet, key: storyKeys.current } } = options;
      const draft = await generate({ ...scroll, recommender, userId, candidates, size, clock, hasHost, log });
      if (draft.named.length > 0) readAhead?.(draft.named);
      await limiter.ownTurn();
      return draft;
    },
    settle: (draft, key = storyKeys.current) =>
      referenced(draft, { feeds, key, ttlMs: settings.instanceTtlSeconds * 1000, clock }),
  };
}
