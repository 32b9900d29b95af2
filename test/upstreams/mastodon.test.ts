import assert from 'node:assert/strict';
import test from 'node:test';
import { operatorMessage, UpstreamError } from '../../src/errors.ts';
import type { Post } from '../../src/post.ts';
import type { HttpClient } from '../../src/upstreams/http.ts';
import { createUpstream } from '../../src/upstreams/registry.ts';
import type { MastodonSpec } from '../../src/upstreams/spec.ts';
import type { Upstream } from '../../src/upstreams/upstream.ts';
import { createFixedHttp, createReplayHttp, NOW_MS, testClock } from './replay-http.ts';

/** The hand-written Mastodon 4.5: see test/recordings/mastodon. */
function town(timeline: MastodonSpec['timeline'], spec: Partial<MastodonSpec> = {}) {
  const http = createReplayHttp('mastodon');
  const all = { kind: 'mastodon', url: 'https://town.example', host: 'town.example', keepPrivate: true } as const;
  const upstream = createUpstream({ ...all, timeline, ...spec }, { http, clock: testClock });
  return { http, upstream };
}

/** An id of 12:00:00 plus `seconds`, as the recordings have them: `(ms << 16) | 7`. */
function idAt(seconds: number): string {
  return String((BigInt(Date.UTC(2026, 10, 20, 12) + seconds * 1000) << 16n) | 7n);
}

async function postAt(upstream: Upstream, seconds: number): Promise<Post> {
  const { posts } = await upstream.readPage({});
  const post = posts.find(({ upstreamId }) => upstreamId === idAt(seconds));
  assert.ok(post, `no post of second ${seconds}`);
  return post;
}

const home = { type: 'home' } as const;

test('home is read from its newest post on, with the way to what is older', async () => {
  const page = await town(home).upstream.readPage({});

  assert.equal(page.posts.length, 11);
  assert.deepEqual(page.ids, [110, 100, 90, 80, 70, 60, 50, 40, 30, 20, 10].map(idAt));
  assert.equal(page.next, idAt(10));
  assert.equal(page.partial, false);
  assert.equal(page.sentAtMs, NOW_MS);
  assert.equal(page.serverDateMs, undefined, 'a bare Mastodon sends no Date');
  const resetAtMs = Date.parse('2026-11-20T12:10:00.979Z');
  assert.deepEqual(page.rateLimit, { limit: 300, remaining: 299, resetAtMs });
});

test('a walk follows next until a page is empty', async () => {
  const { upstream, http } = town(home);
  const second = await upstream.readPage({ next: idAt(10) });
  const third = await upstream.readPage({ next: second.next });

  assert.deepEqual(second.ids, [0, -10, -20].map(idAt));
  assert.deepEqual([third.ids, third.next], [[], undefined]);
  assert.deepEqual(
    http.asked.filter((path) => path.includes('home')),
    [`/api/v1/timelines/home?limit=40&max_id=${idAt(10)}`, `/api/v1/timelines/home?limit=40&max_id=${idAt(-20)}`],
  );
});

test('since_id gives what is newer, and an empty page when nothing is', async () => {
  const { upstream } = town(home);
  assert.deepEqual((await upstream.readPage({ sinceId: idAt(50) })).ids, [110, 100, 90, 80, 70, 60].map(idAt));
  const nothing = await upstream.readPage({ sinceId: idAt(110) });
  assert.deepEqual([nothing.posts, nothing.next, nothing.partial], [[], undefined, false]);
});

test('since_id and max_id go together on the pages of a walk', async () => {
  const http = createFixedHttp({ bodyText: '[]' });
  const spec = { kind: 'mastodon', url: 'https://town.example/', host: 'town.example', keepPrivate: true } as const;
  const upstream = createUpstream({ ...spec, timeline: home }, { http, clock: testClock });
  await upstream.readPage({ sinceId: '5', next: '9', limit: 0 });
  assert.equal(http.asked[0], '/api/v1/timelines/home?limit=1&since_id=5&max_id=9');
});

test('a home that is being rebuilt gives a partial page', async () => {
  const page = await town(home).upstream.readPage({ limit: 3 });
  assert.deepEqual([page.partial, page.posts.length], [true, 3]);
});

for (const [name, timeline, seconds] of [
  ['the public timeline of this server', { type: 'public', only: 'local' }, [80, 70, 50, 30, 20, 10]],
  ['the public timeline of other servers', { type: 'public', only: 'remote' }, [40]],
  ['a tag, with or without #', { type: 'tag', tag: '#gardening' }, [10]],
  ['a list', { type: 'list', id: '12' }, [40, 30, 10]],
  ['an account', { type: 'account', id: '109000000000000001' }, [110, 70, 30, 10]],
] as const) {
  test(`${name} is read`, async () => {
    assert.deepEqual((await town(timeline).upstream.readPage({})).ids, seconds.map(idAt));
  });
}

