import assert from 'node:assert/strict';
import test from 'node:test';
import { UpstreamError } from '../../src/errors.ts';
import type { Post } from '../../src/post.ts';
import { createUpstream } from '../../src/upstreams/registry.ts';
import type { MastodonSpec, MastodonTimeline } from '../../src/upstreams/spec.ts';
import {
  createFixedHttp,
  createReplayHttp,
  type Recording,
  readRecordings,
  recordings,
  replyOf,
  testClock,
} from './replay-http.ts';

/** Three real servers that speak Mastodon's API, as recorded. */
const SERVERS = [
  { name: 'gotosocial', host: 'localhost:8803', software: 'gotosocial 0.19.2+git-90851fc', idScheme: 'ulid' },
  { name: 'hollo', host: '127.0.0.1:8802', software: 'hollo 0.10.0', idScheme: 'uuidv7' },
  { name: 'snac', host: '127.0.0.1:8801', software: 'snac 2.94', idScheme: 'opaque' },
] as const;

type Server = (typeof SERVERS)[number];

function open(server: Server, timeline: MastodonTimeline, own: Partial<MastodonSpec> = {}) {
  const http = createReplayHttp(server.name);
  const { host } = server;
  const all = { kind: 'mastodon', url: `http://${host}`, host, timeline, token: 'ada', keepPrivate: true } as const;
  const spec: MastodonSpec = { ...all, ...own };
  return { http, upstream: createUpstream(spec, { http, clock: testClock }) };
}

/** The recording whose file name ends with `-<name>.json`. */
function recorded(server: Server, name: string): Recording {
  const found = readRecordings(recordings(server.name)).find((one) => one.name.endsWith(`-${name}.json`));
  assert.ok(found, `no recording ${name} of ${server.name}`);
  return found;
}

function idsOf(recording: Recording): readonly string[] {
  return JSON.parse(recording.bodyText).map(({ id }: { id: string }) => id);
}

/** What the request of a recording asked for. */
function askedBy(recording: Recording): { id: string; sinceId: string | undefined; next: string | undefined } {
  const url = new URL(recording.request.path ?? '', 'http://localhost');
  const query = (name: string) => url.searchParams.get(name) ?? undefined;
  return { id: url.pathname.split('/')[4] ?? '', sinceId: query('since_id'), next: query('max_id') };
}

async function fetchOne(server: Server, name: string, own: Partial<MastodonSpec> = {}) {
  const { id } = askedBy(recorded(server, name));
  const fetched = await open(server, { type: 'home' }, own).upstream.fetchPosts([id]);
  return { id, fetched, post: fetched.posts.get(id) };
}

async function fetchPost(server: Server, name: string): Promise<Post> {
  const { post } = await fetchOne(server, name);
  assert.ok(post, `${name} gave no post`);
  return post;
}

/** One page that answers whatever is asked for. */
async function readFixed(server: Server, name: string) {
  const { host } = server;
  const spec = { kind: 'mastodon', url: `http://${host}`, host, keepPrivate: true } as const;
  const http = createFixedHttp(replyOf(recorded(server, name)));
  return createUpstream({ ...spec, timeline: { type: 'home' } }, { http, clock: testClock }).readPage({});
}

