import { readFileSync } from 'node:fs';
import { createSchema, createYoga, type Plugin } from 'graphql-yoga';
import type { Clock } from '../../clock.ts';
import type { GraphQLContext } from '../../context.ts';
import type { ClientWords } from '../../resolvers/client-words.ts';
import { resolvers } from '../../resolvers/resolvers.ts';
import type { Share } from '../load.ts';
import { type AnswerSize, chargeAnswer } from './answer-size.ts';
import { type Asked, createExecutor, type Execute } from './compiled/executor.ts';
import { checkCost, createCost } from './cost.ts';
import { createDocuments } from './documents.ts';
import { createErrorMask } from './errors.ts';
import { createKnown } from './known.ts';
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
  const schema = createSchema<YogaContext>({ typeDefs, resolvers });
  const documents = createDocuments();
  const find = createExecutor(schema, chargeAnswer);
  const costOf = createCost(schema, sourceCount);
  const maskError = createErrorMask(deps);

  /** What every operation passes before it is executed. False: it is too much beside those under way, as `share` says, too. */
  async function admit(asked: Asked, { share }: Pick<YogaContext, 'share'>): Promise<boolean> {
    const cost = costOf(asked.document, asked);
    checkCost(cost);
    if (!share.take(cost)) return false;
    await turn();
    return true;
  }

  const useCompiled: Plugin<YogaContext> = {
    async onExecute({ args, context, setExecuteFn, setResultAndStopExecution }) {
      const asked = { document: args.document, operationName: args.operationName, variables: args.variableValues };
      if (!(await admit(asked, context))) return setResultAndStopExecution({ data: null });
      // What the request itself has wrong Yoga's own execution tells.
      const execute: Execute | undefined = find(asked);
      if (execute) setExecuteFn(({ contextValue }) => execute(contextValue));
    },
  };
  const yoga = createYoga<YogaContext>({
    schema,
    plugins: [useStrictUrl(), documents.plugin, useCompiled],
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
  return { yoga, known: createKnown({ documents, find, costOf, admit, maskError }) };
}
