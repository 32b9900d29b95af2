import type { GraphQLContext } from '../context.ts';
import { BadUserInputError } from '../errors.ts';
import type {
  QueryResolvers,
  TimelineEntryResolvers,
  TimelineGapResolvers,
  TimelinePageResolvers,
} from '../generated/graphql.ts';
import { formatNodeId } from '../ids/node-id.ts';
import type { TimelineToken } from '../ids/tokens.ts';
import type { TimelineView } from '../timeline/reader/read.ts';
import { checkLimit, chooseSources } from './arguments.ts';
import { dateTime, dateTimeOrNull } from './date-time.ts';

const LIMITS = { fallback: 40, max: 200 };
const nothingToRead: TimelineView = { entries: [], edited: [], removed: [], hasNewer: false, gaps: [], problems: [] };

/** @throws BadUserInputError, BadCursorError, StoreUnavailableError */
export const timeline: NonNullable<QueryResolvers['timeline']> = async (_root, args, context) => {
  const limit = checkLimit(args.limit, LIMITS);
  if (args.since != null && args.until != null) {
    throw new BadUserInputError('until', 'until must not be given together with since');
  }
  const { tokens, viewer, readable } = context;
  const sources = chooseSources(readable, args.sources);
  const since = args.since == null ? undefined : tokens.openTimeline(['since', 'entry'], args.since, viewer.userId);
  const until = args.until == null ? undefined : tokens.openTimeline(['until', 'entry'], args.until, viewer.userId);
  if (sources.length === 0) return nothingToRead;
  await context.pageTurn();
  const view = await context.timeline.read({
    sources,
    configured: readable,
    ...(since && { since }),
    ...(until && { until }),
    limit,
  });
  return withoutHidden(view, context);
};

export const TimelinePage: TimelinePageResolvers = {
  since: ({ since }, _args, context) => since && seal('since', since, context),
  until: ({ until }, _args, context) => until && seal('until', until, context),
  askAgainAt: ({ askAgainAtMs }) => dateTimeOrNull(askAgainAtMs),
};

export const TimelineEntry: TimelineEntryResolvers = {
  id: ({ source, record }) => formatNodeId({ type: 'entry', sourceKey: source.key, postId: record.postId }),
  cursor: ({ token }, _args, context) => seal('entry', token, context),
  sortAt: ({ record }) => dateTime(record.sortAtMs),
  arrivedAt: ({ record }) => dateTime(record.arrivedAtMs),
  late: ({ record }) => record.late,
};

export const TimelineGap: TimelineGapResolvers = {
  id: ({ gap }) => formatNodeId({ type: 'gap', gapId: gap.id }),
  from: ({ gap }) => dateTimeOrNull(gap.fromMs),
  to: ({ gap }) => dateTimeOrNull(gap.toMs),
  reason: ({ gap }) => gap.reason,
  final: ({ gap }) => gap.final,
};

/** The page without what the viewer may not see inside its posts. */
async function withoutHidden(view: TimelineView, context: GraphQLContext): Promise<TimelineView> {
  const present = await context.present([...view.entries.map(({ post }) => post), ...view.edited]);
  return {
    ...view,
    entries: view.entries.flatMap((entry) => {
      const { record, source } = entry;
      const post = present(entry.post);
      if (!post) return [];
      if (post === entry.post) return [entry];
      // A copy of `token` would be made now, for every entry.
      return [
        {
          record,
          source,
          post,
          get token() {
            return entry.token;
          },
        },
      ];
    }),
    edited: view.edited.flatMap((post) => present(post) ?? []),
  };
}

/** Bound to the viewer as soon as one of the token's sources is not for anyone. */
function seal(purpose: 'since' | 'until' | 'entry', token: TimelineToken, context: GraphQLContext): string {
  return context.sealedOnce(token, () => {
    const forAnyone = token.sources.every(({ tag }) => context.openLogTags.has(tag));
    return context.tokens.sealTimeline(purpose, token, forAnyone ? undefined : context.viewer.userId);
  });
}
