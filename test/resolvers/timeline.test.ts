import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { codesOf, createPost, createSource, dataOf, NOW_MS, openEdge, publish } from '../edge-fixture.ts';

const town = createSource('town');
const lake = createSource('lake');
const home = createSource('home', { audience: ['ann'] });
const edge = await openEdge({ sources: [town, lake, home] });
after(() => edge.close());
await publish(
  edge,
  town,
  [30, 20, 10].map((seconds) => createPost(town, seconds)),
);
await publish(
  edge,
  lake,
  [25, 15].map((seconds) => createPost(lake, seconds)),
);
await publish(edge, home, [createPost(home, 5)]);

const PAGE =
  '{ entries { id cursor source { id } sortAt arrivedAt late post { text } } edited { id } removed since until hasNewer }';
const page = async (args: string, userId?: string) =>
  dataOf(await edge.ask(`{ timeline${args} ${PAGE} }`, userId === undefined ? {} : { userId })).timeline;
const codes = async (args: string, userId?: string) =>
  codesOf(await edge.ask(`{ timeline${args} { since } }`, userId === undefined ? {} : { userId }));
const texts = ({ entries }: { entries: { post: { text: string } }[] }) => entries.map(({ post }) => post.text);

test('without a token: the newest of all sources that the viewer may read, and both tokens', async () => {
  const newest = await page('(limit: 3)');
  assert.deepEqual(texts(newest), ['post of town, 10 s ago', 'post of lake, 15 s ago', 'post of town, 20 s ago']);
  assert.deepEqual([typeof newest.since, typeof newest.until, newest.hasNewer], ['string', 'string', false]);
  const [first] = newest.entries;
  assert.match(first.id, /^entry:town:\d+@town\.example$/);
  assert.deepEqual(
    [first.sortAt, first.arrivedAt, first.late],
    ['2026-11-20T11:59:50.000Z', '2026-11-20T12:00:00.000Z', false],
  );
  assert.deepEqual(texts(await page('(limit: 1)', 'ann')), ['post of home, 5 s ago']);
});

test('until goes on downwards, from a page or from an entry, and ends in null', async () => {
  const { until, entries } = await page('(limit: 2)');
  const rest = ['post of town, 20 s ago', 'post of lake, 25 s ago', 'post of town, 30 s ago'];
  const next = await page(`(until: "${until}")`);
  assert.deepEqual([texts(next), next.since, next.until], [rest, null, null]);
  assert.deepEqual(texts(await page(`(until: "${entries[0].cursor}", limit: 1)`)), ['post of lake, 15 s ago']);
  assert.deepEqual(texts(await page(`(until: "${entries[1].cursor}")`)), rest);
});

test('since brings what came after, once', async () => {
  const { since } = await page('(sources: ["lake"])');
  edge.time.nowMs = NOW_MS + 1000;
  await publish(edge, lake, [createPost(lake, 1)]);
  const newer = await page(`(since: "${since}", sources: ["lake"])`);
  assert.deepEqual([texts(newer), newer.until, newer.hasNewer], [['post of lake, 1 s ago'], null, false]);
  assert.deepEqual(texts(await page(`(since: "${newer.since}", sources: ["lake"])`)), []);
});

test('sources are named by id or by settings key, twice is once', async () => {
  const one = await page('(sources: ["source:town", "town", "town"], limit: 200)');
  assert.deepEqual(
    new Set(one.entries.map(({ source }: { source: { id: string } }) => source.id)),
    new Set(['source:town']),
  );
});

test('limits outside 1 to 200 are refused, null is the default', async () => {
  for (const limit of [0, -1, 201, 2 ** 31 - 1]) {
    assert.deepEqual(await codes(`(limit: ${limit})`), ['BAD_USER_INPUT limit'], String(limit));
  }
  for (const limit of [1, 200, null]) assert.deepEqual(await codes(`(limit: ${limit})`), [], String(limit));
});

test('both tokens at once, no source, and sources that are unknown or not for the viewer are refused', async () => {
  const { since, until } = await page('(limit: 1)');
  assert.deepEqual(await codes(`(since: "${since}", until: "${until}")`), ['BAD_USER_INPUT until']);
  assert.deepEqual(await codes('(sources: [])'), ['BAD_USER_INPUT sources']);
  for (const id of ['nowhere', 'source:nowhere', '', 'x'.repeat(50_000), '1@town.example']) {
    assert.deepEqual(await codes(`(sources: ["town", "${id}"])`), ['BAD_USER_INPUT sources'], id.slice(0, 20));
  }
  const refusal = async (id: string) =>
    (await edge.ask(`{ timeline(sources: ["${id}"]) { since } }`)).errors[0]?.message;
  assert.equal(await refusal('home'), (await refusal('none'))?.replace('"none"', '"home"'));
});

