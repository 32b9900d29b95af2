import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  type OperationDefinitionNode,
  type VariableValues,
} from 'graphql';
import { addError, type CollectedErrors, executeRoot, type Run } from './execute.ts';
import { createPlan, decidingVariables, type Plan } from './plan.ts';

/** What is asked for: a valid document, and what came with it. */
export interface Asked {
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
}

/** Executes one operation for one context. */
export type Execute = (context: unknown) => ExecutionResult | Promise<ExecutionResult>;

/** Of a document. With each answer to its `@include` and `@skip` another plan. */
const MAX_PLANS = 16;

/**
 * Returns the function that finds an operation's plan, made at the first call and kept as long as its document, and checks
 * its variables. Undefined where the request itself is wrong, which graphql-js tells, and for subscriptions.
 * An answer is that of graphql-js, as a test of generated queries says. Left out is what the schema does not have: `isTypeOf`,
 * async iterables, `@defer` and `@stream`; resolvers are not handed `info.path` and `info.variableValues`.
 * `charge` is handed each value that a resolver returned, and returns what takes its place.
 */
export function createExecutor(
  schema: GraphQLSchema,
  charge: Run['charge'] = (value) => value,
): (asked: Asked) => Execute | undefined {
  const plans = new WeakMap<DocumentNode, Map<string, Plan>>();
  const deciding = new WeakMap<DocumentNode, readonly string[]>();

  function planOf(document: DocumentNode, operation: OperationDefinitionNode, { coerced }: VariableValues): Plan {
    const names = deciding.get(document) ?? decidingVariables(document);
    deciding.set(document, names);
    const known = plans.get(document) ?? new Map<string, Plan>();
    plans.set(document, known);
    const key = `${operation.name?.value ?? ''} ${JSON.stringify(names.map((name) => coerced[name] ?? null))}`;
    const plan = known.get(key);
    if (plan) return plan;
    if (known.size >= MAX_PLANS) known.clear();
    const made = createPlan(schema, document, operation);
    known.set(key, made);
    return made;
  }

  return (asked) => {
    const operation = getOperationAST(asked.document, asked.operationName);
    const type = operation && schema.getRootType(operation.operation);
    if (!type || operation.operation === 'subscription') return undefined;
    const { variableValues } = getVariableValues(schema, operation.variableDefinitions ?? [], asked.variables ?? {});
    if (!variableValues) return undefined;
    const plan = planOf(asked.document, operation, variableValues);

    return (context) => {
      const errors: CollectedErrors = { list: [], nulled: new Set() };
      const answer = (data: ExecutionResult['data'] | null): ExecutionResult =>
        errors.list.length > 0 ? { errors: errors.list, data: data ?? null } : { data: data ?? null };
      const failed = (error: unknown) => {
        const root =
          error instanceof GraphQLError ? error : new GraphQLError(String(error), { originalError: error as Error });
        addError(errors, root, undefined);
        return answer(null);
      };
      try {
        const run = { plan, variables: variableValues, context, errors, charge };
        const data = executeRoot(run, type, operation.operation === 'mutation');
        return data instanceof Promise ? data.then(answer, failed) : answer(data);
      } catch (error) {
        return failed(error);
      }
    };
  };
}
