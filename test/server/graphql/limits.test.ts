import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getIntrospectionQuery, parse } from 'graphql';
import { exampleTabs } from '../../../src/server/graphiql-tabs.ts';
import { documentLimits, exceededLimits } from '../../../src/server/graphql/limits.ts';

const errorsOf = (text: string) => exceededLimits(parse(text)).map(({ message }) => message);

test('introspection and the example queries stay inside the limits', () => {
  for (const text of [getIntrospectionQuery(), ...exampleTabs.map(({ query }) => query)]) {
    assert.deepEqual(errorsOf(text), []);
  }
});

test('depth is counted through fragments', () => {
  const nested = (levels: number): string => (levels === 0 ? 'id' : `quoted { ${nested(levels - 1)} }`);
  const { depth } = documentLimits;
  assert.deepEqual(errorsOf(`{ ${nested(depth - 1)} }`), []);
  assert.deepEqual(errorsOf(`{ ${nested(depth)} }`), ['an operation must have at most 15 levels deep, got 16']);
  const halves = `{ quoted { ...A } } fragment A on Post { ${nested(depth - 1)} }`;
  assert.deepEqual(errorsOf(halves), ['an operation must have at most 15 levels deep, got 16']);
});

test('root fields are counted with their aliases', () => {
  const roots = (count: number) => `{ ${Array.from({ length: count }, (_, n) => `a${n}: viewer { id }`).join(' ')} }`;
  assert.deepEqual(errorsOf(roots(documentLimits.rootFields)), []);
  assert.deepEqual(errorsOf(roots(documentLimits.rootFields + 1)), [
    'an operation must have at most 30 root fields, got 31',
  ]);
});

test('fragments that double themselves are counted without being written out', () => {
  const doubling = Array.from(
    { length: 40 },
    (_, n) => `fragment F${n} on Post { a: quoted { ...F${n + 1} } b: quoted { ...F${n + 1} } }`,
  );
  const text = `{ post(id: "1@a") { ...F0 } } ${doubling.join(' ')} fragment F40 on Post { id }`;
  assert.match(errorsOf(text).join(), /at most 1000 selections in all/);
});

test('fragments that hold themselves end', () => {
  assert.deepEqual(errorsOf('{ ...A } fragment A on Query { ...B } fragment B on Query { ...A viewer { id } }'), []);
});
