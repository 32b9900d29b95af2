import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openEdge } from '../edge-fixture.ts';
import { sendRequest } from '../send-request.ts';

const edge = await openEdge({ settings: { cors: ['https://app.example'] } });
after(() => edge.close());

const QUERY = '{ viewer { userId } }';
const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36';
const json = { 'content-type': 'application/json' };

async function statusOf(method: string, headers: Record<string, string>): Promise<number> {
  const sent = { 'x-user-id': 'ann', ...headers };
  const url = `${edge.url}/graphql`;
  const { status } =
    method === 'POST'
      ? await sendRequest(url, { headers: { ...json, ...sent }, body: JSON.stringify({ query: QUERY }) })
      : await sendRequest(`${url}?query=${encodeURIComponent(QUERY)}`, { method, headers: sent });
  return status;
}

test('what a page of another site or of a sister site causes is refused, whatever it is', async () => {
  for (const site of ['cross-site', 'same-site', 'of a kind that is not known yet']) {
    for (const method of ['GET', 'POST']) {
      assert.equal(await statusOf(method, { 'sec-fetch-site': site }), 403, `${method} ${site}`);
      const disguised = { 'sec-fetch-site': site, 'user-agent': CHROME, 'graphql-require-preflight': '1' };
      assert.equal(await statusOf(method, disguised), 403, `${method} ${site}`);
    }
  }
});

test('its own page, an address that was typed, and a page of a listed origin are answered', async () => {
  for (const method of ['GET', 'POST']) {
    for (const site of ['same-origin', 'none']) {
      assert.equal(await statusOf(method, { 'sec-fetch-site': site, 'user-agent': CHROME }), 200);
    }
    const listed = { 'sec-fetch-site': 'cross-site', 'user-agent': CHROME };
    assert.equal(await statusOf(method, { ...listed, origin: 'https://app.example' }), 200);
    assert.equal(await statusOf(method, { ...listed, origin: 'https://evil.example' }), 403);
  }
});

test('a browser that does not tell whose page it is must show that it asked first', async () => {
  assert.equal(await statusOf('GET', { 'user-agent': CHROME }), 403);
  assert.equal(await statusOf('GET', { 'user-agent': CHROME, accept: 'application/graphql-response+json' }), 403);
  assert.equal(await statusOf('GET', { 'user-agent': CHROME, 'content-type': 'text/plain' }), 403);
  assert.equal(await statusOf('GET', { 'user-agent': CHROME, ...json }), 200);
  assert.equal(await statusOf('GET', { 'user-agent': CHROME, 'graphql-require-preflight': '1' }), 200);
  assert.equal(await statusOf('GET', { 'user-agent': CHROME, 'apollo-require-preflight': 'true' }), 200);
  assert.equal(await statusOf('POST', { 'user-agent': CHROME }), 200);
});

test('what names a page is from a browser, whatever that calls itself', async () => {
  for (const name of ['origin', 'referer']) {
    assert.equal(await statusOf('GET', { 'user-agent': 'reader/1', [name]: 'http://evil.example' }), 403, name);
    assert.equal(
      await statusOf('GET', { 'user-agent': 'reader/1', [name]: 'http://evil.example', ...json }),
      200,
      name,
    );
  }
});

test('programs that are no browsers ask as they like', async () => {
  for (const agent of ['curl/8.14.1', 'node', '']) assert.equal(await statusOf('GET', { 'user-agent': agent }), 200);
});

test('a link of another site leads to GraphiQL, and runs nothing', async () => {
  const headers = { 'sec-fetch-site': 'cross-site', 'user-agent': CHROME, accept: 'text/html' };
  const url = `${edge.url}/graphql?query=${encodeURIComponent(QUERY)}`;
  const page = await sendRequest(url, { method: 'GET', headers });
  assert.deepEqual([page.status, page.headers['content-type']], [200, 'text/html; charset=utf-8']);
});

test('no answer may be taken for something else than it says it is', async () => {
  for (const [method, path] of [
    ['GET', '/health'],
    ['GET', '/ready'],
    ['GET', '/'],
    ['GET', '/nothing'],
    ['GET', `/graphql?query=${encodeURIComponent(QUERY)}`],
    ['OPTIONS', '/graphql'],
    ['POST', '/graphql'],
  ] as const) {
    const { headers } = await sendRequest(edge.url + path, { method });
    assert.equal(headers['x-content-type-options'], 'nosniff', `${method} ${path}`);
  }
});
