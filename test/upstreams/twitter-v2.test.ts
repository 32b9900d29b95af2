import assert from 'node:assert/strict';
import test from 'node:test';
import { UpstreamError } from '../../src/errors.ts';
import type { Post } from '../../src/post.ts';
import { createUpstream } from '../../src/upstreams/registry.ts';
import type { TwitterSpec, TwitterTimeline } from '../../src/upstreams/spec.ts';
import { createFixedHttp, createReplayHttp, NOW_MS, testClock } from './replay-http.ts';

/** The hand-written API 2: see test/recordings/twitter-v2. */
function bird(timeline: TwitterTimeline, own: Partial<TwitterSpec> = {}) {
  const http = createReplayHttp('twitter-v2');
  const all = { kind: 'twitter', api: '2', url: 'https://api.twitter.com', host: 'x.com', keepPrivate: true } as const;
  return { http, upstream: createUpstream({ ...all, timeline, ...own }, { http, clock: testClock }) };
}

const T0_MS = Date.UTC(2026, 10, 20, 12);

/** An id of 12:00:00 plus `seconds`, as the recordings have them: `(ms - epoch) << 22 | 4101`. */
function idAt(seconds: number): string {
  return String((BigInt(T0_MS + seconds * 1000 - 1288834974657) << 22n) | 4101n);
}

const home = { type: 'home', userId: '4301' } as const;
const search = { type: 'search', query: '#morning -is:retweet' } as const;

async function postAt(seconds: number): Promise<Post> {
  const { posts } = await bird(home).upstream.readPage({});
  const post = posts.find(({ upstreamId }) => upstreamId === idAt(seconds));
  assert.ok(post, `no post of second ${seconds}`);
  return post;
}

test('home is read from its newest tweet on, with a token for what is older', async () => {
  const { upstream, http } = bird(home);
  const page = await upstream.readPage({});
  assert.deepEqual(page.ids, [100, 90, 80, 70, 60, 50, 40, 20, 10].map(idAt));
  assert.deepEqual(
    page.posts.map(({ upstreamId }) => upstreamId),
    page.ids,
  );
  assert.deepEqual([page.partial, page.problems, page.serverDateMs], [false, [], T0_MS]);
  assert.deepEqual(page.rateLimit, { limit: 900, remaining: 899, resetAtMs: T0_MS + 900_000 });

  const older = await upstream.readPage({ next: page.next });
  assert.deepEqual([older.ids, older.next], [[0, -5].map(idAt), undefined]);
  assert.match(http.asked[1] ?? '', /max_results=100&pagination_token=7140dibdnow9c7btw481token1&tweet\.fields=/);
});

test('an empty page has no data, and is no error', async () => {
  const page = await bird(home).upstream.readPage({ sinceId: idAt(100) });
  assert.deepEqual([page.posts, page.ids, page.next, page.problems], [[], [], undefined, []]);
});

for (const [timeline, seconds] of [
  [{ type: 'user', userId: '4301' }, [90, 40, 10]],
  [{ type: 'mentions', userId: '4301' }, [20]],
  [{ type: 'list', id: '42' }, [50, 20, 10]],
  [search, [80, 10]],
] as const) {
  test(`a ${timeline.type} timeline is read`, async () => {
    assert.deepEqual((await bird(timeline).upstream.readPage({})).ids, seconds.map(idAt));
  });
}

test('since_id is sent as it is, but never 0 and never what is no tweet id', async () => {
  assert.deepEqual((await bird(home).upstream.readPage({ sinceId: idAt(60) })).ids, [100, 90, 80, 70].map(idAt));
  for (const sinceId of ['0', '01HZZZZZZZZZZZZZZZZZZZZZZZ', '-1', '9'.repeat(30)]) {
    const { upstream, http } = bird(home);
    await upstream.readPage({ sinceId });
    assert.doesNotMatch(http.asked[0] ?? '', /since_id/);
  }
});

test('a list has no since_id; a short page goes on all the same', async () => {
  const { upstream, http } = bird({ type: 'list', id: '42' });
  assert.equal((await upstream.describe()).sinceId, false);
  const first = await upstream.readPage({ sinceId: idAt(10) });
  const second = await upstream.readPage({ sinceId: idAt(10), next: first.next });
  assert.deepEqual([second.posts.length, second.next], [1, '7140listtoken2']);
  assert.ok(http.asked.every((path) => !path.includes('since_id')));
});

