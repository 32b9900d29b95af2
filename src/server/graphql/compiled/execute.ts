import {
  defaultTypeResolver,
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLOutputType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  locatedError,
  type VariableValues,
} from 'graphql';
import type { Plan, PlannedField } from './plan.ts';

/** Where a value stands in the answer. */
interface Path {
  readonly prev: Path | undefined;
  readonly key: string | number;
}

/** One execution. */
export interface Run {
  readonly plan: Plan;
  readonly variables: VariableValues;
  readonly context: unknown;
  readonly errors: CollectedErrors;
  /** Looks at what a resolver returned, and returns what takes its place. */
  readonly charge: (value: unknown, field: PlannedField, context: unknown) => unknown;
}

type Result = Record<string, unknown>;

/** The errors of an answer: of what lies in a part that is null for another's sake, none. */
export interface CollectedErrors {
  readonly list: GraphQLError[];
  readonly nulled: Set<Path | undefined>;
}

/** What the root fields come to, one after another where `serially`. Throws, or rejects, where the whole answer is null. */
export function executeRoot(run: Run, type: GraphQLObjectType, serially: boolean): Result | Promise<Result> {
  const fields = run.plan.rootFields(type, run.variables);
  return serially ? executeSerially(run, fields) : executeFields(run, { fields, source: undefined, path: undefined });
}

async function executeSerially(run: Run, fields: readonly PlannedField[]): Promise<Result> {
  const results = new Results();
  for (const field of fields) results[field.key] = await executeField(run, field, undefined, undefined);
  return results;
}

/** Objects without a prototype to speak of, so that any name may be a key, and yet as fast as literals. */
const Results = function (this: object) {} as unknown as new () => Result;
Results.prototype = Object.create(null);

function executeFields(
  run: Run,
  { fields, source, path }: { fields: readonly PlannedField[]; source: unknown; path: Path | undefined },
): Result | Promise<Result> {
  const results = new Results();
  let pending: Promise<void>[] | undefined;
  try {
    for (const field of fields) {
      const { key } = field;
      const result = executeField(run, field, source, path);
      // Holds the key's place.
      results[key] = result;
      if (result instanceof Promise) {
        pending ??= [];
        pending.push(
          result.then((settled) => {
            results[key] = settled;
          }),
        );
      }
    }
  } catch (error) {
    unheard(pending ?? []);
    throw error;
  }
  return pending ? Promise.all(pending).then(() => results) : results;
}

/** The field's value for the answer: null for one that failed. Throws where its parent is null for its sake. */
function executeField(run: Run, field: PlannedField, source: unknown, prev: Path | undefined): unknown {
  const { definition, info, leaf, key } = field;
  let path: Path | undefined;
  try {
    const args = field.args(run.variables);
    const value = definition.resolve
      ? definition.resolve(source, args, run.context, info)
      : readProperty(source, { field, args, context: run.context });
    const { type } = definition;
    if (isPromiseLike(value)) return completeLater(run, { value, type, field, path: { prev, key }, isItem: false });
    const charged = run.charge(value, field, run.context);
    // Most values are such ones, and need no path.
    if (leaf && charged !== null && typeof charged !== 'object') {
      const coerced = charged === undefined ? undefined : leaf.coerceOutputValue(charged);
      if (coerced !== undefined && coerced !== null) return coerced;
    }
    const own = { prev, key };
    path = own;
    const completed = complete(run, { value: charged, type, field, path });
    if (!(completed instanceof Promise)) return completed;
    return completed.catch((error: unknown) => fail(run, { error, type, field, path: own }));
  } catch (error) {
    return fail(run, { error, type: definition.type, field, path: path ?? { prev, key } });
  }
}

/** As graphql-js's `defaultFieldResolver`. */
function readProperty(
  source: unknown,
  { field, args, context }: { field: PlannedField; args: Result; context: unknown },
): unknown {
  if ((typeof source !== 'object' || source === null) && typeof source !== 'function') return undefined;
  const value = (source as Result)[field.definition.name];
  if (typeof value !== 'function') return value;
  return (source as Record<string, (...given: unknown[]) => unknown>)[field.definition.name]?.(
    args,
    context,
    field.info,
  );
}

/** A value with the type that it is to have. */
interface Typed {
  readonly value: unknown;
  readonly type: GraphQLOutputType;
  readonly field: PlannedField;
  readonly path: Path;
}

