import assert from 'node:assert/strict';
import test from 'node:test';
import { ConfigError } from '../../src/errors.ts';
import type { Post } from '../../src/post.ts';
import { createUpstream } from '../../src/upstreams/registry.ts';
import type { TwitterSpec, TwitterTimeline } from '../../src/upstreams/spec.ts';
import { createFixedHttp, createReplayHttp, NOW_MS, testClock } from './replay-http.ts';

/** The hand-written API 1.1: see test/recordings/twitter-v1. */
function bird(timeline: TwitterTimeline, own: Partial<TwitterSpec> = {}) {
  const http = createReplayHttp('twitter-v1');
  const all = {
    kind: 'twitter',
    api: '1.1',
    url: 'https://api.twitter.com/1.1',
    host: 'x.com',
    keepPrivate: true,
  } as const;
  return { http, upstream: createUpstream({ ...all, timeline, ...own }, { http, clock: testClock }) };
}

const T0_MS = Date.UTC(2026, 10, 20, 12);

/** An id of 12:00:00 plus `seconds`, as the recordings have them: `(ms - epoch) << 22 | 4101`. */
function idAt(seconds: number, below = 0n): string {
  return String(((BigInt(T0_MS + seconds * 1000 - 1288834974657) << 22n) | 4101n) - below);
}

const home = { type: 'home', userId: '4301' } as const;

async function postAt(seconds: number): Promise<Post> {
  const { posts } = await bird(home).upstream.readPage({});
  const post = posts.find(({ upstreamId }) => upstreamId === idAt(seconds));
  assert.ok(post, `no post of second ${seconds}`);
  return post;
}

test('home is read with exact ids; max_id is inclusive, so the walk goes on just below the last', async () => {
  const { upstream, http } = bird(home);
  const page = await upstream.readPage({});
  assert.deepEqual(
    page.ids,
    [100, 80, 70, 50, 20, 10].map((seconds) => idAt(seconds)),
  );
  assert.equal(page.next, idAt(10, 1n));
  assert.deepEqual(page.rateLimit, { limit: 15, remaining: 14, resetAtMs: T0_MS + 900_000 });
  assert.equal(page.serverDateMs, T0_MS);

  const older = await upstream.readPage({ next: page.next });
  assert.deepEqual(older.ids, [idAt(0), idAt(-5)]);
  const end = await upstream.readPage({ next: older.next });
  assert.deepEqual([end.posts, end.next], [[], undefined]);
  assert.match(http.asked[0] ?? '', /^\/1\.1\/statuses\/home_timeline\.json\?count=200&tweet_mode=extended/);
});

test('how many tweets a timeline shows is told', async () => {
  for (const [timeline, feedDepths] of [
    [home, [800]],
    [{ type: 'mentions', userId: '4301' }, [800]],
    [{ type: 'user', userId: '4301' }, [3200]],
    [{ type: 'list', id: '42' }, undefined],
  ] as const) {
    assert.deepEqual((await bird(timeline).upstream.describe()).feedDepths, feedDepths, timeline.type);
  }
});

test('the walk goes on below the lowest id, wherever on the page it is', async () => {
  const page = await bird(home).upstream.readPage({ limit: 3 });
  assert.deepEqual([page.ids[0], page.next], [idAt(20), idAt(10, 1n)]);
});

test('nothing is asked for below since_id: that would be an error', async () => {
  const http = createFixedHttp({ bodyText: JSON.stringify([{ id_str: idAt(10, -1n) }]) });
  const spec = { kind: 'twitter', api: '1.1', url: 'http://127.0.0.1:9200', host: 'x.com', keepPrivate: true } as const;
  const upstream = createUpstream({ ...spec, timeline: home }, { http, clock: testClock });
  assert.equal((await upstream.readPage({ sinceId: idAt(10) })).next, undefined);
  assert.equal((await upstream.readPage({ sinceId: idAt(10, 1n) })).next, idAt(10));
  assert.match(http.asked[0] ?? '', /^\/1\.1\/statuses/);
});

test('since_id 0 is left out', async () => {
  const { upstream, http } = bird(home);
  await upstream.readPage({ sinceId: '0' });
  assert.doesNotMatch(http.asked[0] ?? '', /since_id/);
  assert.deepEqual(
    (await upstream.readPage({ sinceId: idAt(20) })).ids,
    [100, 80, 70, 50].map((s) => idAt(s)),
  );
});

