import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { RecommenderUnavailableError } from '../../src/errors.ts';
import type { RecommendRequest } from '../../src/recommenders/recommender.ts';
import { createRecommender } from '../../src/recommenders/registry.ts';
import { candidatesOf, posts, START_MS } from '../feed/fixture.ts';
import { countSteps } from '../upstreams/count-steps.ts';

interface Seen {
  readonly headers: IncomingMessage['headers'];
  readonly url: string | undefined;
  readonly body: string;
}

/** A service on loopback that answers as it is told. */
async function service(context: TestContext, answer: (response: ServerResponse) => void) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    seen.push({ headers: request.headers, url: request.url, body });
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/rank` };
}

const json = (value: unknown) => (response: ServerResponse) => void response.end(JSON.stringify(value));

const request: RecommendRequest = {
  userId: 'ann',
  limit: 500,
  candidates: candidatesOf(posts(3)),
  exclude: ['9@town.example'],
  seed: 'seed',
  nowMs: START_MS,
};

async function failure(context: TestContext, answer: (response: ServerResponse) => void, timeoutMs = 10_000) {
  const { url, seen } = await service(context, answer);
  const headers = { authorization: 'Bearer secret-1' };
  const recommender = createRecommender({ kind: 'http', url, headers, timeoutMs });
  const error = await recommender.recommend(request).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert(error instanceof RecommenderUnavailableError);
  assert(!error.message.includes('secret-1'));
  return { error, seen };
}

test('the service gets post ids alone, with the configured headers, and its order is taken', async (context) => {
  const items = [
    { id: '2@town.example', reason: { kind: 'POPULAR', text: 'Boosted 9 times' }, canonicalId: 'story' },
    { id: '1@town.example' },
  ];
  const { url, seen } = await service(context, json({ items }));
  const recommender = createRecommender({ kind: 'http', url, headers: { authorization: 'Bearer secret-1' } });
  assert.deepEqual(await recommender.recommend(request), [
    { postId: '2@town.example', canonicalId: 'story', reason: { kind: 'POPULAR', text: 'Boosted 9 times' } },
    { postId: '1@town.example', canonicalId: undefined, reason: undefined },
  ]);
  assert.equal(seen[0]?.headers.authorization, 'Bearer secret-1');
  assert.deepEqual(JSON.parse(seen[0]?.body ?? ''), {
    version: 1,
    userId: 'ann',
    limit: 500,
    candidates: ['1@town.example', '2@town.example', '3@town.example'],
    exclude: ['9@town.example'],
  });
});

test('at most 1,000 candidates and 2,000 excluded ids are sent, the newest', async (context) => {
  const { url, seen } = await service(context, json({ items: [] }));
  const many = posts(2500);
  const exclude = many.map(({ id }) => id);
  await createRecommender({ kind: 'http', url }).recommend({ ...request, candidates: candidatesOf(many), exclude });
  const sent = JSON.parse(seen[0]?.body ?? '');
  assert.deepEqual([sent.candidates.length, sent.exclude.length, sent.candidates[0]], [1000, 2000, '1@town.example']);
});

test('bad items are left out, and of doubles the first stays', async (context) => {
  const items = [
    null,
    5,
    { id: 7 },
    { id: '' },
    { id: '1@town.example', canonicalId: 'a', reason: 'because' },
    { id: '2@town.example', canonicalId: 'a' },
    { id: '1@town.example' },
    { id: '3@town.example', canonicalId: 9, reason: { kind: 'MAGIC', text: '🦆'.repeat(100) } },
    { id: '4@town.example', reason: { kind: 'FOLLOWED_AUTHOR' } },
  ];
  const { url } = await service(context, json({ items, more: true }));
  assert.deepEqual(await createRecommender({ kind: 'http', url }).recommend(request), [
    { postId: '1@town.example', canonicalId: 'a', reason: undefined },
    { postId: '3@town.example', canonicalId: undefined, reason: { kind: 'OTHER', text: '🦆'.repeat(80) } },
    { postId: '4@town.example', canonicalId: undefined, reason: { kind: 'FOLLOWED_AUTHOR', text: 'Followed author' } },
  ]);
});

test('a service that hangs is given up after its deadline, before or inside its answer', async (context) => {
  const silent = await failure(context, () => {}, 30);
  assert.match(silent.error.message, /^POST http:\/\/127\.0\.0\.1:\d+\/rank did not answer within 30 ms$/);
  const half = await failure(context, (response) => response.write('{"items":['), 30);
  assert.match(half.error.message, /within 30 ms/);
});

test('garbage is a failure', async (context) => {
  for (const body of ['', 'no json', '[]', 'null', '{"items":{}}', '{"items":[1,2]}', '\u0000\u00ff']) {
    await failure(context, (response) => void response.end(body));
  }
});

test('an answer that never ends is cut off at 2 MiB', async (context) => {
  const { error } = await failure(context, (response) => {
    const chunk = Buffer.alloc(65_536, 'x');
    const more = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', more);
    more();
  });
  assert.match(error.message, /answered more than 2097152 bytes/);
});

test('of an answer four items are looked at for each that is of use', async (context) => {
  const good = (n: number) => ({ id: `${n}@town.example` });
  const { url } = await service(context, json({ items: [...Array(39).fill({}), good(1), good(2)] }));
  const found = await createRecommender({ kind: 'http', url }).recommend({ ...request, limit: 10 });
  assert.deepEqual(
    found.map(({ postId }) => postId),
    ['1@town.example'],
  );
  const { error } = await failure(context, json({ items: Array(100_000).fill({}) }));
  assert.match(error.message, /answered 2000 items, none of them readable/);
});

test('a bad item costs no more than a good one', async (context) => {
  const limit = 2_500;
  const stepsFor = async (item: (n: number) => unknown) => {
    const items = Array.from({ length: 4 * limit }, (_, n) => item(n));
    const { url } = await service(context, json({ items: [{ id: 'first@town.example' }, ...items] }));
    const recommender = createRecommender({ kind: 'http', url });
    return countSteps(() => recommender.recommend({ ...request, limit }), ['/http.ts', '/zod/']);
  };
  const good = await stepsFor((n) => ({ id: `${n}@town.example` }));
  for (const bad of [{}, null, { id: 7 }, { id: '1@town.example', reason: { kind: 7 } }]) {
    assert.ok((await stepsFor(() => bad)) <= 2 * good);
  }
});

test('an answer of too many values, or too deep, is not parsed', async (context) => {
  const parse = context.mock.method(JSON, 'parse');
  for (const items of [`[${'{},'.repeat(690_000)}0]`, `${'['.repeat(500_000)}${']'.repeat(500_000)}`]) {
    const { error } = await failure(context, (response) => void response.end(`{"items":${items}}`));
    assert.match(error.message, /answered with JSON of more than (250000 values|64 levels)$/);
  }
  assert.ok(parse.mock.calls.every(({ arguments: [text] }) => !String(text).startsWith('{"items":')));
});

test('a status that is not 200 is a failure, with the time to try again', async (context) => {
  const { error } = await failure(context, (response) => void response.writeHead(500).end('{"items":[]}'));
  assert.match(error.message, /answered 500, required 200/);
  const limited = await failure(context, (response) => void response.writeHead(429, { 'retry-after': '30' }).end());
  assert.equal(limited.error.retryAtMs, START_MS + 30_000);
});

test('a redirect is not followed, so headers go nowhere else', async (context) => {
  const elsewhere = await service(context, json({ items: [] }));
  const { error } = await failure(
    context,
    (response) => void response.writeHead(307, { location: elsewhere.url }).end(),
  );
  assert.match(error.message, /answered 307/);
  assert.equal(elsewhere.seen.length, 0);
});

test('a service that is not there, or breaks off, is a failure', async (context) => {
  const { error } = await failure(context, (response) => void response.destroy());
  assert.match(error.message, /failed: \w+/);
  const gone = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => gone.once('listening', resolve));
  const url = `http://127.0.0.1:${(gone.address() as AddressInfo).port}/`;
  await new Promise((resolve) => gone.close(resolve));
  await assert.rejects(createRecommender({ kind: 'http', url }).recommend(request), /failed: ECONNREFUSED/);
});
