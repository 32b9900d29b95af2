import type { Resolvers } from '../generated/graphql.ts';
import { dateTimeScalar } from './date-time.ts';
import { FeedInstance, ForYouItem, ForYouPage, forYou, NextPage, refreshForYou } from './for-you.ts';
import { nextIds } from './next-ids.ts';
import { Node, node } from './node.ts';
import { Poll, Post, post, posts } from './post.ts';
import { Problem } from './problem.ts';
import { Snowflake, snowflake } from './snowflake.ts';
import { Lateness, RateLimit, Source, sources } from './source.ts';
import { TimelineEntry, TimelineGap, TimelinePage, timeline } from './timeline.ts';
import { Viewer, viewer } from './viewer.ts';

/** The registry of all resolvers; a field that is not here is read from the domain's value by its name. */
export const resolvers: Resolvers = {
  DateTime: dateTimeScalar,
  FeedInstance,
  ForYouItem,
  ForYouPage,
  Lateness,
  Mutation: { nextIds, refreshForYou },
  NextPage,
  Node,
  Poll,
  Post,
  Problem,
  Query: { forYou, node, post, posts, snowflake, sources, timeline, viewer },
  RateLimit,
  Snowflake,
  Source,
  TimelineEntry,
  TimelineGap,
  TimelinePage,
  Viewer,
};