test('how far back a timeline goes is told: a count, or for a search its days', async () => {
  for (const [timeline, feedDepths, feedMs] of [
    [home, [800], undefined],
    [{ type: 'mentions', userId: '4301' }, [800], undefined],
    [{ type: 'user', userId: '4301' }, [3200], undefined],
    [{ type: 'list', id: '42' }, undefined, undefined],
    [search, undefined, 7 * 86_400_000],
  ] as const) {
    const description = await bird(timeline).upstream.describe();
    assert.deepEqual([description.feedDepths, description.feedMs], [feedDepths, feedMs], timeline.type);
  }
});

test('each endpoint gets a page size that it takes', async () => {
  for (const [timeline, limit, sent] of [
    [home, 1, '5'],
    [home, 500, '100'],
    [{ type: 'list', id: '42' }, 1, '1'],
    [search, 3, '10'],
  ] as const) {
    const http = createFixedHttp({ bodyText: '{"meta":{"result_count":0}}' });
    const spec = { kind: 'twitter', url: 'http://127.0.0.1:9/2', host: 'x.com', keepPrivate: true, timeline } as const;
    await createUpstream(spec, { http, clock: testClock }).readPage({ limit });
    assert.match(http.asked[0] ?? '', new RegExp(`^/2/.*max_results=${sent}&`));
  }
});

