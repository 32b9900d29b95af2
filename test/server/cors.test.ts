import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Edge, type EdgeOptions, openEdge } from '../edge-fixture.ts';

const none: EdgeOptions['auth'] = { kind: 'none', userId: 'demo' };
const closed = await openEdge({ settings: { cors: [] } });
const listed = await openEdge({ settings: { cors: ['https://app.example'] } });
const listedWithoutSignIn = await openEdge({ settings: { cors: ['https://app.example'] }, auth: none });
const loopback = await openEdge({ settings: { cors: 'loopback' }, auth: none });
after(() => Promise.all([closed, listed, listedWithoutSignIn, loopback].map((edge) => edge.close())));

const origins = [
  'https://app.example',
  'http://localhost:3000',
  'http://127.0.0.1',
  'null',
  'https://evil.example',
  '*',
];

test('an empty list admits nobody, preflights included', async () => {
  for (const origin of origins) {
    for (const headers of [await preflight(closed, origin), await post(closed, origin)]) {
      assert.deepEqual(corsHeaders(headers), [], origin);
    }
  }
});

test('a list admits exactly its origins, with credentials when a header names the viewer', async () => {
  const admitted = await post(listed, 'https://app.example');
  assert.equal(admitted.get('access-control-allow-origin'), 'https://app.example');
  assert.equal(admitted.get('access-control-allow-credentials'), 'true');
  assert.equal(admitted.get('vary'), 'Origin');
  for (const origin of [
    'http://app.example',
    'https://app.example:444',
    'https://app.example.evil',
    'https://xapp.example',
    'null',
  ]) {
    assert.deepEqual(corsHeaders(await post(listed, origin)), [], origin);
    assert.deepEqual(corsHeaders(await preflight(listed, origin)), [], origin);
  }
  const anonymous = await post(listedWithoutSignIn, 'https://app.example');
  assert.deepEqual(corsHeaders(anonymous), ['access-control-allow-origin']);
});

test('loopback admits the origins of this machine at any port, without credentials', async () => {
  for (const origin of ['http://localhost:3000', 'https://localhost', 'http://127.0.0.1:5173', 'http://[::1]:8080']) {
    const headers = await post(loopback, origin);
    assert.equal(headers.get('access-control-allow-origin'), origin);
    assert.deepEqual(corsHeaders(headers), ['access-control-allow-origin']);
  }
  for (const origin of [
    'http://localhost.evil.example',
    'http://localhost:1@evil.example',
    'http://127.0.0.10',
    'file://localhost',
  ]) {
    assert.deepEqual(corsHeaders(await post(loopback, origin)), [], origin);
  }
});

test('a preflight allows the headers asked for, but never the one that names the viewer', async () => {
  const headers = await preflight(listed, 'https://app.example', 'Content-Type, X-User-Id, traceparent');
  assert.equal(headers.get('access-control-allow-headers'), 'content-type, traceparent');
  assert.equal(headers.get('access-control-allow-methods'), 'GET, POST');
});

test('what another site may send without a preflight is not taken', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const response = await fetch(`${closed.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': type, origin: 'https://evil.example', 'x-user-id': 'ann' },
      body: JSON.stringify({ query: 'mutation { refreshForYou { state } }' }),
    });
    assert.equal(response.status, 415, type);
  }
});

async function preflight(edge: Edge, origin: string, headers = 'content-type'): Promise<Headers> {
  const response = await fetch(`${edge.url}/graphql`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': headers },
  });
  assert.equal(response.status, 204);
  return response.headers;
}

async function post(edge: Edge, origin: string): Promise<Headers> {
  const response = await fetch(`${edge.url}/graphql`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ __typename }' }),
  });
  assert.equal(response.status, 200);
  return response.headers;
}

function corsHeaders(headers: Headers): readonly string[] {
  return [...headers.keys()].filter((name) => name.startsWith('access-control-'));
}
