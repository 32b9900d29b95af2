import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  buildSchema,
  type ExecutionResult,
  execute,
  type GraphQLOutputType,
  getNullableType,
  isEnumType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { createExecutor } from '../../../src/server/graphql/compiled/executor.ts';
import { generateOperation } from './generate-operation.ts';

const schema = buildSchema(readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8'));
const find = createExecutor(schema);

/** What a resolver of the generated schema hands on: all that lies below follows from it. */
interface Seeded {
  readonly seed: string;
}

const digestOf = (...parts: unknown[]) => createHash('sha1').update(JSON.stringify(parts)).digest();
const number = (seed: string, what: string, below: number) => digestOf(seed, what).readUInt32BE(0) % below;

/** A value of the type, or what should not be there: null, an error, another type's value; some of them later. */
function made(type: GraphQLOutputType, seed: string): unknown {
  const nullable = getNullableType(type);
  switch (number(seed, 'mood', 60)) {
    case 0:
      throw new Error(`thrown ${seed.slice(0, 4)}`);
    case 1:
      return null;
    case 2:
      return undefined;
    case 3:
      return new Error(`returned ${seed.slice(0, 4)}`);
    case 4:
      return Promise.reject(new Error(`rejected ${seed.slice(0, 4)}`));
    case 5:
      return { wrong: true };
    case 6:
    case 7:
      return Promise.resolve(null);
  }
  if (number(seed, 'later', 6) === 0) return Promise.resolve().then(() => plain(nullable, seed));
  return plain(nullable, seed);
}

function plain(type: GraphQLOutputType, seed: string): unknown {
  if (isListType(type)) {
    return Array.from({ length: number(seed, 'length', 4) }, (_, n) => {
      const item = digestOf(seed, n).toString('hex');
      return number(item, 'bad', 8) > 0 ? plain(getNullableType(type.ofType), item) : caught(type.ofType, item);
    });
  }
  if (isEnumType(type)) return type.getValues()[number(seed, 'enum', type.getValues().length)]?.value;
  if (isLeafType(type)) {
    if (type.name === 'Boolean') return number(seed, 'yes', 2) === 1;
    return type.name === 'Int' || type.name === 'Float' ? number(seed, 'int', 1000) : `text ${seed.slice(0, 6)}`;
  }
  return { seed } satisfies Seeded;
}

/** Items are values: none of them can throw before it is there. */
function caught(type: GraphQLOutputType, seed: string): unknown {
  try {
    return made(type, seed);
  } catch (error) {
    return error;
  }
}

for (const type of Object.values(schema.getTypeMap())) {
  if (isInterfaceType(type)) {
    const names = schema.getPossibleTypes(type).map(({ name }) => name);
    type.resolveType = (value: Seeded) => {
      const name = names[number(value.seed, 'type', names.length)];
      return number(value.seed, 'type later', 3) === 0 ? Promise.resolve(name) : name;
    };
  }
  if (!isObjectType(type) || type.name.startsWith('__')) continue;
  for (const field of Object.values(type.getFields())) {
    const isRead = digestOf(type.name, field.name).readUInt8(0) % 4 === 0;
    const resolve = (source: Seeded | undefined, args: unknown, context: string) =>
      made(field.type, digestOf(context, source?.seed ?? '', type.name, field.name, args).toString('hex'));
    // Some are read by their name, as methods are.
    if (isRead && field.args.length === 0)
      field.resolve = (source: Seeded, args, context) => resolve(source, args, context);
    else field.resolve = resolve;
  }
}

/** As it is sent, errors in the order of their paths: which of two that happen later comes first is not told. */
const sent = ({ data, errors }: ExecutionResult) => ({
  data: JSON.stringify(data),
  errors: errors?.map((error) => JSON.stringify(error)).sort(),
});

/** What an execution relies on. What the other rules find it takes as it is, or refuses where it comes to it. */
const LAX = [
  'FieldsOnCorrectTypeRule',
  'NoUnusedVariablesRule',
  'OverlappingFieldsCanBeMergedRule',
  'ValuesOfCorrectTypeRule',
  'VariablesInAllowedPositionRule',
];
const RULES = specifiedRules.filter(({ name }) => !LAX.includes(name));

test('a compiled operation answers as graphql-js does', async () => {
  const seen = { answered: 0, withErrors: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(fc.integer(), async (seed) => {
      const { text, variables, operationName } = generateOperation(schema, seed);
      const document = parse(text);
      if (validate(schema, document, RULES).length > 0) return;
      const contextValue = String(seed);
      const theirs = await execute({ schema, document, variableValues: variables, operationName, contextValue });
      const compiled = find({ document, variables, operationName });
      if (!compiled) {
        seen.refused += 1;
        assert.ok(!('data' in theirs), text);
        return;
      }
      const ours = await compiled(contextValue);
      seen.answered += 1;
      if (ours.errors) seen.withErrors += 1;
      assert.deepEqual(sent(ours), sent(theirs), text);
    }),
    { numRuns: 2_000 },
  );
  assert.ok(seen.answered > 1_000 && seen.withErrors > 300 && seen.refused > 10, JSON.stringify(seen));
});
