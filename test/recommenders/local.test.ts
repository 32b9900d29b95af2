import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Author, Post } from '../../src/post.ts';
import { localRecommender } from '../../src/recommenders/local.ts';
import type { RecommendRequest } from '../../src/recommenders/recommender.ts';
import { post, START_MS } from '../feed/fixture.ts';

const HOUR_MS = 3_600_000;

function author(id: string): Author {
  return { id: `author:${id}@town.example`, upstreamId: id, handle: id, name: id, bot: false, emojis: [] };
}

function rank(all: readonly Post[], overrides: Partial<RecommendRequest> = {}) {
  const candidates = all.map((one) => ({ post: one, sortAtMs: one.createdAtMs }));
  const request = { userId: 'ann', limit: 100, candidates, exclude: [], seed: 'seed', nowMs: START_MS };
  return localRecommender.recommend({ ...request, ...overrides });
}

const ids = (items: readonly { postId: string }[]) => items.map(({ postId }) => postId);

test('of posts of one age the one with more boosts comes first', async () => {
  const quiet = post({ id: '1@town.example', counts: { reposts: 1 } });
  const loud = post({ id: '2@town.example', counts: { reposts: 40 } });
  assert.deepEqual(ids(await rank([quiet, loud])), ['2@town.example', '1@town.example']);
});

test('boosts, replies, quotes and likes all lift a post', async () => {
  for (const kind of ['reposts', 'replies', 'quotes', 'likes'] as const) {
    const lifted = post({ id: '2@town.example', counts: { [kind]: 1000 } });
    assert.deepEqual(ids(await rank([post(), lifted])), ['2@town.example', '1@town.example'], kind);
  }
});

test('a post loses half its weight in six hours', async () => {
  const old = post({ id: '1@town.example', counts: { reposts: 20 }, createdAtMs: START_MS - 12 * HOUR_MS });
  const fresh = post({ id: '2@town.example', counts: { reposts: 4 } });
  assert.deepEqual(ids(await rank([old, fresh])), ['2@town.example', '1@town.example']);
});

test('posts older than 48 h are left out', async () => {
  const old = post({ createdAtMs: START_MS - 48 * HOUR_MS - 1 });
  const borderline = post({ id: '2@town.example', createdAtMs: START_MS - 48 * HOUR_MS });
  assert.deepEqual(ids(await rank([old, borderline])), ['2@town.example']);
});

test('a repost counts for its original and is shown as it, once', async () => {
  const original = post({ id: '1@town.example', counts: {} });
  const reposts = ['8', '9'].map((id) =>
    post({ id: `${id}@town.example`, uri: `uri ${id}`, text: '', html: '', repostOf: original }),
  );
  const other = post({ id: '2@town.example' });
  const items = await rank([...reposts, other, original]);
  assert.deepEqual(ids(items).toSorted(), ['1@town.example', '2@town.example']);
  const item = items.find(({ postId }) => postId === '1@town.example');
  assert.equal(item?.canonicalId, original.uri);
  assert.deepEqual(item?.reason, { kind: 'POPULAR', text: 'Boosted 2 times' });
});

test('copies of a post on several servers are one story', async () => {
  const uri = 'https://town.example/1';
  const items = await rank([post({ id: '1@town.example', uri }), post({ id: '9@pond.example', uri })]);
  assert.equal(items.length, 1);
  assert.equal(items[0]?.canonicalId, uri);
});

test('excluded posts do not come, nor reposts of them', async () => {
  const repost = post({ id: '9@town.example', uri: 'uri 9', repostOf: post() });
  const other = post({ id: '2@town.example' });
  assert.deepEqual(ids(await rank([repost, other, post()], { exclude: ['1@town.example'] })), ['2@town.example']);
});

test('no author comes twice within three places while others are there', async () => {
  const all = Array.from({ length: 40 }, (_, index) =>
    post({ id: `${index}@town.example`, author: author(`a${index % 5}`), counts: { likes: 50 * (index % 5) } }),
  );
  const authors = (await rank(all)).map(({ postId }) => all.find(({ id }) => id === postId)?.author?.id);
  for (let at = 0; at < 30; at++) assert.equal(new Set(authors.slice(at, at + 4)).size, 4, `from place ${at}`);
});

test('one seed always gives one order, another seed another', async () => {
  const all = Array.from({ length: 30 }, (_, index) => post({ id: `${index}@town.example` }));
  assert.deepEqual(await rank(all), await rank(all));
  assert.notDeepEqual(ids(await rank(all)), ids(await rank(all, { seed: 'another' })));
});

test('every item says why it is there', async () => {
  const cats = ['1', '2', '3'].map((id) => post({ id: `${id}@town.example`, hashtags: ['Cats'] }));
  const popular = post({ id: '4@town.example', counts: { replies: 1234 } });
  const plain = post({ id: '5@town.example' });
  const reasons = new Map((await rank([...cats, popular, plain])).map(({ postId, reason }) => [postId, reason]));
  assert.deepEqual(reasons.get('1@town.example'), { kind: 'TOPIC', text: '#Cats' });
  assert.deepEqual(reasons.get('4@town.example'), { kind: 'POPULAR', text: '1200 replies' });
  assert.deepEqual(reasons.get('5@town.example'), { kind: 'RECENT', text: 'New' });
});

test('whatever upstreams count, at most `limit` distinct stories come, each with a short reason', async () => {
  const number = fc.oneof(fc.double(), fc.integer(), fc.constant(undefined));
  const counts = fc.record({ reposts: number, replies: number, quotes: number, likes: number });
  const some = fc.record({
    id: fc.nat(20).map((id) => `${id}@town.example`),
    counts,
    createdAtMs: fc.oneof(fc.constant(START_MS + HOUR_MS), fc.nat(START_MS)),
    hashtags: fc.array(fc.string({ maxLength: 200 }), { maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(some, { maxLength: 30 }), fc.nat(20), async (all, limit) => {
      const items = await rank(
        all.map((one) => post(one)),
        { limit },
      );
      assert(items.length <= limit);
      assert.equal(new Set(ids(items)).size, items.length);
      for (const { reason } of items) assert(reason && reason.text.length > 0 && reason.text.length <= 80);
    }),
  );
});

test('authors are spaced as if each place took the best post whose author none of the last 3, 2 or 1 places has', async () => {
  const letters = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', undefined), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(letters, async (authors) => {
      const all = authors.map((by, index) =>
        post({ id: `${index}@town.example`, author: by === undefined ? undefined : author(by) }),
      );
      // What is posted by nobody keeps its rank.
      const left = ids(await rank(all.map((one) => ({ ...one, author: undefined }))));
      const authorOf = (id: string) => authors[Number.parseInt(id, 10)];
      const expected: string[] = [];
      while (left.length > 0) {
        const fits = [3, 2, 1].map((gap) => {
          const recent = expected.slice(-gap).map(authorOf);
          return left.findIndex((id) => authorOf(id) === undefined || !recent.includes(authorOf(id)));
        });
        expected.push(...left.splice(Math.max(0, fits.find((at) => at >= 0) ?? 0), 1));
      }
      assert.deepEqual(ids(await rank(all)), expected);
    }),
  );
});