test('a token for another purpose, a foreign or a broken one is a bad cursor', async () => {
  const { since, until } = await page('(limit: 1)');
  const bad = [
    `since: "${until}"`,
    `until: "${since}"`,
    'since: ""',
    'until: "x"',
    `since: "${since.slice(1)}"`,
    `since: "${'A'.repeat(90_000)}"`,
  ];
  for (const args of bad) assert.deepEqual(await codes(`(${args})`), ['BAD_CURSOR'], args.slice(0, 40));
});

test('a token is bound to its viewer as soon as one of its sources is not for anyone', async () => {
  const open = await page('(limit: 1, sources: ["town"])', 'ann');
  assert.deepEqual(await codes(`(since: "${open.since}")`), []);
  const bound = await page('(limit: 1)', 'ann');
  for (const args of [`since: "${bound.since}"`, `until: "${bound.until}"`, `until: "${bound.entries[0].cursor}"`]) {
    assert.deepEqual(await codes(`(${args})`, 'ann'), []);
    assert.deepEqual(await codes(`(${args})`, 'bob'), ['BAD_CURSOR']);
    assert.deepEqual(await codes(`(${args})`), ['BAD_CURSOR']);
  }
});

test('who may read nothing gets an empty page', async () => {
  const other = await openEdge({ sources: [home] });
  const { timeline } = dataOf(await other.ask(`{ timeline ${PAGE} }`));
  assert.deepEqual([timeline.entries, timeline.since, timeline.until, timeline.hasNewer], [[], null, null, false]);
  await other.close();
});

test('of more than 50 sources some have to be named', async () => {
  const many = Array.from({ length: 51 }, (_, n) => createSource(`s${n}`));
  const other = await openEdge({ sources: many });
  const ask = async (args: string) => codesOf(await other.ask(`{ timeline${args} { since } }`));
  const keys = (count: number) => JSON.stringify(many.slice(0, count).map(({ key }) => key));
  assert.deepEqual(await ask(''), ['BAD_USER_INPUT sources']);
  assert.deepEqual(await ask(`(sources: ${keys(51)})`), ['BAD_USER_INPUT sources']);
  assert.deepEqual(await ask(`(sources: ${keys(50)})`), []);
  await other.close();
});

test('a token that would come to hold more than 50 sources is refused with the argument and a way on', async () => {
  const many = Array.from({ length: 51 }, (_, n) => createSource(`s${n}`));
  const other = await openEdge({ sources: many });
  const keys = JSON.stringify(many.slice(0, 50).map(({ key }) => key));
  const { since, until } = dataOf(await other.ask(`{ timeline(sources: ${keys}) { since until } }`)).timeline;
  const { errors } = await other.ask(`{ timeline(since: "${since}", sources: ["s50"]) { since } }`);
  assert.deepEqual([errors[0]?.extensions?.code, errors[0]?.extensions?.argument], ['BAD_USER_INPUT', 'sources']);
  assert.match(errors[0]?.message ?? '', /at most 50 together, got 51: name those of the token, or ask for others/);
  const named = await other.ask(`{ timeline(since: "${since}", sources: ["s0"]) { since } }`);
  assert.deepEqual([codesOf(named), until], [[], null]);
  await other.close();
});

test("a page makes no entry's token that was not asked for, and none twice", async () => {
  let made = 0;
  const counted = await openEdge({
    sources: [town],
    replace: ({ timeline }) => ({
      timeline: {
        async read(request) {
          const view = await timeline.read(request);
          const entries = view.entries.map(({ record, source, post, token }) => ({
            record,
            source,
            post,
            get token() {
              made += 1;
              return token;
            },
          }));
          return { ...view, entries };
        },
      },
    }),
  });
  await publish(counted, town, [createPost(town, 30), createPost(town, 20)]);
  await counted.ask('{ timeline { entries { id } since } }');
  assert.equal(made, 0);
  await counted.ask('{ timeline { entries { cursor } } }');
  assert.equal(made, 2);
  await counted.close();
});
