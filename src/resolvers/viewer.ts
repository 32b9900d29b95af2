import type { QueryResolvers, ViewerResolvers } from '../generated/graphql.ts';
import { formatNodeId } from '../ids/node-id.ts';

/** Who asks; null when nobody is signed in. */
export const viewer: NonNullable<QueryResolvers['viewer']> = (_root, _args, context) => {
  const { userId } = context.viewer;
  return userId === undefined ? null : { userId };
};

export const Viewer: ViewerResolvers = {
  id: ({ userId }) => formatNodeId({ type: 'viewer', userId }),
};