for (const server of SERVERS) {
  const { name } = server;

  test(`${name} says what it is`, async () => {
    const description = await open(server, { type: 'home' }).upstream.describe();
    assert.deepEqual([description.software, description.idScheme], [server.software, server.idScheme]);
    assert.deepEqual([description.roundsIds, description.bulk, description.throttles], [false, 1, []]);
    assert.equal(description.aliveById, name !== 'snac', 'snac answers for posts that were deleted');
  });

  for (const [kind, timeline, file] of [
    ['home', { type: 'home' }, 'home-limit5'],
    ['home since an id', { type: 'home' }, 'home-since-idx30-limit5'],
    ['home below an id', { type: 'home' }, 'home-max-idx10-limit5'],
    ['public', { type: 'public' }, 'public-limit5'],
    ['public since an id', { type: 'public' }, 'public-since-idx30-limit5'],
    ['tag since an id', { type: 'tag', tag: 'numbers' }, 'tag-since-idx30-limit5'],
    ['account since an id', { type: 'account' }, 'account-since-idx30-limit5'],
  ] as const) {
    test(`${name}: ${kind} is read in the server's order, with exact ids`, async () => {
      const recording = recorded(server, file);
      const { id, sinceId, next } = askedBy(recording);
      const { upstream } = open(server, timeline.type === 'account' ? { type: 'account', id } : timeline);
      const page = await upstream.readPage({ limit: 5, sinceId, next });
      assert.deepEqual(page.ids, idsOf(recording));
      assert.deepEqual(
        page.posts.map(({ upstreamId }) => upstreamId),
        page.ids,
      );
      assert.deepEqual(page.problems, []);
      assert.equal(page.next, page.ids.at(-1), 'older posts lie below the last one');
    });
  }

  test(`${name}: nothing new is an empty page without a way on`, async () => {
    const { sinceId } = askedBy(recorded(server, 'home-since-newest'));
    const page = await open(server, { type: 'home' }).upstream.readPage({ limit: 20, sinceId });
    assert.deepEqual([page.posts, page.ids, page.next], [[], [], undefined]);
  });

  test(`${name}: without a token home is UNAUTHORIZED`, async () => {
    const { upstream } = open(server, { type: 'home' }, { token: 'none' });
    const reading = upstream.readPage({ limit: 2 });
    await assert.rejects(reading, (error) => error instanceof UpstreamError && error.code === 'UNAUTHORIZED');
  });

  test(`${name}: an unknown post is gone`, async () => {
    const { id, fetched } = await fetchOne(server, 'status-bad-id');
    assert.deepEqual([fetched.gone, fetched.failed.size], [[id], 0]);
  });

  test(`${name}: a stranger gets no private post, whatever the server answers`, async () => {
    const { id, fetched } = await fetchOne(server, 'status-private-stranger', { token: 'none' });
    assert.equal(fetched.posts.size, 0);
    if (name === 'hollo') assert.deepEqual(fetched.gone, [id]);
    else assert.equal(fetched.failed.get(id)?.code, 'UNAUTHORIZED');
  });

  test(`${name}: visibilities are told, and private posts kept only on demand`, async () => {
    assert.equal((await fetchPost(server, 'status-unlisted')).visibility, 'UNLISTED');
    assert.equal((await fetchPost(server, 'status-private')).visibility, 'FOLLOWERS');
    assert.equal((await fetchPost(server, 'status-direct')).visibility, 'DIRECT');
    const { id, fetched } = await fetchOne(server, 'status-private', { keepPrivate: false });
    assert.deepEqual([[...fetched.posts], fetched.gone], [[], [id]]);
  });

  test(`${name}: three new posts come newest first`, async () => {
    const page = await readFixed(server, 'live-home-three-new');
    assert.equal(page.posts.length, 3);
    assert.deepEqual(page.ids, idsOf(recorded(server, 'live-home-three-new')));
  });
}

const [gotosocial, hollo, snac] = SERVERS;

test('GoToSocial: a tag that nobody used yet is an empty timeline; an unknown list is GONE', async () => {
  const { upstream } = open(gotosocial, { type: 'tag', tag: 'nosuchtag' });
  const { posts, ids, next, partial } = await upstream.readPage({});
  assert.deepEqual([posts, ids, next, partial], [[], [], undefined, false]);
  await assert.rejects(open(gotosocial, { type: 'list', id: '1' }).upstream.readPage({}), { code: 'GONE' });
});

test('GoToSocial: an edit has its time', async () => {
  const post = await fetchPost(gotosocial, 'status-edited');
  assert.equal(post.editedAtMs, Date.parse('2026-11-20T21:17:12.992Z'));
  assert.equal(post.text, 'This line was changed. #testing');
});

test('Hollo: an edit shows in the words alone', async () => {
  const post = await fetchPost(hollo, 'status-edited');
  assert.equal(post.editedAtMs, undefined);
  assert.match(post.text, /^This line was changed/);
});

test('snac: an edit changes the id, not the post id; the old id still finds it', async () => {
  const { id: asked, post } = await fetchOne(snac, 'status-edited');
  assert.equal(asked, '17952081091d15defd501aa3fc1cd57d67999e953e');
  assert.equal(post?.upstreamId, '17952082501d15defd501aa3fc1cd57d67999e953e');
  assert.equal(post?.id, '1d15defd501aa3fc1cd57d67999e953e@127.0.0.1:8801');
  assert.equal(post?.editedAtMs, Date.parse('2026-11-20T20:55:10Z'));
});

/** As snac shows an original that was boosted: in the original's place, its id in upper case, with a uri made up for the reader. */
function boosted(original: { id: string }, reader: string) {
  const uri = `http://127.0.0.1:8801/${reader}/d/${original.id}/Announce`;
  return { ...original, id: original.id.toUpperCase(), uri, url: uri, content: '', reblog: original };
}

function onSnac(body: unknown) {
  const { host } = snac;
  const spec = { kind: 'mastodon', url: `http://${host}`, host, idScheme: 'opaque', keepPrivate: true } as const;
  const http = createFixedHttp({ bodyText: JSON.stringify(body) });
  return createUpstream({ ...spec, timeline: { type: 'public' } }, { http, clock: testClock });
}