test('a post carries its author, words, tags, counts and ids', async () => {
  const post = await postAt(town(home).upstream, 10);
  assert.equal(post.id, `${idAt(10)}@town.example`);
  assert.deepEqual([post.network, post.idScheme, post.visibility], ['mastodon', 'mastodon', 'PUBLIC']);
  assert.equal(post.uri, `https://town.example/ap/users/1/statuses/${idAt(10)}`);
  assert.deepEqual(post.author, {
    id: 'author:109000000000000001@town.example',
    upstreamId: '109000000000000001',
    handle: 'ivy',
    name: 'Ivy :seed:',
    url: 'https://town.example/@ivy',
    avatarUrl: 'https://town.example/avatars/ivy.png',
    bot: false,
    emojis: [{ shortcode: 'seed', url: 'https://town.example/emoji/seed.png' }],
  });
  assert.equal(post.text, 'First frost on the beans. #gardening');
  assert.match(
    post.html,
    /^<p>First frost .*class="mention hashtag" rel="nofollow noopener noreferrer" target="_blank"/,
  );
  assert.deepEqual(post.hashtags, ['gardening']);
  assert.deepEqual(post.counts, { replies: 2, reposts: 1, likes: 5, quotes: 0 });
  assert.equal(post.createdAtMs, Date.parse('2026-11-20T12:00:10.123Z'));
});

test('a reply names what it answers and whom it mentions', async () => {
  const post = await postAt(town(home).upstream, 20);
  assert.equal(post.inReplyToId, `${idAt(10)}@town.example`);
  assert.deepEqual(post.mentions, [
    { handle: 'ivy', url: 'https://town.example/@ivy', authorId: 'author:109000000000000001@town.example' },
  ]);
});

test('an edited post has its edit time, the whole URL in its text, and a card', async () => {
  const post = await postAt(town(home).upstream, 30);
  assert.equal(post.editedAtMs, Date.parse('2026-11-20T12:01:30.123Z'));
  assert.equal(post.text, 'Second try:\nthe link is https://beans.example/a/long/path/to/the/guide\n\nSorry.');
  assert.deepEqual(post.card, {
    url: 'https://beans.example/a/long/path/to/the/guide',
    title: 'Beans in winter',
    description: 'What to do in November',
    imageUrl: 'https://town.example/cards/beans.png',
  });
});

test('media have kind, size, duration and description; one without any URL is left out', async () => {
  const post = await postAt(town(home).upstream, 40);
  assert.deepEqual([post.sensitive, post.spoilerText, post.author?.handle], [true, 'mushrooms', 'fern@wood.example']);
  const [image, gif, ...others] = post.media;
  assert.deepEqual(image, {
    kind: 'IMAGE',
    url: 'https://town.example/media/901.png',
    previewUrl: 'https://town.example/media/901-small.png',
    alt: 'A ring of mushrooms',
    width: 1200,
    height: 800,
    blurhash: 'UBL_:rOpGG-oBUNG,qRj2so|=eE1w^n4S5NH',
    durationMs: undefined,
  });
  assert.deepEqual([gif?.kind, gif?.durationMs, gif?.alt], ['GIF', 2500, undefined]);
  assert.deepEqual(others, []);
});

test('a poll has its options, votes and end', async () => {
  const post = await postAt(town(home).upstream, 50);
  assert.equal(post.author?.bot, true);
  assert.deepEqual(post.poll, {
    options: [
      { text: 'Saturday', votes: 3 },
      { text: 'Sunday', votes: 2 },
    ],
    multiple: true,
    endsAtMs: Date.parse('2026-11-21T12:00:50.123Z'),
    closed: false,
    votes: 5,
  });
});

test('a boost is an empty post around what it boosts, with a uri of its own', async () => {
  const post = await postAt(town(home).upstream, 60);
  assert.deepEqual([post.text, post.html, post.media.length], ['', '', 0]);
  assert.equal(post.repostOf?.upstreamId, idAt(40));
  assert.equal(post.repostOf?.media.length, 2);
  assert.notEqual(post.uri, post.repostOf?.uri);
});

test('a quote is shown once it is accepted', async () => {
  assert.equal((await postAt(town(home).upstream, 70)).quoted?.upstreamId, idAt(10));
  assert.equal((await postAt(town(home).upstream, 80)).quoted, undefined);
});