for (const [timeline, seconds] of [
  [{ type: 'user', userId: '4301' }, [10]],
  [{ type: 'list', id: '42' }, [50, 20]],
  [{ type: 'mentions', userId: '4301' }, [20]],
] as const) {
  test(`a ${timeline.type} timeline is read`, async () => {
    assert.deepEqual(
      (await bird(timeline).upstream.readPage({})).ids,
      seconds.map((s) => idAt(s)),
    );
  });
}

test('the limit of the app is told where it is the tighter one', async () => {
  const page = await bird({ type: 'user', userId: '4301' }).upstream.readPage({});
  assert.deepEqual(page.rateLimit, { limit: 100_000, remaining: 3, resetAtMs: T0_MS + 86_400_000 });
});

test('there is no search', () => {
  assert.throws(() => bird({ type: 'search', query: 'x' }), ConfigError);
});

test('a tweet has its words unescaped, its links spelled out, its author and tags', async () => {
  const post = await postAt(10);
  assert.equal(post.text, 'Tea & toast <3 https://toast.example/how?a=1&b=2 #morning @heron_news');
  assert.equal(post.url, `https://x.com/wren_sings/status/${idAt(10)}`);
  assert.equal(post.uri, `https://x.com/i/status/${idAt(10)}`, 'as API 2 names it');
  assert.deepEqual([post.author?.handle, post.author?.upstreamId], ['wren_sings', '4301']);
  assert.deepEqual(post.hashtags, ['morning']);
  assert.deepEqual(post.mentions[0]?.authorId, 'author:4303@x.com');
  assert.deepEqual(post.counts, { replies: undefined, reposts: 1, likes: 3, quotes: undefined });
  assert.equal(post.createdAtMs, T0_MS + 10_000);
});

test('retweets, quotes and replies point at what they are about', async () => {
  const retweet = await postAt(70);
  assert.deepEqual([retweet.text, retweet.repostOf?.upstreamId], ['', idAt(10)]);
  assert.equal((await postAt(80)).quoted?.upstreamId, idAt(10));
  assert.equal((await postAt(20)).inReplyToId, `${idAt(10)}@x.com`);
});

test('all pictures come from the extended entities, without the link to them', async () => {
  const post = await postAt(50);
  assert.deepEqual([post.text, post.html, post.sensitive], ['Pictures', '<p>Pictures</p>', true]);
  const [photo, video, gif] = post.media;
  assert.deepEqual([photo?.kind, photo?.alt, photo?.width, photo?.height], ['IMAGE', 'A heron, standing', 1252, 626]);
  assert.deepEqual([video?.url, video?.durationMs], ['https://video.twimg.com/two-large.mp4', 12_040]);
  assert.deepEqual([gif?.kind, gif?.url], ['GIF', 'https://video.twimg.com/three.mp4']);
});

test('tweets of protected accounts are for followers', async () => {
  assert.equal((await postAt(100)).visibility, 'FOLLOWERS');
  const page = await bird(home, { keepPrivate: false }).upstream.readPage({});
  assert.deepEqual([page.ids.length, page.posts.length], [6, 5]);
});

test('tweets are looked up by id; what is missing is gone', async () => {
  const { posts, gone, failed } = await bird(home).upstream.fetchPosts([idAt(10), idAt(500), 'abc']);
  assert.deepEqual([[...posts.keys()], gone, failed.size], [[idAt(10)], [idAt(500), 'abc'], 0]);
});

for (const [name, list, code] of [
  ['code 88', '88', 'RATE_LIMITED'],
  ['code 88 with status 200', '880', 'RATE_LIMITED'],
  ['code 89', '89', 'UNAUTHORIZED'],
  ['code 89 with status 403', '890', 'UNAUTHORIZED'],
  ['code 32', '32', 'UNAUTHORIZED'],
  ['code 34', '34', 'GONE'],
  ['code 144', '144', 'GONE'],
  ['code 130', '503', 'UNAVAILABLE'],
  ['an error without a code, of status 401', '401', 'UNAUTHORIZED'],
] as const) {
  test(`${name} is ${code}, in whatever language`, async () => {
    await assert.rejects(bird({ type: 'list', id: list }).upstream.readPage({}), { code });
  });
}

test('a spent limit is retried at its reset, also with status 200', async () => {
  const reading = bird({ type: 'list', id: '880' }).upstream.readPage({});
  // The reset lies 900 s after the reply's `date`, whatever the local clock says.
  await assert.rejects(reading, { retryAtMs: NOW_MS + 900_000, status: 200 });
});
