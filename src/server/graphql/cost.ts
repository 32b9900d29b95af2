import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNullableType,
  getOperationAST,
  getVariableValues,
  isListType,
  parse,
  TypeInfo,
  ValidationContext,
  visit,
} from 'graphql';
import { type ComplexityEstimator, createComplexityRule } from 'graphql-query-complexity';

/** What one operation may cost: the fields that it selects times the items of the lists that they are in. */
export const MAX_COST = 50_000;

/** A record that a page reads costs as much as so many fields, whether or not it is selected. */
const READ_COST = 50;
/** A cursor or token is encoded and signed. */
const TOKEN_COST = 20;
/** What `limit: null` stands for, or more. */
const PAGE_SIZE = 40;
/** Items of a list whose length no argument says, such as the pictures of a post: more than most have. */
const LIST_SIZE = 8;
/** Past the limit of every page: what is larger a resolver refuses, and says why. */
const MAX_SIZE = 300;
/** More sources than that are not told apart: who has so many may ask for all their figures. */
const MAX_SOURCES = 2_000;

/** Refuses operations that cost more than MAX_COST before anything is resolved, with the figure in the error. */
export function checkCost(cost: number): void {
  if (cost > MAX_COST) throw tooDear(cost);
}

/** Of a request: what goes with its document. */
export interface Asked {
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  readonly operationName?: string | null | undefined;
}

/**
 * Returns what an operation of a valid document costs: each field 1, and inside a list that many times more as the list has
 * items. An introspection as tools send it costs half of MAX_COST. `sources`: how many there are. 0 for variables that the
 * execution refuses.
 */
export function createCost(schema: GraphQLSchema, sources: number): (document: DocumentNode, asked?: Asked) => number {
  const sourceCount = Math.min(Math.max(sources, 1), MAX_SOURCES);
  const costOfSources: ComplexityEstimator = ({ type, field, childComplexity }) =>
    type.name === 'Query' && field.name === 'sources' ? sourceCount * (1 + childComplexity) : undefined;

  /** False once a field was left out of a cost. */
  let isWhole = true;

  function measure(document: DocumentNode, { variables, operationName }: Asked, estimators: ComplexityEstimator[]) {
    const operation = getOperationAST(document, operationName);
    if (!operation) return 0;
    // What is wrong with them the execution tells, and ends after fifty errors: each is made anew, with its place in the text.
    const { errors } = getVariableValues(
      schema,
      operation.variableDefinitions ?? [],
      { ...variables },
      { maxErrors: 1 },
    );
    if (errors) return 0;
    // A field whose arguments the execution refuses is not resolved, and costs nothing this time.
    const context = new ValidationContext(schema, document, new TypeInfo(schema), () => {
      isWhole = false;
    });
    const options = { maximumComplexity: Number.MAX_VALUE, estimators, variables: { ...variables } };
    const visitor = createComplexityRule(options)(context);
    visitor.onOperationDefinitionEnter(operation);
    return visitor.complexity;
  }

  const scale = MAX_COST / 2 / measure(wholeIntrospection(), {}, [costOfField]);
  const costOfSchema: ComplexityEstimator = ({ field, childComplexity }) =>
    field.name === '__schema' ? Math.ceil(childComplexity * scale) : undefined;
  const estimators = [costOfSchema, costOfSources, costOfField];
  const costOf = (document: DocumentNode, asked: Asked) =>
    Math.max(...EITHER.map((name) => measure(document, asked, [without(name), ...estimators])));

  const sizing = new WeakMap<DocumentNode, readonly string[]>();
  const known = new WeakMap<DocumentNode, Map<string, number>>();
  return (document, asked = {}) => {
    const names = sizing.get(document) ?? sizingVariables(document);
    sizing.set(document, names);
    const costs = known.get(document) ?? new Map<string, number>();
    known.set(document, costs);
    const key = keyOf(names, asked);
    const kept = costs.get(key);
    if (kept !== undefined) return kept;
    isWhole = true;
    const cost = costOf(document, asked);
    // The names and values are the client's: those of no operation are not kept, and of the others not too many.
    if (isWhole && cost > 0 && key.length <= MAX_KEY_LENGTH) {
      if (costs.size >= MAX_KEPT_COSTS) costs.clear();
      costs.set(key, cost);
    }
    return cost;
  };
}

/** Of one document. */
const MAX_KEPT_COSTS = 100;
const MAX_KEY_LENGTH = 1_000;

/** The same for all that costs the same: of a list, only its length counts. */
function keyOf(names: readonly string[], { variables, operationName }: Asked): string {
  const values = names.map((name) => {
    const value = variables?.[name];
    return Array.isArray(value) ? { length: value.length } : value === undefined ? 'absent' : { value };
  });
  return JSON.stringify([operationName ?? '', ...values]);
}

/** The variables that say how long a list is, or whether something is selected. */
function sizingVariables(document: DocumentNode): readonly string[] {
  const names = new Set<string>();
  visit(document, {
    Argument({ name, value }) {
      if (!SIZING.has(name.value)) return false;
      visit(value, { Variable: (variable) => void names.add(variable.name.value) });
      return false;
    },
  });
  return [...names];
}

/** Arguments of fields, and of `@include` and `@skip`. */
const SIZING = new Set(['limit', 'ids', 'count', 'if']);

/** Of a timeline page, as many as it was asked for are either the one or the other. */
const EITHER = ['entries', 'edited'] as const;

function without(name: string): ComplexityEstimator {
  return ({ type, field }) => (type.name === 'TimelinePage' && field.name === name ? 0 : undefined);
}

/** A page's own lists hold at most as many items as the page was asked for, which counts already. */
const costOfField: ComplexityEstimator = ({ type, field, args, childComplexity }) => {
  const size = sizeOf(args);
  if (size !== undefined) return size * (READ_COST + childComplexity);
  const isList = isListType(getNullableType(field.type)) && !type.name.endsWith('Page');
  const own = TOKENS.has(field.name) ? TOKEN_COST : 1;
  return (isList ? LIST_SIZE : 1) * (own + childComplexity);
};

const TOKENS = new Set(['cursor', 'since', 'until']);

/** How many items the arguments ask for; undefined where none says. */
function sizeOf({ limit, ids, count }: Readonly<Record<string, unknown>>): number | undefined {
  const size = Array.isArray(ids) ? ids.length : limit === null ? PAGE_SIZE : (limit ?? count);
  return typeof size === 'number' ? Math.min(Math.max(size, 1), MAX_SIZE) : undefined;
}

function wholeIntrospection(): DocumentNode {
  const all = { directiveIsRepeatable: true, inputValueDeprecation: true, oneOf: true, schemaDescription: true };
  return parse(getIntrospectionQuery({ ...all, specifiedByUrl: true }));
}

function tooDear(cost: number): GraphQLError {
  return new GraphQLError(
    `the operation costs ${cost}, at most ${MAX_COST} are allowed: select fewer fields, or ask with a lower limit`,
    { extensions: { code: 'BAD_USER_INPUT', http: { status: 400 } } },
  );
}
