import type { CodegenConfig } from '@graphql-codegen/cli';

/** What resolvers take and give for each type: our own domain types, so that nothing is shaped twice. */
const mappers = {
  Author: '../post.ts#Author',
  Card: '../post.ts#Card',
  Emoji: '../post.ts#Emoji',
  FeedInstance: '../stores/feed-store.ts#InstanceHeader',
  ForYouItem: '../resolvers/models.ts#ForYouItem',
  ForYouPage: '../feed/for-you.ts#ForYouView',
  Lateness: '../resolvers/models.ts#Lateness',
  Media: '../post.ts#Media',
  Mention: '../post.ts#Mention',
  NextPage: '../ids/tokens.ts#FeedCursor',
  Poll: '../post.ts#Poll',
  Post: '../post.ts#Post',
  PostCounts: '../post.ts#PostCounts',
  Problem: '../errors.ts#Problem',
  RateLimit: '../upstreams/upstream.ts#RateLimit',
  Reason: '../recommenders/recommender.ts#Reason',
  Snowflake: '../resolvers/models.ts#SnowflakeValue',
  Source: '../source.ts#Source',
  SourceCounts: '../stores/timeline-store.ts#LogCounts',
  TimelineEntry: '../resolvers/models.ts#TimelineEntry',
  TimelineGap: '../resolvers/models.ts#TimelineGap',
  TimelinePage: '../timeline/reader/read.ts#TimelineView',
  Viewer: '../resolvers/models.ts#SignedIn',
};

const config: CodegenConfig = {
  schema: 'schema.graphql',
  importExtension: '.ts',
  emitLegacyCommonJSImports: false,
  generates: {
    'src/generated/graphql.ts': {
      plugins: ['typescript', 'typescript-resolvers'],
      config: {
        contextType: '../context.ts#GraphQLContext',
        enumsAsTypes: true,
        immutableTypes: true,
        inputMaybeValue: 'T | null | undefined',
        mapperTypeSuffix: 'Model',
        mappers,
        maybeValue: 'T | null | undefined',
        scalars: { DateTime: 'string', ID: 'string' },
        strictScalars: true,
        useTypeImports: true,
      },
    },
  },
};

export default config;