test('snac: a boost has one uri for all readers, and over edits of what it boosts', async () => {
  const original = JSON.parse(recorded(snac, 'status-edited').bodyText);
  const older = { ...original, id: `1795208109${original.id.slice(10)}` };
  const page = await onSnac([boosted(original, 'ada'), boosted(original, 'bruno'), boosted(older, 'ada')]).readPage({});
  const key = original.id.slice(10);
  assert.deepEqual(new Set(page.posts.map(({ uri }) => uri)), new Set([`${key.toUpperCase()}@${snac.host}`]));
  assert.deepEqual(new Set(page.posts.map(({ repostOf }) => repostOf?.uri)), new Set([original.uri]));
});

test('snac: by id a post is found in its boost, and a boost that was undone is gone', async () => {
  const original = JSON.parse(recorded(snac, 'status-edited').bodyText);
  const boost = boosted(original, 'ada');
  const older = `1795208109${original.id.slice(10)}`;
  const found = await onSnac(boost).fetchPosts([boost.id, older]);
  assert.deepEqual([found.gone, found.failed.size], [[], 0]);
  assert.equal(found.posts.get(boost.id)?.repostOf?.upstreamId, original.id);
  assert.equal(found.posts.get(older)?.id, `${original.id.slice(10)}@${snac.host}`);

  const undone = await onSnac(original).fetchPosts([boost.id]);
  assert.deepEqual([undone.gone, undone.posts.size, undone.failed.size], [[boost.id], 0, 0]);
});

test('snac: its own accounts have a handle without a host', async () => {
  assert.equal((await fetchPost(snac, 'status-first')).author?.handle, 'ada');
});

for (const server of [gotosocial, hollo]) {
  test(`${server.name}: a boost has an id of its own and no words, whether or not the server repeats them`, async () => {
    const post = await fetchPost(server, 'status-boost');
    assert.deepEqual([post.text, post.html, post.hashtags, post.media], ['', '', [], []]);
    assert.equal(post.repostOf?.text, 'Hello from a loopback machine. #intro #testing');
    assert.notEqual(post.id, post.repostOf?.id);
    assert.equal(post.author?.handle, 'bruno');
    assert.equal(post.repostOf?.author?.handle, 'ada');
  });

  test(`${server.name}: a poll is read`, async () => {
    const { poll } = await fetchPost(server, 'status-poll');
    assert.deepEqual(
      poll?.options.map(({ text }) => text),
      ['small', 'medium', 'large'],
    );
  });

  test(`${server.name}: a boost of an old post comes as a new one`, async () => {
    const page = await readFixed(server, 'live-home-after-boost-of-old');
    assert.equal(page.posts.length, 1);
    assert.ok(page.posts[0]?.repostOf);
  });

  test(`${server.name}: a deleted post is gone`, async () => {
    const { id, fetched } = await fetchOne(server, 'status-deleted');
    assert.deepEqual(fetched.gone, [id]);
  });
}

for (const server of [hollo, snac]) {
  test(`${server.name}: an attached picture has its description`, async () => {
    const { media, sensitive } = await fetchPost(server, 'status-sensitive-media');
    assert.deepEqual([media[0]?.kind, media[0]?.alt], ['IMAGE', 'A small colour gradient']);
    assert.equal(sensitive, server === hollo, 'snac loses the flag');
  });
}

for (const server of SERVERS) {
  test(`${server.name}: letters of other alphabets and markup in words come whole`, async () => {
    const nonLatin = await fetchPost(server, 'status-nonlatin');
    assert.match(nonLatin.text, /[\u3040-\u30ff\u4e00-\u9fff\u0400-\u04ff]/);
    const escaped = await fetchPost(server, 'status-escape');
    assert.match(escaped.text, /[<>&]/);
    assert.doesNotMatch(escaped.html, /<script/);
  });
}

test('Hollo: a since_id of another scheme is MALFORMED, its error an object', async () => {
  await assert.rejects(readFixed(hollo, 'home-since-snowflake18'), { code: 'MALFORMED', status: 400 });
});

test('Hollo: an app token at home is FORBIDDEN', async () => {
  await assert.rejects(readFixed(hollo, 'home-app-token'), { code: 'FORBIDDEN', status: 422 });
});

test('snac: 404 with HTML is gone', async () => {
  await assert.rejects(readFixed(snac, 'unknown-account-statuses'), { code: 'GONE', status: 404 });
});

test('snac: a deleted cursor gives an empty page for max_id', async () => {
  const page = await readFixed(snac, 'home-max-deleted');
  assert.deepEqual([page.posts, page.next], [[], undefined]);
});
