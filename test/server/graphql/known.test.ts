import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { buildSchema } from 'graphql';
import { auditServer } from 'graphql-http';
import { createPost, createSource, openEdge, publish } from '../../edge-fixture.ts';
import { generateOperation } from './generate-operation.ts';

const schema = buildSchema(readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8'));
const town = createSource('town');
const edge = await openEdge({ sources: [town] });
after(() => edge.close());
await publish(
  edge,
  town,
  Array.from({ length: 30 }, (_, n) => createPost(town, n + 1)),
);
await edge.ask('{ forYou { state } }', { userId: 'ann' });

async function send(body: string, accept: string) {
  const headers = { 'content-type': 'application/json', accept, 'x-user-id': 'ann' };
  const response = await fetch(`${edge.url}/graphql`, { method: 'POST', headers, body });
  const { data, errors } = await response.json();
  return { status: response.status, type: response.headers.get('content-type'), data, errors };
}

/** White space at its end makes it another document, which is not known: Yoga answers. */
async function assertSameBothWays(asked: { query: string }, accept: string): Promise<void> {
  await send(JSON.stringify(asked), accept);
  const known = await send(JSON.stringify(asked), accept);
  const yoga = await send(JSON.stringify({ ...asked, query: `${asked.query} ` }), accept);
  assert.deepEqual(known, yoga, asked.query);
}

const ACCEPTS = [
  '*/*',
  'application/json',
  'application/graphql-response+json',
  'application/graphql-response+json, application/json;q=0.9',
  'text/html, */*;q=0.1',
];

test('a document that is known gets the answer that Yoga makes of one that is not', async () => {
  const asked = [
    { query: '{ viewer { id } timeline(limit: 2) { entries { id post { id text createdAt } } } }' },
    { query: '{ viewer { id } timeline(limit: 201) { hasNewer } forYou(cursor: "x") { state } }' },
    { query: 'query ($n: Int) { timeline(limit: $n) { hasNewer } }', variables: { n: 'many' } },
    { query: 'query ($n: Int) { timeline(limit: $n) { hasNewer } }', variables: { n: 3 }, extensions: { a: 1 } },
    { query: 'query ($n: Int) { timeline(limit: $n) { hasNewer } }', variables: [] },
    { query: 'query ($n: Int) { timeline(limit: $n) { hasNewer } }', variables: 'x' },
    { query: 'query A { viewer { id } } query B { viewer { userId } }' },
    { query: 'query A { viewer { id } } query B { viewer { userId } }', operationName: 'B' },
    { query: 'query A { viewer { id } } query B { viewer { userId } }', operationName: 'C' },
    { query: 'query A { viewer { id } }', operationName: '' },
    { query: 'query A { viewer { id } }', operationName: 7 },
    { query: '{ viewer { id } }', unknown: 1 },
    { query: 'query ($yes: Boolean = true) { viewer @include(if: $yes) { id } }', variables: { yes: null } },
    { query: 'mutation { nextIds(count: 1) }' },
    { query: `{ ${Array.from({ length: 9 }, (_, n) => `a${n}: timeline(limit: 200) { entries { id } }`).join(' ')} }` },
    { query: '{ __schema { queryType { name } } __type(name: "Post") { fields { name } } }' },
  ];
  for (const one of asked) for (const accept of ACCEPTS) await assertSameBothWays(one, accept);
});

test('generated operations get the same answer both ways', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), fc.constantFrom(...ACCEPTS), async (seed, accept) => {
      const { text: query, ...rest } = generateOperation(schema, seed);
      await assertSameBothWays({ query, ...rest }, accept);
    }),
    { numRuns: 200 },
  );
});

test('the public audit passes, 61 of 61, once its documents are known', async () => {
  await auditServer({ url: `${edge.url}/graphql` });
  const results = await auditServer({ url: `${edge.url}/graphql` });
  const failed = results.filter(({ status }) => status !== 'ok').map(({ id, name }) => `${id} ${name}`);
  assert.deepEqual([failed, results.length], [[], 61]);
});

for (const accept of ['text/event-stream', 'multipart/mixed']) {
  test(`${accept} gets each time what Yoga makes of it, as one answer of a known length`, async () => {
    const headers = { 'content-type': 'application/json', accept, 'x-user-id': 'ann' };
    const texts: string[] = [];
    for (let n = 0; n < 2; n += 1) {
      const body = JSON.stringify({ query: '{ __typename }' });
      const response = await fetch(`${edge.url}/graphql`, { method: 'POST', headers, body });
      assert.equal(response.headers.get('transfer-encoding'), null);
      assert.ok(response.headers.get('content-type')?.startsWith(accept));
      texts.push(await response.text());
    }
    assert.match(texts[0] ?? '', /"__typename":"Query"/);
    assert.ok(!texts[0]?.startsWith('{'));
    assert.equal(texts[1], texts[0]);
  });
}
