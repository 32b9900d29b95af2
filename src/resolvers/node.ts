import type { GraphQLContext } from '../context.ts';
import type { NodeResolvers, QueryResolvers, ResolversTypes } from '../generated/graphql.ts';
import { parseNodeId } from '../ids/node-id.ts';
import type { InstanceHeader } from '../stores/feed-store.ts';
import type { TimelineGap } from './models.ts';

type NodeTypeName = 'Author' | 'FeedInstance' | 'Post' | 'Source' | 'TimelineGap' | 'Viewer';
type NodeValue = Exclude<Awaited<ResolversTypes['Node']>, undefined>;

/** Null for all that this viewer may not see, as for what does not exist. */
export const node: NonNullable<QueryResolvers['node']> = async (_root, { id }, context) => {
  const ref = parseNodeId(id);
  const { posts, readable, viewer } = context;
  switch (ref?.type) {
    case 'post':
      return posts.load(ref.id);
    case 'source':
      return readable.find((source) => source.key === ref.key);
    case 'viewer':
      return viewer.userId === ref.userId ? { userId: ref.userId } : null;
    case 'gap':
      return findGap(ref.gapId, context);
    case 'feed':
      return findFeed(ref.feedId, context);
    default:
      return null;
  }
};

/** The domain's values carry no type name: each has a field that the others have not. */
export const Node: NodeResolvers = {
  __resolveType: (value: NodeValue): NodeTypeName => {
    if ('gap' in value) return 'TimelineGap';
    if ('feedId' in value) return 'FeedInstance';
    if ('logId' in value) return 'Source';
    if ('idScheme' in value) return 'Post';
    if ('handle' in value) return 'Author';
    return 'Viewer';
  },
};

async function findGap(gapId: string, { readable, viewSource }: GraphQLContext): Promise<TimelineGap | null> {
  for (const source of readable) {
    const gap = (await viewSource(source)).log?.gaps.find(({ id }) => id === gapId);
    if (gap) return { gap, source };
  }
  return null;
}

/** A live instance of this viewer, the current one or not. To look at it does not lengthen its life. */
async function findFeed(feedId: string, { clock, store, viewer }: GraphQLContext): Promise<InstanceHeader | undefined> {
  const { userId: viewerId } = viewer;
  if (viewerId === undefined) return undefined;
  return store.feeds.cut({ viewerId, feedId, offset: 0, count: 0, nowMs: clock.now(), ttlMs: 0 });
}
