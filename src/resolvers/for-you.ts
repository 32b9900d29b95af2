import type { GraphQLContext } from '../context.ts';
import type {
  FeedInstanceResolvers,
  ForYouItemResolvers,
  ForYouPageResolvers,
  MutationResolvers,
  NextPageResolvers,
  QueryResolvers,
} from '../generated/graphql.ts';
import { formatNodeId } from '../ids/node-id.ts';
import type { FeedCursor } from '../ids/tokens.ts';
import { checkLimit, requireUser } from './arguments.ts';
import { dateTime } from './date-time.ts';

const LIMITS = { fallback: 20, max: 100 };

/** @throws UnauthenticatedError, BadUserInputError, BadCursorError, StoreUnavailableError, RecommenderUnavailableError */
export const forYou: NonNullable<QueryResolvers['forYou']> = async (_root, args, context) => {
  const userId = requireUser(context);
  const limit = checkLimit(args.limit, LIMITS);
  const cursor = args.cursor == null ? undefined : context.tokens.openFeedCursor(userId, args.cursor);
  await context.pageTurn();
  return context.forYou.page({
    userId,
    limit,
    ...(cursor && { cursor }),
    candidates: () => context.candidates(context.viewer),
    hydrate: context.posts.hydrate,
    readAhead: context.posts.readAhead,
  });
};

/** @throws as `forYou` */
export const refreshForYou: NonNullable<MutationResolvers['refreshForYou']> = async (_root, args, context) => {
  const userId = requireUser(context);
  const limit = checkLimit(args.limit, LIMITS);
  await context.pageTurn();
  return context.forYou.refresh({
    userId,
    limit,
    candidates: () => context.candidates(context.viewer),
    hydrate: context.posts.hydrate,
    readAhead: context.posts.readAhead,
  });
};

export const ForYouPage: ForYouPageResolvers = {
  nextPage: ({ next }) => next,
};

export const NextPage: NextPageResolvers = {
  cursor: (cursor, _args, context) => seal(cursor, context),
};

export const ForYouItem: ForYouItemResolvers = {
  cursor: ({ cursor }, _args, context) => seal(cursor, context),
};

export const FeedInstance: FeedInstanceResolvers = {
  id: ({ feedId }) => formatNodeId({ type: 'feed', feedId }),
  generatedAt: ({ generatedAtMs }) => dateTime(generatedAtMs),
};

function seal(cursor: FeedCursor, context: GraphQLContext): string {
  return context.sealedOnce(cursor, () => context.tokens.sealFeedCursor(requireUser(context), cursor));
}
