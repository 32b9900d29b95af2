import { BadUserInputError } from '../errors.ts';
import type { PollResolvers, PostResolvers, QueryResolvers, SnowflakeLayout } from '../generated/graphql.ts';
import { idScheme as idSchemeOf } from '../ids/id-scheme.ts';
import { parsePostId } from '../ids/post-id.ts';
import type { IdSchemeName, Post as PostModel } from '../post.ts';
import { dateTime, dateTimeOrNull } from './date-time.ts';
import { snowflakeOf } from './snowflake.ts';

const MAX_POSTS = 100;
const layouts: Partial<Record<IdSchemeName, SnowflakeLayout>> = { twitter: 'TWITTER', mastodon: 'MASTODON' };

export const post: NonNullable<QueryResolvers['post']> = (_root, { id }, { posts }) =>
  parsePostId(id) ? posts.load(id) : null;

/** All ids go into one batch; each answers, or fails, by itself. @throws BadUserInputError */
export const posts: NonNullable<QueryResolvers['posts']> = (_root, { ids }, context) => {
  if (ids.length < 1 || ids.length > MAX_POSTS) {
    throw new BadUserInputError('ids', `ids must be 1 to ${MAX_POSTS} ids, got ${ids.length}`);
  }
  const loads = ids.map((id) => (parsePostId(id) ? context.posts.load(id) : null));
  // The generated type knows a promise of a post, and null, but no promise of either.
  return loads as readonly (Promise<PostModel> | null)[];
};

export const Post: PostResolvers = {
  // Where the network has no name for it, the post's own id stands in inside.
  uri: ({ id, uri }) => (uri === id ? null : uri),
  createdAt: ({ createdAtMs }) => dateTime(createdAtMs),
  editedAt: ({ editedAtMs }) => dateTimeOrNull(editedAtMs),
  snowflake: ({ idScheme, upstreamId }) => {
    const layout = layouts[idScheme];
    // Ids from before the network had Snowflakes are plain numbers, and have no time.
    const isSnowflake = idSchemeOf(idScheme).timeMs(upstreamId) !== undefined;
    return layout && isSnowflake ? snowflakeOf(upstreamId, layout) : undefined;
  },
};

export const Poll: PollResolvers = {
  endsAt: ({ endsAtMs }) => dateTimeOrNull(endsAtMs),
};
