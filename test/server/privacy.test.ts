import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Recommender } from '../../src/recommenders/recommender.ts';
import { createPost, createSource, dataOf, openEdge, publish } from '../edge-fixture.ts';

const SECRET = 'for ann alone';
const town = createSource('town');
const club = createSource('club', { audience: 'signed-in' });
const home = createSource('home', { audience: ['ann'] });

const secret = createPost(home, 10, { text: SECRET, html: SECRET });
const nested = createPost(home, 11, { text: SECRET, html: SECRET });
const reposting = createPost(home, 9, { text: '', html: '', repostOf: nested });
const open = createPost(town, 20);
/** The same post as both sources show it: home's copy holds a quote that only ann may see. */
const shared = createPost(town, 15);
const sharedAtHome = { ...shared, quoted: createPost(home, 16, { text: SECRET, html: SECRET }) };
const secretIds = [secret.id, nested.id, reposting.id, sharedAtHome.quoted.id];

/** Names everything that there is to everybody, as a careless one would. */
const careless: Recommender = {
  recommend: async () => [...secretIds, open.id, shared.id].map((postId) => ({ postId })),
};
const edge = await openEdge({ sources: [town, club, home], recommender: careless });
after(() => edge.close());
await publish(edge, town, [open, shared]);
await publish(edge, club, [createPost(club, 5)]);
await publish(edge, home, [secret, reposting, sharedAtHome], {
  gaps: [{ id: 'g1', fromMs: 0, reason: 'PAGE_CAP', final: false }],
});
await edge.store.timelines.writeStatus(home.logId, {
  state: 'FAILING',
  overlapMs: 0,
  problems: [{ code: 'UNAUTHORIZED', message: `${SECRET} answered 401` }],
});

const POST = 'id text html repostOf { id text } quoted { id text }';
const PAGE = `{ entries { id post { ${POST} } source { id } } edited { ${POST} } removed since until gaps { id } problems { message source { id } } }`;
const outsiders = [undefined, 'bob', 'Ann', 'ann '.repeat(2)];

test('ann herself sees all of it', async () => {
  const query = `{ timeline ${PAGE} forYou { items { post { ${POST} } } } sources { id } }`;
  const { timeline, sources } = dataOf(await edge.ask(query, { userId: 'ann' }));
  assert.equal(timeline.entries.length, 5);
  assert.match(JSON.stringify(timeline), /for ann alone answered 401/);
  assert.deepEqual(
    sources.map(({ id }: { id: string }) => id),
    ['source:town', 'source:club', 'source:home'],
  );
});

test('nobody else sees anything of it: by timeline, by For You, by sources', async () => {
  const query = `{ timeline(limit: 200) ${PAGE} forYou(limit: 100) { items { post { ${POST} } } problems { message source { id } } } sources { id } }`;
  for (const userId of outsiders) {
    const { text, data } = await edge.ask(query, userId === undefined ? {} : { userId });
    assertNothingOf(text);
    const visible = userId === undefined ? ['source:town'] : ['source:town', 'source:club'];
    assert.deepEqual(
      data.sources.map(({ id }: { id: string }) => id),
      visible,
    );
  }
});

test('nor by the next pages of a merged timeline, upwards or downwards', async () => {
  let { since, until } = dataOf(await edge.ask(`{ timeline(limit: 1) ${PAGE} }`, { userId: 'bob' })).timeline;
  edge.time.nowMs += 1000;
  await publish(edge, home, [createPost(home, 1, { text: SECRET })]);
  await publish(edge, town, [createPost(town, 2)]);
  for (let pages = 0; until && pages < 10; pages++) {
    const answer = await edge.ask(`{ timeline(until: "${until}", limit: 1) ${PAGE} }`, { userId: 'bob' });
    assertNothingOf(answer.text);
    until = dataOf(answer).timeline.until;
  }
  const answer = await edge.ask(`{ timeline(since: "${since}") ${PAGE} }`, { userId: 'bob' });
  assertNothingOf(answer.text);
  assert.equal(dataOf(answer).timeline.entries.length, 1);
  since = dataOf(answer).timeline.since;
  assert.equal(typeof since, 'string');
});

