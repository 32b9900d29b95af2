import type { ProblemResolvers } from '../generated/graphql.ts';
import { wordsOf } from './client-words.ts';
import { dateTimeOrNull } from './date-time.ts';

/** Codes that are not about a source, wherever they were met. */
const OF_THE_GATEWAY: readonly string[] = ['STORE_UNAVAILABLE', 'RECOMMENDER_UNAVAILABLE'];

export const Problem: ProblemResolvers = {
  source: ({ sourceKey }, _args, { readable }) => readable.find((source) => source.key === sourceKey),
  retryAt: ({ retryAtMs }) => dateTimeOrNull(retryAtMs),
  // A source's own message names the address that was asked: nobody learns that of a source which is not theirs.
  message: (problem, _args, { readable, clientWords }) => {
    if (OF_THE_GATEWAY.includes(problem.code)) return clientWords(problem);
    return readable.some(({ key }) => key === problem.sourceKey) ? problem.message : wordsOf(problem.code);
  },
};
