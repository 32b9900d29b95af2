import type { PostId } from '../../post.ts';
import type { KnownPost } from '../../stores/timeline-store.ts';
import type { SourceContext } from '../walk/source-context.ts';
import type { Stretch } from '../walk/stretch.ts';

/** So many known posts are looked at together: thousands may be missing after a moderator's work. */
const LOOKED_AT = 500;

/**
 * Known posts between the bounds, both left out, that the stretch should hold, and does not; highest first. Beside
 * candidates at most `limit`, of those that are due.
 */
export async function findMissing(
  { source, store }: SourceContext,
  stretch: Stretch,
  query: {
    above: string;
    upTo: string | undefined;
    isCandidate: (postId: PostId) => boolean;
    isDue: (post: KnownPost) => boolean;
    limit: number;
  },
): Promise<readonly KnownPost[]> {
  const { above, upTo: topKey, isCandidate, isDue, limit } = query;
  const shown = shownIn(stretch);
  const missing = new Map<PostId, KnownPost>();
  let others = 0;
  let upTo = topKey;
  for (let isWhole = false; !isWhole; ) {
    const expected = await store.timelines.knownBetween({
      ...{ logId: source.logId, above, limit: LOOKED_AT },
      ...(upTo !== undefined && { upTo }),
    });
    for (const post of expected) {
      const { postId, upstreamId, orderKey } = post;
      if (orderKey === topKey || missing.has(postId) || shown.has(postId) || stretch.ids.has(upstreamId)) continue;
      if (isCandidate(postId)) missing.set(postId, post);
      else if (others < limit && isDue(post)) {
        missing.set(postId, post);
        others += 1;
      }
    }
    const lowest = expected.at(-1)?.orderKey;
    // Posts of one place are not told apart: more of them than are looked at together end it.
    isWhole = expected.length < LOOKED_AT || lowest === upTo;
    upTo = lowest;
  }
  return [...missing.values()];
}

/** The posts that a stretch shows, themselves or inside a repost: snac lists a boost in the place of its original. */
export function shownIn({ reads }: Stretch): ReadonlySet<PostId> {
  return new Set(reads.flatMap(({ post }) => (post.repostOf ? [post.id, post.repostOf.id] : [post.id])));
}
