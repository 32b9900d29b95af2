import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';

/** The last ms that RFC 3339 can write. */
export const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
/** 0001-01-01: years before have no form that all clients read. */
const EARLIEST_MS = -62_135_596_800_000;

/**
 * UTC with exactly three decimals, `2026-11-20T21:52:00.123Z`. Unix ms outside the years 1 to 9999, which only a
 * hostile upstream sends, become the nearest that can be written.
 */
export function dateTime(ms: number): string {
  return new Date(Math.min(Math.max(ms, EARLIEST_MS), LATEST_MS)).toISOString();
}

/** As `dateTime`; null for what is absent or no number at all. */
export function dateTimeOrNull(ms: number | undefined): string | null {
  return ms === undefined || Number.isNaN(ms) ? null : dateTime(ms);
}

const WRITTEN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Takes Unix ms, a Date, or its own form. @see https://scalars.graphql.org/andimarek/date-time.html */
export const dateTimeScalar = new GraphQLScalarType<string, string>({
  name: 'DateTime',
  specifiedByURL: 'https://scalars.graphql.org/andimarek/date-time.html',
  // What `dateTime` wrote is not read again.
  serialize: (value) => (typeof value === 'string' && WRITTEN.test(value) ? value : toDateTime(value)),
  parseValue: toDateTime,
  parseLiteral: (node) => toDateTime(node.kind === Kind.STRING ? node.value : undefined),
});

function toDateTime(value: unknown): string {
  const ms = typeof value === 'string' ? Date.parse(value) : value instanceof Date ? value.getTime() : value;
  if (typeof ms === 'number' && !Number.isNaN(ms)) return dateTime(ms);
  throw new GraphQLError('DateTime must be a point in time in UTC, such as 2026-11-20T21:52:00.123Z');
}