test('posts for followers and direct ones are kept only on demand, their ids are always told', async () => {
  const kept = await town(home).upstream.readPage({});
  assert.deepEqual(
    kept.posts.slice(0, 3).map(({ visibility }) => visibility),
    ['UNLISTED', 'DIRECT', 'FOLLOWERS'],
  );
  const dropped = await town(home, { keepPrivate: false }).upstream.readPage({});
  assert.deepEqual(dropped.ids, kept.ids);
  assert.deepEqual(
    dropped.posts.map(({ upstreamId }) => upstreamId),
    [110, 80, 70, 60, 50, 40, 30, 20, 10].map(idAt),
  );
  assert.deepEqual(dropped.problems, []);
});

test('Mastodon says what it is once, and a poll costs one request', async () => {
  const { upstream, http } = town(home);
  assert.deepEqual(await upstream.describe(), {
    software: 'mastodon 4.5.0',
    idScheme: 'mastodon',
    roundsIds: true,
    pageSize: 40,
    feedDepths: [400, 800],
    sinceId: true,
    before: true,
    bulk: 20,
    aliveById: true,
    throttles: [{ requests: 300, windowMs: 900_000, counts: 'pages' }],
  });
  await upstream.readPage({});
  await upstream.readPage({});
  await upstream.describe();
  assert.deepEqual(
    http.asked.map((path) => path.split('?')[0]),
    ['/api/v2/instance', '/api/v1/timelines/home', '/api/v1/timelines/home'],
  );
});

test('a 429 that tells a reset and no limit has it as its retry time', async () => {
  const resetAtMs = NOW_MS + 240_000;
  for (const reset of [new Date(resetAtMs).toISOString(), String(resetAtMs / 1000)]) {
    const http = createFixedHttp({ status: 429, headers: { 'x-ratelimit-reset': reset }, bodyText: '{}' });
    const spec = { kind: 'mastodon', url: 'https://town.example', host: 'town.example', keepPrivate: true } as const;
    const { readPage, fetchPosts } = createUpstream({ ...spec, timeline: home }, { http, clock: testClock });
    await assert.rejects(readPage({}), { code: 'RATE_LIMITED', retryAtMs: resetAtMs, guessed: false });
    const { failed } = await fetchPosts(['117020593473214477']);
    assert.deepEqual([...failed.values()][0]?.retryAtMs, resetAtMs);
  }
});

test('ids of public timelines are compared exactly', async () => {
  const description = await town({ type: 'public', only: 'local' }).upstream.describe();
  assert.deepEqual([description.roundsIds, description.feedDepths], [false, undefined]);
});

test('posts are fetched by id in bulk from 4.3 on; what is not there is gone', async () => {
  const { upstream, http } = town({ type: 'public', only: 'local' });
  const asked = [idAt(10), idAt(30), idAt(999), 'not-an-id', '01HZZZZZZZZZZZZZZZZZZZZZZZ'];
  const { posts, gone, failed } = await upstream.fetchPosts(asked);
  assert.deepEqual([...posts.keys()], [idAt(10), idAt(30)]);
  assert.deepEqual(gone, asked.slice(2));
  assert.equal(failed.size, 0);
  assert.equal(http.asked.filter((path) => path.includes('statuses')).length, 1);
});

for (const [list, code] of [
  ['401', 'UNAUTHORIZED'],
  ['403', 'FORBIDDEN'],
  ['404', 'GONE'],
  ['422', 'FORBIDDEN'],
  ['429', 'RATE_LIMITED'],
  ['503', 'UNAVAILABLE'],
  ['502', 'UNAVAILABLE'],
  ['200', 'UNAVAILABLE'],
  ['301', 'UNAVAILABLE'],
] as const) {
  test(`a reply of status ${list} is ${code}`, async () => {
    const reading = town({ type: 'list', id: list }, { token: 'very-secret' }).upstream.readPage({});
    await assert.rejects(reading, (error) => {
      assert.ok(error instanceof UpstreamError);
      assert.equal(error.code, code);
      assert.match(error.message, new RegExp(`^GET https://town.example/api/v1/timelines/list/${list} answered `));
      return true;
    });
  });
}

test('a 429 without Retry-After may be repeated when its throttle is reset', async () => {
  await assert.rejects(town({ type: 'list', id: '429' }).upstream.readPage({}), {
    retryAtMs: Date.parse('2026-11-20T12:10:00.979Z'),
    message: 'GET https://town.example/api/v1/timelines/list/429 answered 429, retry after 541 s',
  });
});

test('a server that moved is told with its new address to operators alone', async () => {
  await assert.rejects(town({ type: 'list', id: '301' }).upstream.readPage({}), (error) => {
    assert.ok(error instanceof UpstreamError);
    assert.match(operatorMessage(error), /set url to https:\/\/new\.example/);
    assert.doesNotMatch(error.message, /new\.example/);
    return true;
  });
});

