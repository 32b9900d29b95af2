import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { type Answer, createPost, createSource, dataOf, openEdge, publish } from '../edge-fixture.ts';

const town = createSource('town');
const home = createSource('home', { audience: ['ann'] });
const edge = await openEdge({ sources: [town, home] });
after(() => edge.close());
await publish(
  edge,
  town,
  [1, 2, 3, 4].map((seconds) => createPost(town, seconds)),
);
const seen = dataOf(
  await edge.ask(
    '{ forYou(limit: 1) { nextPage { cursor } } timeline(limit: 1) { since until entries { id cursor post { id } } } }',
    {
      userId: 'ann',
    },
  ),
);
const { since, until, entries } = seen.timeline;
const tokens: readonly string[] = [seen.forYou.nextPage.cursor, since, until, entries[0].cursor];
const ids: readonly string[] = [
  entries[0].id,
  entries[0].post.id,
  'source:town',
  'town',
  'viewer:ann',
  'feed:x',
  'gap:x',
];

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('\ud800', '\udfff', '\0', '%', '@', ':', 'a') }),
  fc.base64String(),
  fc.nat(5).map((power) => '9'.repeat(8 ** power)),
);
/** Like the given one, but cut, longer, or with one character changed. */
const almost = (known: readonly string[]) =>
  fc
    .record({ of: fc.constantFrom(...known), at: fc.nat(200), put: fc.string({ maxLength: 3 }), cut: fc.nat(2) })
    .map(({ of, at, put, cut }) => of.slice(0, at) + put + of.slice(at + cut));
const token = fc.oneof(text, almost(tokens), fc.constantFrom(...tokens), fc.constant(null));
const id = fc.oneof(text, almost(ids), fc.constantFrom(...ids));
const limit = fc.oneof(fc.integer({ min: -5, max: 300 }), fc.integer(), fc.constant(null));
const userId = fc.constantFrom(undefined, 'ann', 'bob');

const QUERY = `query ($cursor: String, $since: String, $until: String, $limit: Int, $sources: [ID!], $id: ID!, $ids: [ID!]!, $value: String!) {
  forYou(cursor: $cursor, limit: $limit) { items { cursor post { id } } nextPage { cursor } }
  timeline(since: $since, until: $until, limit: $limit, sources: $sources) { entries { id cursor } since until gaps { id } }
  post(id: $id) { id }
  posts(ids: $ids) { id }
  node(id: $id) { id __typename }
  snowflake(value: $value, layout: MASTODON) { time }
}`;

test('arguments of any kind get an answer or a clear error', async () => {
  const variables = fc.record({
    cursor: token,
    since: token,
    until: token,
    limit,
    sources: fc.option(fc.array(id, { maxLength: 60 })),
    id,
    ids: fc.array(id, { maxLength: 110 }),
    value: text,
  });
  await fc.assert(
    fc.asyncProperty(variables, userId, async (given, user) => {
      assertClear(await edge.ask(QUERY, { variables: given, ...(user !== undefined && { userId: user }) }));
    }),
    { numRuns: 300 },
  );
});

test('variables and documents of any kind get an answer or a clear error', async () => {
  const broken = fc.oneof(
    text,
    almost([QUERY, '{ viewer { id } }', 'mutation { refreshForYou { state } }', '{ __schema { types { name } } }']),
  );
  await fc.assert(
    fc.asyncProperty(broken, fc.jsonValue(), async (query, variables) =>
      assertClear(await edge.ask(query, { variables })),
    ),
    { numRuns: 300 },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(fc.constantFrom('cursor', 'limit', 'sources', 'ids', 'id', 'value'), fc.jsonValue()),
      async (given) => {
        const variables = { id: 'x', ids: ['x'], value: '1', ...given };
        assertClear(await edge.ask(QUERY, { variables }));
      },
    ),
    { numRuns: 200 },
  );
});

test('requests of any kind get an answer, and the server lives on', async () => {
  const header = fc.string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter((code) => code !== 0x7f)
      .map((code) => String.fromCharCode(code)),
  });
  const given = fc.record(
    {
      accept: header,
      origin: header,
      'x-user-id': header,
      'accept-encoding': header,
      'if-none-match': header,
      'content-type': header,
    },
    { requiredKeys: [] },
  );
  const body = fc.oneof(text, fc.json(), fc.constant(undefined));
  const method = fc.constantFrom('GET', 'POST', 'PUT', 'OPTIONS', 'DELETE');
  const path = fc.oneof(
    fc.constant('/graphql'),
    fc.webQueryParameters().map((query) => `/graphql?${query}`),
    fc.webPath(),
  );
  await fc.assert(
    fc.asyncProperty(given, body, method, path, async (headers, sent, verb, where) => {
      const response = await fetch(new URL(edge.url + (where || '/')), {
        method: verb,
        headers: { 'content-type': 'application/json', ...headers },
        redirect: 'manual',
        ...(verb !== 'GET' && sent !== undefined && { body: sent }),
      });
      assert.ok(response.status < 500, `${response.status} ${await response.text()}`);
      await response.arrayBuffer().catch(() => undefined);
    }),
    { numRuns: 300 },
  );
  assert.deepEqual(edge.logged, []);
});

function assertClear({ errors, status }: Answer): void {
  assert.ok(status < 500);
  for (const { message, extensions } of errors) {
    assert.notEqual(extensions.code, 'INTERNAL_SERVER_ERROR', message);
    assert.match(extensions.code, /^[A-Z_]+$/, message);
  }
}
