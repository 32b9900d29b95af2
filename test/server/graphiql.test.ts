import assert from 'node:assert/strict';
import { get, type IncomingMessage } from 'node:http';
import { after, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { openEdge } from '../edge-fixture.ts';

const edge = await openEdge();
after(() => edge.close());

test('the page is served in the best encoding that the browser takes, and is the same in each', async () => {
  const plain = await visit({});
  const brotli = await visit({ 'accept-encoding': 'gzip, deflate, br' });
  const gzip = await visit({ 'accept-encoding': 'gzip;q=0.5, br;q=0' });
  assert.deepEqual(
    [plain, brotli, gzip].map(({ encoding }) => encoding),
    [undefined, 'br', 'gzip'],
  );
  assert.ok(brotliDecompressSync(brotli.body).equals(plain.body));
  assert.ok(gunzipSync(gzip.body).equals(plain.body));
  assert.ok(brotli.body.length < plain.body.length / 3);
});

test('a browser that has the page gets 304', async () => {
  const { etag } = await visit({ 'accept-encoding': 'br' });
  assert.ok(etag);
  for (const tag of [etag, `"other", W/${etag}`, '*']) {
    assert.equal((await visit({ 'accept-encoding': 'br', 'if-none-match': tag })).status, 304, tag);
  }
  for (const headers of [{ 'accept-encoding': 'gzip', 'if-none-match': etag }, { 'if-none-match': '"other"' }]) {
    assert.equal((await visit(headers)).status, 200);
  }
});

test('the page opens on the example queries', async () => {
  const page = (await visit({})).body.toString();
  for (const name of ['ForYou', 'ForYouNextPage', 'Timeline', 'CatchUp', 'SourceHealth']) {
    assert.ok(page.includes(`query ${name}`), name);
  }
});

test('without GraphiQL in the settings there is no page', async () => {
  const other = await openEdge({ settings: { graphiql: false } });
  const response = await fetch(`${other.url}/graphql`, { headers: { accept: 'text/html' } });
  assert.notEqual(response.headers.get('content-type'), 'text/html; charset=utf-8');
  await other.close();
});

interface Visit {
  readonly status: number | undefined;
  readonly encoding: string | undefined;
  readonly etag: string | undefined;
  readonly body: Buffer;
}

async function visit(headers: Record<string, string>): Promise<Visit> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(`${edge.url}/graphql`, { headers: { accept: 'text/html,*/*', ...headers } }, resolve).once('error', reject);
  });
  const { 'content-encoding': encoding, etag } = response.headers;
  return { status: response.statusCode, encoding, etag, body: Buffer.concat(await response.toArray()) };
}
