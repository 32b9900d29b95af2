import type { LatenessResolvers, QueryResolvers, RateLimitResolvers, SourceResolvers } from '../generated/graphql.ts';
import { formatNodeId } from '../ids/node-id.ts';
import type { LogCounts } from '../stores/timeline-store.ts';
import { NO_LATENESS, percentileMs } from '../timeline/poll/lateness.ts';
import { dateTime, dateTimeOrNull } from './date-time.ts';

const MAX_INT = 2 ** 31 - 1;
const nothingCounted: LogCounts = {
  posts: 0,
  requests: 0,
  duplicatesDropped: 0,
  leaksPrevented: 0,
  backfilled: 0,
  gaps: 0,
};

export const sources: NonNullable<QueryResolvers['sources']> = (_root, _args, { readable }) => readable;

export const Source: SourceResolvers = {
  id: ({ key }) => formatNodeId({ type: 'source', key }),
  software: async (source, _args, { viewSource }) => (await viewSource(source)).status?.software,
  state: async (source, _args, { viewSource }) => (await viewSource(source)).status?.state ?? 'STARTING',
  lastPolledAt: async (source, _args, { viewSource }) =>
    dateTimeOrNull((await viewSource(source)).status?.lastPolledAtMs),
  nextPollAt: async (source, _args, { viewSource }) => dateTimeOrNull((await viewSource(source)).status?.nextPollAtMs),
  overlapMs: async (source, _args, { viewSource }) =>
    int((await viewSource(source)).status?.overlapMs ?? source.polling.overlapMs),
  lateness: async (source, _args, { viewSource }) => (await viewSource(source)).log?.lateness ?? NO_LATENESS,
  rateLimit: async (source, _args, { viewSource }) => (await viewSource(source)).status?.rateLimit,
  counts: async (source, _args, { viewSource }) => {
    const { log, status } = await viewSource(source);
    const counts = log?.counts ?? nothingCounted;
    const { requests = 0, duplicatesDropped = 0 } = status?.uncommitted ?? {};
    return {
      ...counts,
      requests: counts.requests + requests,
      duplicatesDropped: counts.duplicatesDropped + duplicatesDropped,
    };
  },
};

export const Lateness: LatenessResolvers = {
  samples: ({ samples }) => int(samples),
  p50Ms: (lateness) => intOrNull(percentileMs(lateness, 0.5)),
  p99Ms: (lateness) => intOrNull(percentileMs(lateness, 0.99)),
  maxMs: ({ samples, maxMs }) => (samples === 0 ? null : int(maxMs)),
};

export const RateLimit: RateLimitResolvers = {
  limit: ({ limit }) => int(limit),
  remaining: ({ remaining }) => int(remaining),
  resetAt: ({ resetAtMs }) => dateTime(resetAtMs),
};

function intOrNull(value: number | undefined): number | null {
  return value === undefined ? null : int(value);
}

/** Headers and clocks may say anything: the nearest whole number that GraphQL's Int holds. */
function int(value: number): number {
  return Number.isNaN(value) ? 0 : Math.round(Math.min(Math.max(value, -MAX_INT), MAX_INT));
}