test('a request without a recording fails by name', async () => {
  await assert.rejects(town({ type: 'list', id: '9999' }).upstream.readPage({}), {
    message: 'no recording for GET /api/v1/timelines/list/9999?limit=40 in mastodon/',
  });
});

/** An upstream whose every request gets this reply. */
function fixed(reply: { bodyText: string; headers?: Record<string, string> }) {
  const http = createFixedHttp(reply);
  const spec = { kind: 'mastodon', url: 'https://town.example/sub/', host: 'town.example', keepPrivate: true } as const;
  return { http, upstream: createUpstream({ ...spec, timeline: home }, { http, clock: testClock }) };
}

test('a server that does not know max_id ends the walk, not the patience', async () => {
  const { upstream } = fixed({ bodyText: JSON.stringify([{ id: '9' }, { id: '8' }]) });
  const first = await upstream.readPage({});
  assert.equal(first.next, '8');
  assert.equal((await upstream.readPage({ next: '8' })).next, undefined);
});

test('only the max_id of a Link is taken: its other host is never asked, its path not either', async () => {
  const link = '<https://evil.example/steal?max_id=77>; rel="next"';
  const { upstream, http } = fixed({ bodyText: JSON.stringify([{ id: '88' }]), headers: { link } });
  const { next } = await upstream.readPage({});
  await upstream.readPage({ next });
  assert.equal(next, '77');
  assert.equal(http.asked.at(-1), '/sub/api/v1/timelines/home?limit=40&max_id=77');
});

test('a server that answers a request by id with another post gives nothing', async () => {
  const { upstream } = fixed({ bodyText: '{"id":"2","created_at":"2026-11-20T12:00:00Z","visibility":"public"}' });
  const { posts, gone, failed } = await upstream.fetchPosts(['1', '2']);
  assert.deepEqual([[...posts.keys()], gone, failed.get('1')?.code], [['2'], [], 'MALFORMED']);
});

test('a post without any time of its own, on a server whose ids have none, has the time of its arrival', async () => {
  const { upstream } = fixed({ bodyText: JSON.stringify([{ id: 'abc123', visibility: 'public' }]) });
  const page = await upstream.readPage({});
  assert.deepEqual(page.problems, []);
  assert.deepEqual(
    page.posts.map(({ createdAtMs }) => createdAtMs),
    [page.sentAtMs],
  );
});

test('of posts that are more together than a reply may hold fewer are asked for, and none is lost', async () => {
  const content = 'x'.repeat(900);
  const ids = Array.from({ length: 300 }, (_, n) => idAt(600 - n));
  const limits: number[] = [];
  const http = createHttpClientOf((url) => {
    if (!url.pathname.endsWith('/home')) return undefined;
    const limit = Number(url.searchParams.get('limit'));
    limits.push(limit);
    const from = ids.indexOf(url.searchParams.get('max_id') ?? '') + 1;
    const page = ids.slice(from, from + limit).map((id) => ({ id, content, visibility: 'public' }));
    // The newest are long.
    const bytes = page.reduce((sum, { id }) => sum + (ids.indexOf(id) < 50 ? 1_000 : 1), 0);
    if (bytes > 4_000) throw new UpstreamError('MALFORMED', 'more than 4000 bytes', { isTooLarge: true });
    return JSON.stringify(page);
  });
  const upstream = createUpstream(
    { kind: 'mastodon', url: 'https://town.example', host: 'town.example', keepPrivate: true, timeline: home },
    { http, clock: testClock },
  );
  const read: string[] = [];
  let next: string | undefined;
  do {
    const page = await upstream.readPage({ next });
    read.push(...page.ids);
    next = page.next;
  } while (next !== undefined);
  assert.deepEqual(read, ids);
  assert.deepEqual(limits.slice(0, 3), [40, 5, 1]);
  assert.equal(limits.at(-1), 40, 'usual pages are asked for again');
});

test('a post that is more than a reply may hold by itself is told', async () => {
  const http = createHttpClientOf(() => {
    throw new UpstreamError('MALFORMED', 'more than 4000 bytes', { isTooLarge: true });
  });
  const upstream = createUpstream(
    { kind: 'mastodon', url: 'https://town.example', host: 'town.example', keepPrivate: true, timeline: home },
    { http, clock: testClock },
  );
  await assert.rejects(upstream.readPage({}), { code: 'MALFORMED' });
});

/** Answers with what `answer` returns as a body, 404 where it is undefined. */
function createHttpClientOf(answer: (url: URL) => string | undefined): HttpClient {
  return {
    async get({ url }) {
      const bodyText = answer(url);
      return { status: bodyText === undefined ? 404 : 200, headers: {}, bodyText: bodyText ?? '', sentAtMs: NOW_MS };
    },
    close: () => Promise.resolve(),
  };
}
