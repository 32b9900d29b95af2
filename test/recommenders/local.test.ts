import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Author, Post } from '../../src/post.ts';
import { localRecommender } from '../../src/recommenders/local.ts';
import type { RecommendRequest } from '../../src/recommenders/recommender.ts';
import { post, START_MS } from '../feed/fixture.ts';
import { countSteps } from '../upstreams/count-steps.ts';

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

test('fewer items are the beginning of more, whatever their scores and authors are', async () => {
  const some = fc.record({ by: fc.nat(3), likes: fc.nat(200), hoursAgo: fc.nat(47) });
  await fc.assert(
    fc.asyncProperty(fc.array(some, { maxLength: 60 }), fc.integer({ min: 1, max: 10 }), async (list, limit) => {
      const all = list.map(({ by, likes, hoursAgo }, index) =>
        post({
          id: `${index}@town.example`,
          counts: { likes },
          createdAtMs: START_MS - hoursAgo * HOUR_MS,
          author: by === 0 ? undefined : author(`a${by}`),
        }),
      );
      assert.deepEqual(await rank(all, { limit }), (await rank(all)).slice(0, limit));
    }),
  );
});

test('without authors the order is that of the scores, each at most 15 % off', async () => {
  const likes = fc.array(fc.nat(100_000), { minLength: 1, maxLength: 100 });
  await fc.assert(
    fc.asyncProperty(likes, fc.string(), async (counts, seed) => {
      const all = counts.map((each, index) => post({ id: `${index}@town.example`, counts: { likes: each } }));
      const scores = (await rank(all, { seed, limit: 7 })).map(
        ({ postId }) => 4 + Math.log1p(counts[Number.parseInt(postId, 10)] ?? 0),
      );
      const best = Math.max(...counts.map((each) => 4 + Math.log1p(each)));
      assert.ok((scores[0] ?? 0) * 1.15 >= best * 0.85);
      for (const [at, score] of scores.entries())
        assert.ok(scores.slice(at + 1).every((later) => later * 0.85 <= score * 1.15));
    }),
  );
});

test('of candidates that are a part of a pool, only their stories come', async () => {
  const pool = [post({ id: '1@town.example' }), post({ id: '2@town.example' }), post({ id: '3@town.example' })].map(
    (one) => ({ post: one, sortAtMs: one.createdAtMs }),
  );
  const candidates = pool.slice(1);
  assert.deepEqual(ids(await rank([], { pool, candidates })).toSorted(), ['2@town.example', '3@town.example']);
});

test('what the feeds of one pool have in common is computed once', async () => {
  const counts = (index: number) => ({ likes: index % 97 });
  const all = Array.from({ length: 5_000 }, (_, index) =>
    post({ id: `${index}@town.example`, counts: counts(index), author: author(`a${index % 300}`) }),
  );
  const candidates = all.map((one) => ({ post: one, sortAtMs: one.createdAtMs }));
  const steps = (seed: string) => countSteps(() => rank([], { candidates, limit: 500, seed }), ['/recommenders/local']);
  const first = await steps('a');
  const second = await steps('b');
  assert.ok(second * 5 <= first, `${second} steps after ${first}`);
});

test('while a pool is looked at for the first time others have their turns', async () => {
  const all = Array.from({ length: 5_000 }, (_, index) => post({ id: `${index}@town.example` }));
  let turns = 0;
  let counting = setImmediate(function count() {
    turns += 1;
    counting = setImmediate(count);
  });
  await rank(all);
  clearImmediate(counting);
  assert.ok(turns >= 15, `others had ${turns} turns meanwhile`);
});
