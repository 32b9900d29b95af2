import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { buildSchema, getIntrospectionQuery, parse } from 'graphql';
import { exampleTabs } from '../../../src/server/graphiql-tabs.ts';
import { createCost, MAX_COST } from '../../../src/server/graphql/cost.ts';
import { codesOf, createPost, createSource, dataOf, openEdge, publish } from '../../edge-fixture.ts';

const schema = buildSchema(readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8'));
const cost = (text: string, variables: Record<string, unknown> = {}, sources = 1) =>
  createCost(schema, sources)(parse(text), { variables });
const aliases = (count: number, field: string) => Array.from({ length: count }, (_, n) => `a${n}: ${field}`).join(' ');
/** Of each record that a page reads. */
const READ = 50;
/** Of a cursor or token. */
const TOKEN = 20;

test('a field costs as often as the page has items', () => {
  assert.equal(cost('{ viewer { id userId } }'), 1 + 2);
  assert.equal(cost('{ timeline(limit: 7) { since entries { cursor } } }'), 7 * (READ + TOKEN + (1 + TOKEN)));
  assert.equal(cost('{ forYou(limit: 100) { items { post { text html } } } }'), 100 * (READ + 1 + (1 + 2)));
  assert.equal(cost('{ posts(ids: ["1@a", "2@a"]) { id } }'), 2 * (READ + 1));
});

test('what an argument does not say is its default, in the text or as a variable', () => {
  assert.equal(cost('{ timeline { hasNewer } }'), 40 * (READ + 1));
  assert.equal(cost('{ timeline(limit: null) { hasNewer } }'), 40 * (READ + 1));
  assert.equal(cost('query ($n: Int) { timeline(limit: $n) { hasNewer } }', { n: 3 }), 3 * (READ + 1));
  assert.equal(cost('query ($n: Int) { timeline(limit: $n) { hasNewer } }', { n: null }), 40 * (READ + 1));
  assert.equal(cost('query ($n: Int) { timeline(limit: $n) { hasNewer } }'), 40 * (READ + 1));
  assert.equal(cost('query ($n: Int = 5) { timeline(limit: $n) { hasNewer } }'), 5 * (READ + 1));
  assert.equal(cost('query ($i: [ID!]!) { posts(ids: $i) { id } }', { i: ['1@a', '2@a', '3@a'] }), 3 * (READ + 1));
});

test('the cost of a document is the same each time, and another for other variables and operations', () => {
  const costOf = createCost(schema, 1);
  const document = parse(
    'query A($n: Int, $since: String) { timeline(limit: $n, since: $since) { hasNewer } } query B { viewer { id } }',
  );
  for (let times = 0; times < 2; times++) {
    assert.equal(costOf(document, { operationName: 'A', variables: { n: 3 } }), 3 * (READ + 1));
    assert.equal(costOf(document, { operationName: 'A', variables: { n: 4 } }), 4 * (READ + 1));
    assert.equal(costOf(document, { operationName: 'B' }), 2);
  }
  const fixed = parse(
    'query A($since: String) { timeline(limit: 5, since: $since) { hasNewer } } query B { viewer { id } }',
  );
  for (const since of ['x', 'y']) {
    assert.equal(costOf(fixed, { operationName: 'A', variables: { since } }), 5 * (READ + 1));
    assert.equal(costOf(fixed, { operationName: 'B' }), 2);
  }
  const partly = parse('query ($x: ID = "1@a") { post(id: $x) { id url text } viewer { id } }');
  assert.deepEqual([costOf(partly, { variables: { x: null } }), costOf(partly, {})], [2, 2 + 4]);
  const skips = parse('query ($no: Boolean!) { viewer { id userId @skip(if: $no) } }');
  assert.deepEqual(
    [true, false].map((no) => costOf(skips, { variables: { no } })),
    [2, 3],
  );
});

test('fragments, inline ones and aliases count each time, what is skipped does not', () => {
  const text = `query ($yes: Boolean!) { a: viewer { ...V } b: viewer { ... { ...V } } viewer @skip(if: $yes) { id } }
    fragment V on Viewer { id userId }`;
  assert.equal(cost(text, { yes: true }), 2 * (1 + 2));
  assert.equal(cost(text, { yes: false }), 2 * (1 + 2) + (1 + 1));
});

test('a page has either entries or edits, as many as it was asked for', () => {
  const both = cost('{ timeline(limit: 7) { entries { late late2: late } edited { id } } }');
  assert.equal(both, 7 * (READ + (1 + 2)));
  assert.equal(cost('{ timeline(limit: 7) { edited { id text html } } }'), 7 * (READ + (1 + 3)));
});

test('sources count as many as there are', () => {
  assert.equal(cost('{ sources { id state } }', {}, 300), 300 * (1 + 2));
  assert.ok(cost('{ sources { id network url software timeline state } }', {}, 1_000_000) <= MAX_COST);
});

test('an error in one argument does not make the rest of the operation free', () => {
  const rest = `timeline(limit: 200) { entries { post { ${aliases(900, 'html')} } } }`;
  assert.ok(cost(`query ($x: ID = "1@a") { post(id: $x) { id } ${rest} }`, { x: null }) > MAX_COST);
});

test('what screens ask for is far below the budget, at any limit', () => {
  for (const { query, variables } of exampleTabs) {
    const most = query.replaceAll(/limit: \d+/g, (limit) => (limit === 'limit: 5' ? 'limit: 100' : 'limit: 200'));
    assert.ok(cost(most, JSON.parse(variables ?? '{}')) < MAX_COST, most);
  }
});

test('everything that a post has, at the default limit, is within the budget', () => {
  const emojis = 'emojis { shortcode url }';
  const post = `id upstreamId network uri url author { id upstreamId handle name url avatarUrl bot ${emojis} } text html
    createdAt editedAt language visibility sensitive spoilerText inReplyToId hashtags ${emojis}
    media { kind url previewUrl alt width height blurhash durationMs } mentions { handle url authorId }
    card { url title description imageUrl } poll { options { text votes } multiple endsAt closed votes }
    counts { replies reposts likes quotes } snowflake { value time generator sequence layout }`;
  const whole = `${post} repostOf { ${post} } quoted { ${post} }`;
  const page = (limit: string) => `{ timeline${limit} { entries { id cursor sortAt late post { ${whole} } } since } }`;
  assert.ok(cost(page('')) <= MAX_COST, `costs ${cost(page(''))}`);
  assert.ok(cost(page('(limit: 200)')) > MAX_COST);
});

test('one introspection is within the budget, three are not', () => {
  const query = getIntrospectionQuery({ descriptions: true, specifiedByUrl: true, inputValueDeprecation: true });
  assert.ok(cost(query) <= MAX_COST / 2);
  const schemas = `{ ${aliases(3, '__schema { types { ...FullType } }')} } ${query.slice(query.indexOf('fragment'))}`;
  assert.ok(cost(schemas) > MAX_COST);
});

test('a dear operation is refused with its cost before anything is resolved', async (t) => {
  const town = createSource('town');
  let reads = 0;
  const edge = await openEdge({
    sources: [town],
    replace: ({ timeline }) => ({
      timeline: {
        read: (request) => {
          reads += 1;
          return timeline.read(request);
        },
      },
    }),
  });
  t.after(() => edge.close());
  await publish(edge, town, [createPost(town, 1)]);
  const dear = [
    `{ timeline(limit: 200) { entries { post { ${aliases(900, 'html')} } } } }`,
    `{ ${aliases(30, `timeline(limit: 200) { entries { ${aliases(30, 'cursor')} } }`)} }`,
    `{ ${aliases(30, 'timeline(limit: 200) { hasNewer }')} }`,
    `{ forYou(limit: 100) { items { ${aliases(900, 'cursor')} } } }`,
    `{ ${aliases(29, '__schema { types { fields { args { description type { name } } type { name } } } }')} }`,
  ];
  for (const query of dear) {
    const answer = await edge.ask(query, { userId: 'ann' });
    assert.deepEqual([answer.status, codesOf(answer)], [400, ['BAD_USER_INPUT']], query.slice(0, 80));
    const [, figure] =
      /^the operation costs (\d+), at most 50000 are allowed/.exec(answer.errors[0]?.message ?? '') ?? [];
    assert.ok(Number(figure) > MAX_COST);
  }
  assert.equal(reads, 0);
  dataOf(await edge.ask('{ timeline(limit: 200) { entries { post { text } } } }'));
  assert.equal(reads, 1);
});

test('operations that cost too much together are answered 503 with Retry-After, the others as ever', async (t) => {
  const town = createSource('town');
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const edge = await openEdge({
    sources: [town],
    replace: ({ timeline }) => ({
      timeline: {
        read: async (request) => {
          await released;
          return timeline.read(request);
        },
      },
    }),
  });
  t.after(() => edge.close());
  const query = `{ timeline(limit: 200) { entries { post { ${aliases(180, 'text')} } } } }`;
  const asked = Array.from({ length: 45 }, async () => {
    const response = await fetch(`${edge.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    return [response.status, response.headers.get('retry-after'), await response.text()] as const;
  });
  const refused = await Promise.race(asked);
  assert.deepEqual(refused.slice(0, 2), [503, '1']);
  assert.match(refused[2], /"code":"UNAVAILABLE"/);
  dataOf(await edge.ask('{ viewer { userId } }'));
  release();
  const statuses = (await Promise.all(asked)).map(([status]) => status);
  const fits = Math.floor(2_000_000 / cost(query));
  assert.deepEqual([fits > 20, statuses.filter((status) => status === 200).length], [true, fits]);
  dataOf(await edge.ask(query));
});

test('of variables that are wrong no more is looked at than the first mistake', () => {
  let looked = 0;
  const ids = new Proxy(
    Array.from({ length: 9_000 }, () => null),
    {
      get(target, name, receiver) {
        if (typeof name === 'string' && /^\d+$/.test(name)) looked += 1;
        return Reflect.get(target, name, receiver);
      },
    },
  );
  assert.equal(cost('query ($a: [ID!]!) { posts(ids: $a) { id } }', { a: ids }), 0);
  assert.ok(looked < 100, `${looked} items were looked at`);
});
