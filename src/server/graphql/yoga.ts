import { readFileSync } from 'node:fs';
import { createSchema, createYoga, type MaskError } from 'graphql-yoga';
import type { GraphQLContext } from '../../context.ts';
import { resolvers } from '../../resolvers/resolvers.ts';
import type { AnswerSize } from './answer-size.ts';
import { countAnswers } from './answer-size.ts';
import { useCostLimit } from './cost.ts';
import { useDocuments } from './documents.ts';
import { useStrictUrl } from './params.ts';

/** What the execution of one request is handed. */
export type YogaContext = GraphQLContext & { readonly answerSize: AnswerSize };

/** The schema with its resolvers, and all that an operation passes on its way to them. */
export function createGraphql(deps: {
  maskError: MaskError;
  /** How many sources there are. */
  sources: number;
  /** @see turns.ts */
  turn: () => Promise<void> | undefined;
}) {
  const { maskError, sources, turn } = deps;
  const typeDefs = readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8');
  const schema = countAnswers(createSchema<GraphQLContext>({ typeDefs, resolvers }));
  return createYoga<YogaContext>({
    schema,
    plugins: [useStrictUrl(), useDocuments(), useCostLimit(schema, sources), { onExecute: () => turn() }],
    maskedErrors: { maskError },
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
