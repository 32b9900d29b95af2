import type { IdScheme } from '../ids/id-scheme.ts';
import type { LogState, TimelineStore } from '../stores/timeline-store.ts';
import type { UpstreamPage } from '../upstreams/upstream.ts';
import type { Target } from './overlap.ts';
import { pageFloor } from './page-floor.ts';
import type { Depth } from './walk.ts';

/**
 * How deep a page reached. Where ids have an order, by its lowest id; opaque ids by the target itself, or by the lowest post
 * that the log knows already: what was first seen before the target lies below it.
 */
export async function depthOf(
  page: Pick<UpstreamPage, 'ids' | 'posts'>,
  query: {
    target: Target;
    enoughKey?: string | undefined;
    state: LogState;
    scheme: IdScheme;
    timelines: TimelineStore;
    logId: string;
  },
): Promise<Depth> {
  const { target, enoughKey, state, scheme } = query;
  if (scheme.name === 'opaque') return opaqueDepth(page, query);
  const floor = pageFloor(page.ids, scheme);
  // No id has the scheme's form: the server has become another one.
  if (floor === undefined) return page.posts.length > 0 && (await isAllKnown(page, query)) ? 'target' : 'new';
  const key = scheme.orderKey(floor);
  if (key <= (target.orderKey ?? '') || key <= (enoughKey ?? '')) return 'target';
  return state.watermark !== undefined && key <= state.watermark.orderKey ? 'overlap' : 'new';
}

async function isAllKnown(
  { posts }: Pick<UpstreamPage, 'posts'>,
  { timelines, logId }: { timelines: TimelineStore; logId: string },
): Promise<boolean> {
  const known = await timelines.known(
    logId,
    posts.map(({ id }) => id),
  );
  return posts.every(({ id }) => known.has(id));
}

async function opaqueDepth(
  { ids, posts }: Pick<UpstreamPage, 'ids' | 'posts'>,
  query: { target: Target; timelines: TimelineStore; logId: string },
): Promise<Depth> {
  const { target, timelines, logId } = query;
  const isTarget = posts.some(({ id, upstreamId }) => id === target.postId || upstreamId === target.upstreamId);
  if (isTarget || ids.some((id) => id === target.upstreamId)) return 'target';
  const postIds = posts.map((post) => post.id);
  const known = await timelines.known(logId, postIds);
  const lowest = postIds.findLast((id) => known.has(id));
  const key = lowest === undefined ? undefined : known.get(lowest)?.orderKey;
  if (key === undefined) return 'new';
  return target.orderKey !== undefined && key <= target.orderKey ? 'target' : 'overlap';
}
