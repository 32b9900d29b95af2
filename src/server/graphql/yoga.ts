import { readFileSync } from 'node:fs';
import { createSchema, createYoga } from 'graphql-yoga';
import type { Clock } from '../../clock.ts';
import type { GraphQLContext } from '../../context.ts';
import type { ClientWords } from '../../resolvers/client-words.ts';
import { resolvers } from '../../resolvers/resolvers.ts';
import type { Share } from '../load.ts';
import { type AnswerSize, countAnswers } from './answer-size.ts';
import { useCostLimit } from './cost.ts';
import { useDocuments } from './documents.ts';
import { createErrorMask } from './errors.ts';
import { useStrictUrl } from './params.ts';

/** What the execution of one request is handed. */
export type YogaContext = GraphQLContext & { readonly answerSize: AnswerSize; readonly share: Share };

export interface GraphqlDeps {
  readonly clock: Clock;
  readonly clientWords: ClientWords;
  readonly log: (line: string) => void;
  /** How many sources there are. */
  readonly sourceCount: number;
  /** @see turns.ts */
  readonly turn: () => Promise<void> | undefined;
}

/** The schema with its resolvers, and all that an operation passes on its way to them. */
export function createGraphql(deps: GraphqlDeps) {
  const { sourceCount, turn } = deps;
  const typeDefs = readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8');
  const schema = countAnswers(createSchema<GraphQLContext>({ typeDefs, resolvers }));
  return createYoga<YogaContext>({
    schema,
    plugins: [useStrictUrl(), useDocuments(), useCostLimit(schema, sourceCount), { onExecute: () => turn() }],
    maskedErrors: { maskError: createErrorMask(deps) },
    // A URL cannot hold a space: Yoga would take any query string that ends in its path for a health check.
    healthCheckEndpoint: ' ',
    parserAndValidationCache: false,
    maxRequestBodySize: false,
    batching: false,
    multipart: false,
    cors: false,
    graphiql: false,
    landingPage: false,
    logging: false,
  });
}
