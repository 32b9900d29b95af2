import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecommenderUnavailableError, StoreUnavailableError, UpstreamError } from '../../src/errors.ts';
import type { ServerDeps } from '../../src/server.ts';
import {
  codesOf,
  createPost,
  createSource,
  dataOf,
  type Edge,
  type EdgeOptions,
  NOW_MS,
  openEdge,
  publish,
} from '../edge-fixture.ts';

const SECRET = 'hunter2';

test('what is not ours is masked, with a short id under which it is logged', async (t) => {
  const edge = await edgeOf(t, failingTimeline(new TypeError(`cannot read ${SECRET}`)));
  const answer = await edge.ask('{ timeline { since } viewer { userId } }', { userId: 'ann' });
  assert.deepEqual(codesOf(answer), ['INTERNAL_SERVER_ERROR']);
  assert.deepEqual(answer.data, { timeline: null, viewer: { userId: 'ann' } });
  assert.equal(answer.text.includes(SECRET), false);
  const id = /^internal server error ([0-9a-f]{8})$/.exec(answer.errors[0]?.message ?? '')?.[1];
  assert.ok(id);
  assert.equal(edge.logged.length, 1);
  assert.match(edge.logged[0] ?? '', new RegExp(`^error ${id} at timeline: TypeError: cannot read ${SECRET}`));
});

test('one failing root leaves the others served', async (t) => {
  const town = createSource('town');
  const edge = await edgeOf(t, { sources: [town], ...failingTimeline(new StoreUnavailableError('the store is out')) });
  const post = createPost(town, 1);
  await publish(edge, town, [post]);
  const answer = await edge.ask(
    `{ timeline { since } forYou { items { post { id } } } post(id: "${post.id}") { id } sources { id } bad: post(id: "x") { id } }`,
    { userId: 'ann' },
  );
  assert.deepEqual(codesOf(answer), ['STORE_UNAVAILABLE']);
  assert.deepEqual(answer.data, {
    timeline: null,
    forYou: { items: [{ post: { id: post.id } }] },
    post: { id: post.id },
    sources: [{ id: 'source:town' }],
    bad: null,
  });
});

test('outages tell when to ask again', async (t) => {
  const storeIsOut = 'the store does not answer: try again';
  const inAMinute = { retryAtMs: NOW_MS + 60_000 };
  const cases = [
    [new StoreUnavailableError('out', inAMinute), 'STORE_UNAVAILABLE', '2026-11-20T12:01:00.000Z', storeIsOut],
    [new StoreUnavailableError('out'), 'STORE_UNAVAILABLE', '2026-11-20T12:00:05.000Z', storeIsOut],
    [
      new RecommenderUnavailableError('out', inAMinute),
      'RECOMMENDER_UNAVAILABLE',
      '2026-11-20T12:01:00.000Z',
      'the recommender does not answer usefully: try again',
    ],
    [
      new UpstreamError('RATE_LIMITED', 'wait', inAMinute),
      'RATE_LIMITED',
      '2026-11-20T12:01:00.000Z',
      'an upstream failed: RATE_LIMITED',
    ],
    [
      new UpstreamError('MALFORMED', 'odd'),
      'UPSTREAM_UNAVAILABLE',
      '2026-11-20T12:00:05.000Z',
      'an upstream failed: MALFORMED',
    ],
  ] as const;
  for (const [error, code, retryAt, message] of cases) {
    const edge = await edgeOf(t, failingTimeline(error));
    const { errors } = await edge.ask('{ timeline { since } }');
    assert.deepEqual(
      errors.map(({ extensions, message: told }) => ({ ...extensions, message: told })),
      [{ code, retryAt, message }],
    );
  }
});

test('sources are told while the store is out: failing, with what was last known', async (t) => {
  let isOut = false;
  const town = createSource('town');
  const edge = await edgeOf(t, {
    sources: [town],
    replace: ({ store }) => ({
      store: {
        ...store,
        timelines: {
          ...store.timelines,
          readLog: async (logId) => {
            if (isOut) throw new StoreUnavailableError('out');
            return store.timelines.readLog(logId);
          },
        },
      },
    }),
  });
  await publish(edge, town, [createPost(town, 1)]);
  const query = '{ sources { state overlapMs counts { posts } } }';
  const told = { overlapMs: 60_000, counts: { posts: 1 } };
  assert.deepEqual(dataOf(await edge.ask(query)), { sources: [{ state: 'STARTING', ...told }] });
  isOut = true;
  assert.deepEqual(dataOf(await edge.ask(query)), { sources: [{ state: 'FAILING', ...told }] });
});

