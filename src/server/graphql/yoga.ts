import { readFileSync } from 'node:fs';
import { createSchema, createYoga } from 'graphql-yoga';
import type { Clock } from '../../clock.ts';
import type { GraphQLContext } from '../../context.ts';
import { resolvers } from '../../resolvers/resolvers.ts';
import type { AnswerSize } from './answer-size.ts';
import { countAnswers } from './answer-size.ts';
import { useCostLimit } from './cost.ts';
import { useDocuments } from './documents.ts';
import { createErrorMask } from './errors.ts';
import { useStrictUrl } from './params.ts';

/** What the execution of one request is handed. */
export type YogaContext = GraphQLContext & { readonly answerSize: AnswerSize };

/** The schema with its resolvers, and all that an operation passes on its way to them. */
export function createGraphql(deps: {
  clock: Clock;
  log: (line: string) => void;
  /** How many sources there are. */
  sources: number;
  /** @see turns.ts */
  turn: () => Promise<void> | undefined;
}) {
  const { clock, log, sources, turn } = deps;
  const typeDefs = readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8');
  const schema = countAnswers(createSchema<GraphQLContext>({ typeDefs, resolvers }));
  return createYoga<YogaContext>({
    schema,
    plugins: [useStrictUrl(), useDocuments(), useCostLimit(schema, sources), { onExecute: () => turn() }],
    maskedErrors: { maskError: createErrorMask({ clock, log }) },
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