test("nor with ann's own tokens", async () => {
  const { timeline, forYou } = dataOf(
    await edge.ask(
      '{ timeline(limit: 1) { since until entries { cursor } } forYou(limit: 1) { nextPage { cursor } } }',
      { userId: 'ann' },
    ),
  );
  for (const userId of ['bob', undefined]) {
    const as = userId === undefined ? {} : { userId };
    for (const args of [
      `since: "${timeline.since}"`,
      `until: "${timeline.until}"`,
      `until: "${timeline.entries[0].cursor}"`,
    ]) {
      const { data, text } = await edge.ask(`{ timeline(${args}) ${PAGE} }`, as);
      assert.equal(data.timeline, null);
      assertNothingOf(text);
    }
    assert.equal((await edge.ask(`{ forYou(cursor: "${forYou.nextPage.cursor}") { state } }`, as)).data.forYou, null);
  }
});

test('nor by ids, guessed or known', async () => {
  const query = `query ($ids: [ID!]!, $id: ID!) { posts(ids: $ids) { ${POST} } post(id: $id) { ${POST} } node(id: $id) { id } }`;
  for (const userId of outsiders) {
    for (const id of [...secretIds, 'source:home', 'gap:g1', 'viewer:ann', `entry:home:${secret.id}`]) {
      const variables = { ids: secretIds, id };
      const { data } = await edge.ask(query, { variables, ...(userId !== undefined && { userId }) });
      assert.deepEqual(data, { posts: [null, null, null, null], post: null, node: null }, id);
    }
    const { text } = await edge.ask(`{ post(id: "${shared.id}") { ${POST} } }`, userId === undefined ? {} : { userId });
    assertNothingOf(text);
    assert.match(text, /post of town, 15 s ago/);
  }
});

test('a problem of a source is told in words to its readers alone', async () => {
  const problems = [{ code: 'UNAVAILABLE', message: `${SECRET} answered 503`, sourceKey: 'home' }] as const;
  const page = async () => ({ items: [], state: 'CACHED' as const, problems });
  const other = await openEdge({ sources: [home], replace: ({ forYou }) => ({ forYou: { ...forYou, page } }) });
  const query = '{ forYou { problems { code message source { id } } } }';
  assertNothingOf((await other.ask(query, { userId: 'bob' })).text);
  assert.match((await other.ask(query, { userId: 'ann' })).text, /for ann alone answered 503.*source:home/);
  await other.close();
});

test('a source for the signed-in shows nothing to those who are not', async () => {
  const query = `{ timeline ${PAGE} sources { id } post(id: "${createPost(club, 5).id}") { text } }`;
  assert.match((await edge.ask(query, { userId: 'bob' })).text, /post of club/);
  assert.doesNotMatch((await edge.ask(query)).text, /club/);
});

test('posts for followers stay with named users, when a source is opened to more people over the same log', async () => {
  const before = createSource('parlour', { audience: ['ann'] });
  const after = createSource('parlour', { audience: 'signed-in' });
  const forFollowers = createPost(before, 30, { text: SECRET, html: SECRET, visibility: 'FOLLOWERS' });
  const opened = await openEdge({ sources: [after], auth: { kind: 'none', userId: 'bob' } });
  try {
    await publish(opened, before, [forFollowers, createPost(before, 31)]);
    const { text, data } = await opened.ask(`{ timeline ${PAGE} post(id: "${forFollowers.id}") { id } }`);
    assertNothingOf(text);
    assert.equal(data.timeline.entries.length, 1);
    assert.equal(data.post, null);
  } finally {
    await opened.close();
  }
});

function assertNothingOf(text: string): void {
  for (const trace of [SECRET, 'home', ...secretIds]) assert.equal(text.includes(trace), false, `${trace} in ${text}`);
}