async function completeLater(run: Run, later: Typed & { readonly isItem: boolean }): Promise<unknown> {
  try {
    const value = await later.value;
    const charged = later.isItem ? value : run.charge(value, later.field, run.context);
    return await complete(run, { ...later, value: charged });
  } catch (error) {
    return fail(run, { ...later, error });
  }
}

function fail(run: Run, { error, type, field, path }: Omit<Typed, 'value'> & { readonly error: unknown }): null {
  const located = locatedError(error, field.nodes, arrayOf(path));
  if (isNonNullType(type)) throw located;
  addError(run.errors, located, path);
  return null;
}

/** `path`: what is null for its sake; undefined: the whole answer. */
export function addError({ list, nulled }: CollectedErrors, error: GraphQLError, path: Path | undefined): void {
  if (nulled.has(undefined)) return;
  for (let at = path; at !== undefined; at = at.prev) if (nulled.has(at)) return;
  nulled.add(path);
  list.push(error);
}

/** @see https://spec.graphql.org/September2025/#CompleteValue() */
function complete(run: Run, typed: Typed): unknown {
  const { value, type, field } = typed;
  if (value instanceof Error) throw value;
  if (isNonNullType(type)) {
    const completed = complete(run, { ...typed, type: type.ofType });
    if (completed === null) {
      throw new Error(`Cannot return null for non-nullable field ${field.info.parentType}.${field.info.fieldName}.`);
    }
    return completed;
  }
  if (value === null || value === undefined) return null;
  if (isLeafType(type)) {
    const coerced = type.coerceOutputValue(value);
    if (coerced === null || coerced === undefined) throw new Error(`Expected ${type} to hold ${String(value)}`);
    return coerced;
  }
  if (isListType(type)) return completeList(run, { ...typed, type: type.ofType });
  if (isObjectType(type)) return completeObject(run, type, typed);
  if (!isAbstractType(type)) throw new Error(`${type} is no output type`);
  const named = (type.resolveType ?? defaultTypeResolver)(value, run.context, field.info, type);
  return isPromiseLike(named)
    ? Promise.resolve(named).then((name) => completeObject(run, objectType(name, typed), typed))
    : completeObject(run, objectType(named, typed), typed);
}

function completeList(run: Run, { value, type, field, path: prev }: Typed): unknown {
  if (typeof value !== 'object' || value === null || !(Symbol.iterator in value)) {
    const { parentType, fieldName } = field.info;
    throw new GraphQLError(`Expected Iterable, but did not find one for field "${parentType}.${fieldName}".`);
  }
  const results: unknown[] = [];
  let pending = false;
  try {
    for (const item of value as Iterable<unknown>) {
      const result = completeItem(run, { value: item, type, field, path: { prev, key: results.length } });
      pending ||= result instanceof Promise;
      results.push(result);
    }
  } catch (error) {
    // As graphql-js: what was not come to may fail, too.
    unheard([...results, ...(Array.isArray(value) ? value : [])]);
    throw error;
  }
  return pending ? Promise.all(results) : results;
}

/** What is under way ends without an answer to stand in. */
function unheard(values: readonly unknown[]): void {
  for (const value of values) if (value instanceof Promise) value.catch(() => {});
}

function completeItem(run: Run, item: Typed): unknown {
  if (isPromiseLike(item.value)) return completeLater(run, { ...item, isItem: true });
  try {
    const completed = complete(run, item);
    if (!(completed instanceof Promise)) return completed;
    return completed.catch((error: unknown) => fail(run, { ...item, error }));
  } catch (error) {
    return fail(run, { ...item, error });
  }
}

function completeObject(run: Run, type: GraphQLObjectType, { value, field, path }: Typed): unknown {
  const fields = run.plan.fieldsOf(type, field.nodes, run.variables);
  return executeFields(run, { fields, source: value, path });
}

/** The type that a value of an interface says it is of. */
function objectType(name: unknown, { type, field }: Typed): GraphQLObjectType {
  const { schema, parentType, fieldName } = field.info;
  const named = typeof name === 'string' ? schema.getType(name) : undefined;
  if (isObjectType(named) && isAbstractType(type) && schema.isSubType(type, named)) return named;
  throw new GraphQLError(
    `"${type}" must resolve to one of its types for field "${parentType}.${fieldName}", got "${name}"`,
  );
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isObject && typeof (value as PromiseLike<unknown>).then === 'function';
}

function arrayOf(path: Path): readonly (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at: Path | undefined = path; at !== undefined; at = at.prev) keys.push(at.key);
  return keys.reverse();
}
