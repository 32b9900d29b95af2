import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DocumentNode } from 'graphql';
import { createSchema, createYoga, type Plugin } from 'graphql-yoga';
import { createDocuments } from '../../../src/server/graphql/documents.ts';

/** Asks, and returns the document that the query was taken for: a kept one is the same object again. */
function createAsker(): (query: string) => Promise<DocumentNode | undefined> {
  let seen: DocumentNode | undefined;
  const watch: Plugin = {
    onValidate({ params }) {
      seen = params.documentAST;
    },
  };
  const yoga = createYoga({
    schema: createSchema({ typeDefs: 'type Query { id: ID self: Query }' }),
    plugins: [createDocuments().plugin, watch],
    parserAndValidationCache: false,
    logging: false,
  });
  return async (query) => {
    seen = undefined;
    const response = await yoga.fetch('http://localhost/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    await response.text();
    return seen;
  };
}

/** Some 3,000 tokens. */
const large = (name: number) => `{ self { ${Array.from({ length: 990 }, (_, n) => `a${name}x${n}: id`).join(' ')} } }`;

test('a valid document is parsed once', async () => {
  const ask = createAsker();
  const first = await ask('{ id }');
  assert.ok(first);
  assert.equal(await ask('{ id }'), first);
  assert.notEqual(await ask('{ id  }'), first);
});

test('what is not valid, or over the limits, is not kept', async () => {
  const ask = createAsker();
  for (const query of ['{ nothing }', `{ ${'x { '.repeat(20)} id ${'}'.repeat(20)} }`]) {
    const first = await ask(query);
    assert.ok(first);
    assert.notEqual(await ask(query), first);
  }
});

test('those used last are kept, 100,000 tokens in all', async () => {
  const ask = createAsker();
  const documents: (DocumentNode | undefined)[] = [];
  for (let n = 0; n < 60; n++) documents.push(await ask(large(n)));
  const kept: DocumentNode[] = [];
  for (let n = 59; n >= 0; n--) {
    const document = await ask(large(n));
    if (document !== documents[n] || document === undefined) break;
    kept.push(document);
  }
  const tokens = kept.reduce((sum, { tokenCount = 0 }) => sum + tokenCount, 0);
  assert.ok(kept.length > 20 && tokens <= 100_000, `${kept.length} documents of ${tokens} tokens`);
});
