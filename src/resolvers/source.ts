import type { LatenessResolvers, QueryResolvers, RateLimitResolvers, SourceResolvers } from '../generated/graphql.ts';
import { formatNodeId } from '../ids/node-id.ts';
import type { LogCounts } from '../stores/timeline-store.ts';
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
  lateness: async (source, _args, { viewSource }) => (await viewSource(source)).log?.latenessMs ?? [],
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
  samples: (samples) => samples.length,
  p50Ms: (samples) => percentile(samples, 0.5),
  p99Ms: (samples) => percentile(samples, 0.99),
  maxMs: (samples) => percentile(samples, 1),
};

export const RateLimit: RateLimitResolvers = {
  limit: ({ limit }) => int(limit),
  remaining: ({ remaining }) => int(remaining),
  resetAt: ({ resetAtMs }) => dateTime(resetAtMs),
};

/** Nearest rank: the smallest sample that at least this share of them do not exceed. */
function percentile(samples: readonly number[], share: number): number | null {
  const sorted = samples.toSorted((a, b) => a - b);
  const value = sorted[Math.ceil(sorted.length * share) - 1];
  return value === undefined ? null : int(value);
}

/** Headers and clocks may say anything: the nearest whole number that GraphQL's Int holds. */
function int(value: number): number {
  return Number.isNaN(value) ? 0 : Math.round(Math.min(Math.max(value, -MAX_INT), MAX_INT));
}
