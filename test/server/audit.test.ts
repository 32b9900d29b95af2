import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { auditServer } from 'graphql-http';
import { openEdge } from '../edge-fixture.ts';

const edge = await openEdge();
after(() => edge.close());

/** @see https://graphql.github.io/graphql-over-http/ */
test('the public audit of GraphQL over HTTP passes, 61 of 61', async () => {
  const results = await auditServer({ url: `${edge.url}/graphql` });
  const failed = results.filter(({ status }) => status !== 'ok').map(({ id, name }) => `${id} ${name}`);
  assert.deepEqual(failed, []);
  assert.equal(results.length, 61);
});
