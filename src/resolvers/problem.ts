import type { ProblemResolvers } from '../generated/graphql.ts';
import { dateTimeOrNull } from './date-time.ts';

export const Problem: ProblemResolvers = {
  source: ({ sourceKey }, _args, { readable }) => readable.find((source) => source.key === sourceKey),
  retryAt: ({ retryAtMs }) => dateTimeOrNull(retryAtMs),
  // A message may quote the address that was asked: nobody learns that of a source which is not theirs.
  message: ({ code, message, sourceKey }, _args, { readable }) =>
    sourceKey === undefined || readable.some((source) => source.key === sourceKey)
      ? message
      : `an upstream failed: ${code}`,
};
