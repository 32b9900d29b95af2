import type { DocumentNode, GraphQLError } from 'graphql';
import type { Share } from '../load.ts';
import type { Asked, Execute } from './compiled/executor.ts';
import { MAX_COST } from './cost.ts';
import type { Documents } from './documents.ts';

/** A request that passed its checks: what it runs, and its cost is yet to be taken. */
export type KnownRequest = (context: { readonly share: Share }) => Promise<string>;

/**
 * Returns the function that reads a POST's body and finds what it asks for, where its document is known to be valid and
 * nothing is wrong with the rest: undefined for all others, which Yoga tells. So this one only ever executes, by the same
 * plans and after the same checks, and what it resolves with is sent with status 200.
 */
export function createKnown(deps: {
  documents: Pick<Documents, 'find'>;
  find: (asked: Asked) => Execute | undefined;
  costOf: (document: DocumentNode, asked: Asked) => number;
  admit: (asked: Asked, context: { readonly share: Share }) => Promise<boolean>;
  maskError: (error: unknown) => GraphQLError;
}): (body: string) => KnownRequest | undefined {
  const { documents, find, costOf, admit, maskError } = deps;
  function isAffordable(asked: Asked): boolean {
    try {
      return costOf(asked.document, asked) <= MAX_COST;
    } catch {
      // The argument of a directive is wrong.
      return false;
    }
  }

  return (body) => {
    const params = parse(body);
    const document = params && documents.find(params.query);
    if (!document) return undefined;
    const asked = { document, operationName: params.operationName, variables: params.variables };
    const execute = find(asked);
    if (!execute || !isAffordable(asked)) return undefined;
    return async (context) => {
      if (!(await admit(asked, context))) return '';
      const { data, errors } = await execute(context);
      return JSON.stringify(errors ? { data, errors: errors.map((error) => sent(maskError(error))) } : { data });
    };
  };
}

/** Without what is for Yoga alone. */
function sent(error: GraphQLError) {
  const { extensions, ...rest } = error.toJSON();
  const { http: _, ...told } = extensions ?? {};
  return { ...rest, extensions: told };
}

interface Params {
  readonly query: string;
  readonly operationName?: string | null;
  readonly variables?: Readonly<Record<string, unknown>> | null;
}

const NAMES = new Set(['query', 'operationName', 'variables', 'extensions']);

/** The members of a body that holds nothing else, all of the right type. @see https://graphql.github.io/graphql-over-http/ */
function parse(body: string): Params | undefined {
  let params: unknown;
  try {
    params = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (!isObject(params) || !Object.keys(params).every((name) => NAMES.has(name))) return undefined;
  const { query, operationName, variables, extensions } = params;
  const isFit =
    typeof query === 'string' &&
    (operationName == null || typeof operationName === 'string') &&
    (variables == null || isObject(variables)) &&
    (extensions == null || isObject(extensions));
  return isFit ? (params as unknown as Params) : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
