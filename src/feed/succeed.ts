import { type Problem, RecommenderUnavailableError } from '../errors.ts';
import { MAX_SERVED } from '../ids/served-set.ts';
import type { FeedCursor } from '../ids/tokens.ts';
import type { Drafts } from './drafts.ts';
import { KEEP } from './open.ts';
import type { OpenDeps, OpenRequest } from './open-request.ts';
import { soonest } from './outage.ts';

/** What goes on after a cursor. */
export interface Succession {
  /** The successor; absent at the scroll's end. */
  readonly feedId?: string | undefined;
  readonly problems: readonly Problem[];
}

/**
 * Finds or makes the successor of the instance that a cursor is in, and which is gone. Throws StoreUnavailableError, and
 * RecommenderUnavailableError also where there is nothing new now, and a source that may have it is late.
 */
export async function succeed(
  deps: OpenDeps & { drafts: Drafts },
  request: OpenRequest,
  cursor: FeedCursor,
): Promise<Succession> {
  const { feeds, drafts, storyKeys, clock, settings } = deps;
  const { userId } = request;
  const { feedId, offset, served } = cursor;
  const of = { feedId, offset };
  const known = await feeds.successor(userId, of, clock.now());
  if (known) return { feedId: known.feedId, problems: [] };
  const size = Math.min(settings.size, MAX_SERVED - served.count);
  // What was served is known by the hashes of the cursor's key alone.
  const key = storyKeys.of(feedId);
  if (size <= 0 || !key) return { problems: [] };
  return drafts.run(async () => {
    const { candidates, problems } = await request.candidates();
    const draft = await drafts.draw(request, candidates, { scroll: { served, key }, size });
    if (draft.items.length === 0) {
      if (problems.length > 0) throw nothingNow(problems);
      return { problems };
    }
    const instance = await drafts.settle(draft, key);
    const ttlMs = settings.instanceTtlSeconds * 1000;
    const nowMs = clock.now();
    const winner = await feeds.publishSuccessor({ viewerId: userId, instance, nowMs, ttlMs, keep: KEEP, of });
    return { feedId: winner.feedId, problems };
  });
}

/** Whether the scroll ends here is not known before the sources have answered. */
function nothingNow(problems: readonly Problem[]): RecommenderUnavailableError {
  const why = problems.map(({ message }) => message).join(', ');
  return new RecommenderUnavailableError(`nothing new can be shown now: ${why}`, soonest(problems));
}
