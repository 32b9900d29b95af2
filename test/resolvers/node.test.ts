import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Gap } from '../../src/stores/timeline-store.ts';
import { withSamples } from '../../src/timeline/poll/lateness.ts';
import { codesOf, createPost, createSource, dataOf, openEdge, publish } from '../edge-fixture.ts';

const town = createSource('town');
const home = createSource('home', { audience: ['ann'] });
const edge = await openEdge({ sources: [town, home] });
after(() => edge.close());

const gapOf = (id: string): Gap => ({ id, fromMs: 0, reason: 'PAGE_CAP', final: false });
const post = createPost(town, 1);
await publish(edge, town, [post], { gaps: [gapOf('g1')], lateness: withSamples(undefined, [400, 100, 300, 200], 0) });
await publish(edge, home, [createPost(home, 2)], { gaps: [gapOf('g2')] });

const node = async (id: string, userId?: string) => {
  const query = 'query ($id: ID!) { node(id: $id) { __typename id } }';
  return dataOf(await edge.ask(query, { variables: { id }, ...(userId !== undefined && { userId }) })).node;
};

test('each node is found by its own id, and is of its type', async () => {
  const { forYou } = dataOf(await edge.ask('{ forYou { feed { id } } }', { userId: 'ann' }));
  const ids = {
    [post.id]: 'Post',
    'source:town': 'Source',
    'gap:g1': 'TimelineGap',
    'viewer:ann': 'Viewer',
    [forYou.feed.id]: 'FeedInstance',
  };
  for (const [id, __typename] of Object.entries(ids)) assert.deepEqual(await node(id, 'ann'), { __typename, id });
});

test("what is another viewer's is not there", async () => {
  const { forYou } = dataOf(await edge.ask('{ forYou { feed { id } } }', { userId: 'ann' }));
  for (const id of [forYou.feed.id, 'viewer:ann', 'source:home', 'gap:g2']) {
    assert.equal(await node(id, 'bob'), null, id);
    assert.equal(await node(id), null, id);
  }
});

test('ids that name nothing are null, however long or odd', async () => {
  const odd = [
    '',
    ':',
    'feed:',
    'source:',
    'post:1',
    '@',
    'a@',
    '@a',
    'author:1@town.example',
    `entry:town:${post.id}`,
    '\ud800',
    '%00',
    '__proto__',
  ];
  for (const id of [...odd, 'x'.repeat(90_000), `${'1'.repeat(80_000)}@town.example`]) {
    assert.equal(await node(id, 'ann'), null, id.slice(0, 30));
    const { post: none } = dataOf(await edge.ask('query ($id: ID!) { post(id: $id) { id } }', { variables: { id } }));
    assert.equal(none, null, id.slice(0, 30));
  }
});

test('posts answer in the order asked, with null for what is not there', async () => {
  const ids = [post.id, 'nothing', post.id, '1@town.example'];
  const query = 'query ($ids: [ID!]!) { posts(ids: $ids) { id } }';
  const { posts } = dataOf(await edge.ask(query, { variables: { ids } }));
  assert.deepEqual(posts, [{ id: post.id }, null, { id: post.id }, null]);
  for (const count of [0, 101]) {
    const answer = await edge.ask(query, { variables: { ids: Array(count).fill(post.id) } });
    assert.deepEqual(codesOf(answer), ['BAD_USER_INPUT ids']);
  }
});

test('a source tells how late its posts come, as the upper bound of the bucket at that rank', async () => {
  const query = '{ sources { id lateness { samples p50Ms p99Ms maxMs } counts { posts requests } } }';
  const { sources } = dataOf(await edge.ask(query, { userId: 'ann' }));
  // 200 ms lies in the bucket from 2^(30/4) to 2^(31/4) ms.
  const upperBoundMs = Math.ceil(2 ** (31 / 4));
  assert.deepEqual(sources, [
    {
      id: 'source:town',
      lateness: { samples: 4, p50Ms: upperBoundMs, p99Ms: 400, maxMs: 400 },
      counts: { posts: 1, requests: 1 },
    },
    {
      id: 'source:home',
      lateness: { samples: 0, p50Ms: null, p99Ms: null, maxMs: null },
      counts: { posts: 1, requests: 1 },
    },
  ]);
});

test('what was counted since the last commit is told with it', async () => {
  await edge.store.timelines.writeStatus(town.logId, {
    state: 'OK',
    overlapMs: 1000,
    uncommitted: { requests: 4, duplicatesDropped: 3 },
    problems: [],
  });
  const { sources } = dataOf(await edge.ask('{ sources { id counts { requests duplicatesDropped } } }'));
  assert.deepEqual(sources[0], { id: 'source:town', counts: { requests: 5, duplicatesDropped: 3 } });
});

test('a source tells what its loop last wrote, in numbers that GraphQL can hold', async () => {
  await edge.store.timelines.writeStatus(town.logId, {
    state: 'WAITING',
    overlapMs: 1500.6,
    lastPolledAtMs: 0,
    nextPollAtMs: 1e18,
    software: 'mastodon 4.3.1',
    rateLimit: { limit: 1e12, remaining: -1e12, resetAtMs: 1e300 },
    problems: [],
  });
  const query =
    '{ node(id: "source:town") { ... on Source { state overlapMs lastPolledAt nextPollAt software rateLimit { limit remaining resetAt } } } }';
  assert.deepEqual(dataOf(await edge.ask(query)).node, {
    state: 'WAITING',
    overlapMs: 1501,
    lastPolledAt: '1970-01-01T00:00:00.000Z',
    nextPollAt: '9999-12-31T23:59:59.999Z',
    software: 'mastodon 4.3.1',
    rateLimit: { limit: 2147483647, remaining: -2147483647, resetAt: '9999-12-31T23:59:59.999Z' },
  });
});