test('what GraphQL refuses has a code, and the argument when it is known', async (t) => {
  const edge = await edgeOf(t, {});
  const ask = async (query: string, variables?: unknown) =>
    codesOf(await edge.ask(query, { variables, userId: 'ann' }));
  assert.deepEqual(await ask('{ viewer { '), ['GRAPHQL_PARSE_FAILED']);
  assert.deepEqual(await ask('{ nobody }'), ['GRAPHQL_VALIDATION_FAILED']);
  assert.deepEqual(await ask('{ forYou(limit: "x") { state } }'), ['GRAPHQL_VALIDATION_FAILED']);
  const withLimit = 'query ($n: Int!) { timeline(limit: $n) { since } }';
  for (const n of ['x', 1.5, null, 2 ** 31, [1]]) {
    assert.deepEqual(await ask(withLimit, { n }), ['BAD_USER_INPUT limit'], String(n));
  }
  assert.deepEqual(await ask('query ($id: ID!) { posts(ids: ["1@a", $id]) { id } }', {}), ['BAD_USER_INPUT ids']);
  assert.deepEqual(await ask('query ($id: ID = "x") { node(id: $id) { id } }', { id: null }), ['BAD_USER_INPUT id']);
  for (const field of ['viewer @include(if: $on) { id }', 'viewer { id @skip(if: $on) }']) {
    assert.deepEqual(await ask(`query ($on: Boolean = true) { ${field} }`, { on: null }), ['BAD_USER_INPUT if']);
  }
  assert.deepEqual(await ask('query ($unused: Int!) { viewer { id } }', { unused: 1 }), ['GRAPHQL_VALIDATION_FAILED']);
});

test('a request that is wrong in very many places is the mistake of its client, too', async (t) => {
  const edge = await edgeOf(t, {});
  const ids = Array.from({ length: 60 }, () => null);
  const many = await edge.ask('query ($ids: [ID!]!) { posts(ids: $ids) { id } }', { variables: { ids } });
  assert.deepEqual([...new Set(many.errors.map(({ extensions }) => extensions.code))], ['BAD_USER_INPUT']);
  const numbers = Array.from({ length: 29 }, (_, n) => n);
  const fields = numbers.map((n) => `a${n}: timeline(limit: $v${n}) { since }`).join(' ');
  const query = `query (${numbers.map((n) => `$v${n}: Int!`).join(' ')}) { ${fields} }`;
  const unset = await edge.ask(query, { variables: {} });
  assert.deepEqual([...new Set(codesOf(unset))], ['BAD_USER_INPUT limit']);
  assert.deepEqual(edge.logged, []);
});

test('documents over the limits are refused before they cost anything', async (t) => {
  const edge = await edgeOf(t, {});
  const tokens = `{ ${'viewer { id } '.repeat(1300)} }`;
  assert.deepEqual(codesOf(await edge.ask(tokens)), ['GRAPHQL_PARSE_FAILED']);
  const nested = `{ timeline(sources: ${'['.repeat(2490)}${']'.repeat(2490)}) { since } }`;
  assert.deepEqual(codesOf(await edge.ask(nested)), ['GRAPHQL_PARSE_FAILED']);
  const fields = Array.from({ length: 1000 }, (_, n) => `f${n}: id`).join(' ');
  const answer = await edge.ask(`{ viewer { ${fields} } }`);
  assert.deepEqual(codesOf(answer), ['GRAPHQL_VALIDATION_FAILED']);
  assert.equal(answer.errors[0]?.message, 'an operation must have at most 1000 selections in all, got 1001');
});

test('errors say the same thing twice: nothing of one request stays for the next', async (t) => {
  const edge = await edgeOf(t, {});
  const [first, second] = [await edge.ask('{ nobody }'), await edge.ask('{ nobody }')];
  assert.equal(first.text, second.text);
  assert.deepEqual([first.status, second.status], [200, 200]);
});

function failingTimeline(error: Error): EdgeOptions {
  const read: ServerDeps['timeline']['read'] = async () => {
    throw error;
  };
  return { replace: () => ({ timeline: { read } }) };
}

async function edgeOf(t: { after(close: () => Promise<void>): void }, options: EdgeOptions): Promise<Edge> {
  const edge = await openEdge(options);
  t.after(() => edge.close());
  return edge;
}