test('a search walks on with next_token', async () => {
  const { upstream, http } = bird(search);
  const first = await upstream.readPage({});
  assert.deepEqual((await upstream.readPage({ next: first.next })).ids, [idAt(-60)]);
  assert.match(http.asked[1] ?? '', /query=#morning\+-is:retweet&.*next_token=b26v89c19zqg8o3f/);
});

test('a search that refuses an old since_id is asked once more with the smallest legal one, and says so', async () => {
  const { upstream, http } = bird(search);
  const page = await upstream.readPage({ sinceId: '1300000000000000000' });
  assert.deepEqual(page.ids, [80, 10].map(idAt));
  assert.deepEqual(page.problems, [
    { code: 'UNAVAILABLE', message: `the search holds nothing before id ${idAt(-7 * 86_400)}` },
  ]);
  assert.equal(page.partial, false, 'the watermark may move on');
  assert.equal(http.asked.length, 2);
});

test('a 400 that names no other since_id is MALFORMED', async () => {
  for (const body of [
    '',
    '{}',
    '{"errors":[{"parameters":{"query":["x"]},"message":"1999999999999999999"}]}',
    '{"errors":[{"parameters":{"since_id":["x"]},"message":"too old"}]}',
    '{"errors":[{"parameters":{"since_id":["x"]},"message":"1300000000000000000"}]}',
  ]) {
    const http = createFixedHttp({ status: 400, bodyText: body });
    const spec = { kind: 'twitter', url: 'https://api.twitter.com', host: 'x.com', keepPrivate: true } as const;
    const upstream = createUpstream({ ...spec, timeline: search }, { http, clock: testClock });
    await assert.rejects(upstream.readPage({ sinceId: '1300000000000000000' }), { code: 'MALFORMED', status: 400 });
    assert.equal(http.asked.length, 1);
  }
});

test('a tweet has its words unescaped, its links spelled out, its author, tags and card', async () => {
  const post = await postAt(10);
  assert.equal(post.text, 'Tea & toast <3 https://toast.example/how?a=1&b=2 #morning @heron_news');
  assert.equal(
    post.html,
    '<p>Tea &amp; toast &lt;3 <a href="https://toast.example/how?a=1&amp;b=2" rel="nofollow noopener noreferrer" target="_blank">toast.example/how</a> #morning @heron_news</p>',
  );
  assert.deepEqual([post.id, post.network, post.idScheme], [`${idAt(10)}@x.com`, 'twitter', 'twitter']);
  assert.equal(post.url, `https://x.com/wren_sings/status/${idAt(10)}`);
  assert.equal(post.uri, `https://x.com/i/status/${idAt(10)}`);
  assert.deepEqual(post.author, {
    id: 'author:4301@x.com',
    upstreamId: '4301',
    handle: 'wren_sings',
    name: 'Wren',
    url: 'https://x.com/wren_sings',
    avatarUrl: 'https://pbs.twimg.com/profile_images/1/wren.jpg',
    bot: false,
    emojis: [],
  });
  assert.deepEqual(
    [post.hashtags, post.mentions],
    [['morning'], [{ handle: 'heron_news', url: 'https://x.com/heron_news', authorId: 'author:4303@x.com' }]],
  );
  assert.deepEqual(post.card, {
    url: 'https://toast.example/how?a=1&b=2',
    title: 'How to toast',
    description: 'Slowly',
    imageUrl: 'https://pbs.twimg.com/news_img/1/toast.jpg',
  });
  assert.deepEqual(post.counts, { replies: 2, reposts: 1, likes: 3, quotes: 0 });
  assert.equal(post.createdAtMs, T0_MS + 10_000);
});

test('a tweet whose history holds itself alone is told as unedited', async () => {
  const post = await postAt(10);
  assert.deepEqual([post.editedAtMs, post.tellsEdits], [undefined, true]);
});

test('an edited tweet keeps the post id and the time of its first version', async () => {
  const post = await postAt(40);
  assert.equal(post.id, `${idAt(30)}@x.com`);
  assert.equal(post.upstreamId, idAt(40));
  assert.deepEqual([post.createdAtMs, post.editedAtMs], [T0_MS + 30_000, T0_MS + 40_000]);
  assert.equal(post.tellsEdits, true);
  assert.equal(post.uri, `https://x.com/i/status/${idAt(30)}`);
});

test('pictures, videos and GIFs come in the best form, without the link to them', async () => {
  const post = await postAt(50);
  assert.deepEqual([post.text, post.html], ['Pictures', '<p>Pictures</p>']);
  const [photo, video, gif] = post.media;
  assert.deepEqual([photo?.kind, photo?.alt, photo?.width], ['IMAGE', 'A heron, standing', 1200]);
  assert.deepEqual(
    [video?.kind, video?.url, video?.durationMs],
    ['VIDEO', 'https://video.twimg.com/two-large.mp4', 12_040],
  );
  assert.deepEqual([gif?.kind, gif?.url], ['GIF', 'https://video.twimg.com/three.mp4']);
});

test('a poll has its options in their order', async () => {
  assert.deepEqual((await postAt(60)).poll, {
    options: [
      { text: 'South', votes: 7 },
      { text: 'North', votes: 4 },
    ],
    multiple: false,
    endsAtMs: T0_MS + 86_460_000,
    closed: false,
    votes: 11,
  });
});

test('a retweet is an empty post around the tweet; a quote stands beside its words', async () => {
  const retweet = await postAt(70);
  assert.deepEqual([retweet.text, retweet.html, retweet.repostOf?.upstreamId], ['', '', idAt(10)]);
  const quote = await postAt(80);
  assert.deepEqual([quote.quoted?.upstreamId, quote.repostOf], [idAt(10), undefined]);
  assert.match(quote.text, /^Well said https:\/\/x\.com\/wren_sings/);
});

test('a long tweet comes whole', async () => {
  assert.equal((await postAt(90)).text, 'A long story begins here & ends with https://story.example/');
});

test('a reply names the tweet it answers', async () => {
  assert.equal((await postAt(20)).inReplyToId, `${idAt(10)}@x.com`);
});

test('tweets of protected accounts are for followers', async () => {
  assert.equal((await postAt(100)).visibility, 'FOLLOWERS');
  const page = await bird(home, { keepPrivate: false }).upstream.readPage({});
  assert.equal(page.ids[0], idAt(100));
  assert.equal(page.posts[0]?.upstreamId, idAt(90));
});

test('a missing include is a missing author or tweet, told as a problem, not a partial page', async () => {
  const page = await bird({ type: 'user', userId: '4303' }).upstream.readPage({});
  const [retweet, quote] = page.posts;
  assert.deepEqual([retweet?.author, retweet?.repostOf, quote?.quoted], [undefined, undefined, undefined]);
  assert.equal(retweet?.url, `https://x.com/i/status/${idAt(70)}`);
  assert.equal(retweet?.text, 'RT @wren_sings: Tea & toast', 'what there is, is shown');
  assert.equal(page.partial, false);
  assert.deepEqual(page.problems, [
    { code: 'GONE', message: 'a tweet that the page refers to is missing: resource-not-found' },
  ]);
});

test('an error about the page itself makes it partial', async () => {
  const page = await bird({ type: 'user', userId: '4304' }).upstream.readPage({});
  assert.deepEqual([page.partial, page.posts.length, page.problems[0]?.code], [true, 1, 'UNAVAILABLE']);
});

test('status 200 with errors alone is an error', async () => {
  await assert.rejects(bird({ type: 'user', userId: '999' }).upstream.readPage({}), { code: 'GONE' });
  await assert.rejects(bird({ type: 'user', userId: '4302' }).upstream.readPage({}), { code: 'FORBIDDEN' });
});

test('tweets are fetched by id in one request, an edited one in its newest version', async () => {
  const { upstream, http } = bird(home);
  const ids = [idAt(10), idAt(30), idAt(500), idAt(501), 'no-tweet'];
  const { posts, gone, failed } = await upstream.fetchPosts(ids);
  assert.deepEqual([...posts.keys()], [idAt(10), idAt(30)]);
  assert.equal(posts.get(idAt(30))?.text, 'Gone for a walk, the long way');
  assert.equal(posts.get(idAt(30))?.id, `${idAt(30)}@x.com`);
  assert.deepEqual(gone, [idAt(500), 'no-tweet']);
  assert.deepEqual(
    [...failed],
    [[idAt(501), { code: 'FORBIDDEN', message: `tweet ${idAt(501)} was not in the reply` }]],
  );
  assert.equal(http.asked.length, 2, 'one more for the newest version');
});

test('ids of which none is there are gone, and no ids cost no request', async () => {
  const { upstream, http } = bird(home);
  assert.deepEqual((await upstream.fetchPosts([idAt(500)])).gone, [idAt(500)]);
  const nothing = await upstream.fetchPosts([]);
  assert.deepEqual([nothing.posts.size, nothing.sentAtMs, http.asked.length], [0, NOW_MS, 1]);
});

for (const [list, code] of [
  ['401', 'UNAUTHORIZED'],
  ['403', 'FORBIDDEN'],
  ['404', 'GONE'],
  ['429', 'RATE_LIMITED'],
  ['503', 'UNAVAILABLE'],
] as const) {
  test(`status ${list} is ${code}`, async () => {
    const reading = bird({ type: 'list', id: list }).upstream.readPage({});
    await assert.rejects(reading, (error) => error instanceof UpstreamError && error.code === code);
  });
}

test('a 429 tells when to go on: at the reset, in a minute where some is left, tomorrow for the app', async () => {
  const retryAt = (id: string) =>
    bird({ type: 'list', id })
      .upstream.readPage({})
      .catch(({ retryAtMs }) => retryAtMs);
  // Resets are told in the time of the reply's `date`, T0_MS.
  assert.equal(await retryAt('429'), NOW_MS + 900_000);
  assert.equal(await retryAt('4290'), NOW_MS + 60_000);
  assert.equal(await retryAt('4291'), NOW_MS + 40_000_000);
});

test('no message holds what is searched for, nor the token', async () => {
  const http = createFixedHttp({ status: 503, bodyText: '' });
  const spec = { kind: 'twitter', url: 'https://api.twitter.com', host: 'x.com', keepPrivate: true } as const;
  const upstream = createUpstream({ ...spec, timeline: search, token: 'very-secret' }, { http, clock: testClock });
  await assert.rejects(upstream.readPage({}), {
    message: 'GET https://api.twitter.com/2/tweets/search/recent answered 503',
  });
});

test('a tweet whose author the reply may not show is for followers', async () => {
  const error = {
    resource_type: 'user',
    resource_id: '7',
    type: 'x/not-authorized-for-resource',
    parameter: 'author_id',
  };
  const bodyText = JSON.stringify({ data: [{ id: idAt(1), text: 'hush', author_id: '7' }], errors: [error], meta: {} });
  const http = createFixedHttp({ bodyText });
  const spec = { kind: 'twitter', url: 'https://api.twitter.com', host: 'x.com', timeline: home } as const;
  const read = (keepPrivate: boolean) =>
    createUpstream({ ...spec, keepPrivate }, { http, clock: testClock }).readPage({});
  assert.equal((await read(true)).posts[0]?.visibility, 'FOLLOWERS');
  const { posts, ids, partial } = await read(false);
  assert.deepEqual([posts, ids, partial], [[], [idAt(1)], false]);
});

test('what an error beside the posts calls itself is repeated only where it is known', async () => {
  const say = 'Visit evil.example \u202e';
  const errors = [
    { resource_type: say, type: `https://api.twitter.com/2/problems/${say}` },
    { resource_type: 'user', type: 'https://api.twitter.com/2/problems/constructor' },
  ];
  const http = createFixedHttp({ bodyText: JSON.stringify({ data: [], meta: {}, errors }) });
  const spec = { kind: 'twitter', url: 'https://api.twitter.com', host: 'x.com', keepPrivate: true } as const;
  const { problems } = await createUpstream({ ...spec, timeline: search }, { http, clock: testClock }).readPage({});
  assert.deepEqual(
    problems.map(({ message }) => message),
    [
      'a part of the page is missing: no known reason given',
      'a user that the page refers to is missing: no known reason given',
    ],
  );
});
