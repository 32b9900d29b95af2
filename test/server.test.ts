import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { after, test } from 'node:test';
import { StoreUnavailableError } from '../src/errors.ts';
import { type EdgeOptions, openEdge } from './edge-fixture.ts';

const edge = await openEdge();
after(() => edge.close());

const json = { 'content-type': 'application/json' };
const body = JSON.stringify({ query: '{ viewer { userId } }' });

test('/health answers while the process lives', async () => {
  const response = await fetch(`${edge.url}/health`);
  assert.deepEqual([response.status, await response.json()], [200, { status: 'ok' }]);
});

test('/ready answers 200 once the store answers and the loops run, else 503', async () => {
  const ready = await fetch(`${edge.url}/ready`);
  assert.deepEqual([ready.status, (await ready.json()).status], [200, 'ready']);
  const down = async () => {
    throw new StoreUnavailableError('down');
  };
  await withEdge({ replace: ({ store }) => ({ store: { ...store, ping: down } }) }, async (url) => {
    const { status, ...rest } = await (await fetch(`${url}/ready`)).json();
    assert.deepEqual([status, rest.store, rest.sources], ['not ready', false, true]);
  });
  await withEdge({ replace: () => ({ loopsStarted: () => false }) }, async (url) => {
    assert.equal((await fetch(`${url}/ready`)).status, 503);
  });
});

test('/ leads to the endpoint, and any other path is not found', async () => {
  const root = await fetch(`${edge.url}/`, { redirect: 'manual' });
  assert.deepEqual([root.status, root.headers.get('location')], [302, '/graphql']);
  for (const path of ['/graphql/', '/graphqlx', '/x/graphql', '/graphiql', '/%67raphql']) {
    const response = await fetch(`${edge.url}${path}`, { method: 'POST', headers: json, body });
    assert.deepEqual([response.status, codeIn(await response.json())], [404, 'BAD_USER_INPUT'], path);
  }
});

test('a client that accepts neither form of answer is told which there are', async () => {
  const headers = { ...json, accept: 'image/png' };
  const response = await fetch(`${edge.url}/graphql`, { method: 'POST', headers, body });
  assert.deepEqual([response.status, codeIn(await response.json())], [406, 'BAD_USER_INPUT']);
});

test('a query by GET is answered, a mutation by GET is not', async () => {
  const get = (query: string) => fetch(`${edge.url}/graphql?query=${encodeURIComponent(query)}`);
  assert.deepEqual(await (await get('{ viewer { userId } }')).json(), { data: { viewer: null } });
  const mutation = await get('mutation { refreshForYou { state } }');
  assert.deepEqual([mutation.status, codeIn(await mutation.json())], [405, 'BAD_USER_INPUT']);
});

test('what is no JSON in the URL is a clear error', async () => {
  for (const name of ['variables', 'extensions']) {
    for (const text of ['{', 'x', '[]']) {
      const response = await fetch(`${edge.url}/graphql?query={__typename}&${name}=${text}`);
      assert.deepEqual([response.status, codeIn(await response.json())], [400, 'BAD_USER_INPUT'], `${name} ${text}`);
    }
  }
});

test('a query string that ends in another path is still a query', async () => {
  const response = await fetch(
    `${edge.url}/graphql?query=${encodeURIComponent('{viewer{userId}}')}&operationName=/health`,
  );
  assert.equal(codeIn(await response.json()), 'BAD_USER_INPUT');
});

test('only JSON is taken: no form, text, GraphQL or compressed body', async () => {
  const types = [
    'application/x-www-form-urlencoded',
    'text/plain',
    'text/plain; application/json',
    'application/graphql',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded, application/json',
  ];
  for (const type of types) {
    const response = await fetch(`${edge.url}/graphql`, { method: 'POST', headers: { 'content-type': type }, body });
    assert.deepEqual([response.status, codeIn(await response.json())], [415, 'BAD_USER_INPUT'], type);
  }
  const untyped = await fetch(`${edge.url}/graphql`, { method: 'POST', body: new TextEncoder().encode(body) });
  assert.equal(untyped.status, 415);
  const zipped = await fetch(`${edge.url}/graphql`, {
    method: 'POST',
    headers: { ...json, 'content-encoding': 'gzip' },
    body,
  });
  assert.equal(zipped.status, 415);
});

test('a body over 100,000 bytes is refused, told in advance or not', async () => {
  const padded = (bytes: number) => body.padEnd(bytes, ' ');
  const most = await fetch(`${edge.url}/graphql`, { method: 'POST', headers: json, body: padded(100_000) });
  assert.equal(most.status, 200);
  const told = await fetch(`${edge.url}/graphql`, { method: 'POST', headers: json, body: padded(100_001) });
  assert.deepEqual([told.status, codeIn(await told.json())], [413, 'BAD_USER_INPUT']);
  assert.equal(await statusOfChunked(edge.url, padded(150_000)), 413);
});

test('a batch is refused', async () => {
  const response = await fetch(`${edge.url}/graphql`, { method: 'POST', headers: json, body: `[${body},${body}]` });
  assert.deepEqual([response.status, codeIn(await response.json())], [400, 'BAD_USER_INPUT']);
});

test('a signed-in header that is empty, repeated or too long is refused', async () => {
  for (const value of ['', 'a'.repeat(257), ['ann', 'bob']]) {
    const status = await statusOfChunked(edge.url, body, { 'x-user-id': value });
    assert.equal(status, 400, String(value).slice(0, 10));
  }
  assert.equal(await statusOfChunked(edge.url, body, { 'x-user-id': 'ann' }), 200);
});

test('a disposed server refuses GraphQL and still says that it lives', async () => {
  const other = await openEdge();
  await other.server.dispose();
  const response = await fetch(`${other.url}/graphql`, { method: 'POST', headers: json, body });
  assert.deepEqual([response.status, codeIn(await response.json())], [503, 'UNAVAILABLE']);
  assert.equal((await fetch(`${other.url}/health`)).status, 200);
  assert.equal((await fetch(`${other.url}/ready`)).status, 503);
  await other.close();
});

async function withEdge(options: EdgeOptions, run: (url: string) => Promise<void>): Promise<void> {
  const other = await openEdge(options);
  try {
    await run(other.url);
  } finally {
    await other.close();
  }
}

function codeIn(answer: { errors: { extensions: { code: string } }[] }): string | undefined {
  return answer.errors[0]?.extensions.code;
}

/** By node:http, which sends any header, and the body in chunks. */
function statusOfChunked(url: string, text: string, headers: Record<string, string | string[]> = {}): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const request = httpRequest(`${url}/graphql`, { method: 'POST', headers: { ...json, ...headers }, agent: false });
  request.once('response', (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  });
  request.once('error', reject);
  request.write(text.slice(0, 100));
  request.end(text.slice(100));
  return promise;
}

test('a body in very many pieces is refused, one in many is not', async () => {
  const ask = (pieces: number) => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const request = httpRequest(`${edge.url}/graphql`, { method: 'POST', headers: json, agent: false });
    request.once('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.once('error', reject);
    for (const piece of body.padEnd(pieces, ' ')) request.write(piece);
    request.end();
    return promise;
  };
  assert.deepEqual([await ask(9_000), await ask(10_001)], [200, 413]);
});
