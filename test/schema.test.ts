import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  buildSchema,
  type GraphQLNamedType,
  isEnumType,
  isInterfaceType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql';

const schema = buildSchema(readFileSync(new URL('../schema.graphql', import.meta.url), 'utf8'));
const types = Object.values(schema.getTypeMap()).filter(
  (type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type),
);

test('every type, field, argument and enum value has a description', () => {
  const missing = types.flatMap(described).filter(({ description }) => !description || description.trim().length < 4);
  assert.deepEqual(
    missing.map(({ name }) => name),
    [],
  );
});

test('a nullable field says in its own words or its type what null means', () => {
  const silent = types
    .filter((type) => isObjectType(type))
    .flatMap((type) => Object.values(type.getFields()).map((field) => ({ type, field })))
    .filter(({ field }) => !String(field.type).endsWith('!'))
    .filter(({ type, field }) => !/\bnull\b/i.test(`${field.description} ${type.description}`))
    .map(({ type, field }) => `${type.name}.${field.name}`);
  assert.deepEqual(silent, []);
});

test('the roots are those of the contract, and nullable but for the two that answer item by item', () => {
  const roots = Object.values(schema.getQueryType()?.getFields() ?? {}).map(({ name, type }) => `${name}: ${type}`);
  assert.deepEqual(roots, [
    'viewer: Viewer',
    'forYou: ForYouPage',
    'timeline: TimelinePage',
    'sources: [Source!]!',
    'post: Post',
    'posts: [Post]!',
    'node: Node',
    'snowflake: Snowflake',
  ]);
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
  assert.deepEqual(
    mutations.map(({ name, type }) => `${name}: ${type}`),
    ['refreshForYou: ForYouPage', 'nextIds: [String!]!'],
  );
});

function described(type: GraphQLNamedType): readonly { name: string; description: string | null | undefined }[] {
  const here = { name: type.name, description: type.description };
  if (isEnumType(type)) {
    const values = type.getValues().map(({ name, description }) => ({ name: `${type.name}.${name}`, description }));
    return [here, ...values];
  }
  if (!isObjectType(type) && !isInterfaceType(type)) return [here];
  const fields = Object.values(type.getFields()).flatMap(({ name, description, args }) => [
    { name: `${type.name}.${name}`, description },
    ...args.map((arg) => ({ name: `${type.name}.${name}(${arg.name}:)`, description: arg.description })),
  ]);
  return [here, ...fields];
}
