import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { UpstreamError } from '../../src/errors.ts';
import type { Post } from '../../src/post.ts';
import type { HttpReply } from '../../src/upstreams/http.ts';
import { createUpstream } from '../../src/upstreams/registry.ts';
import type { UpstreamSpec } from '../../src/upstreams/spec.ts';
import type { Upstream } from '../../src/upstreams/upstream.ts';
import { readRecordings, recordings, replyOf, testClock } from './replay-http.ts';

const common = { url: 'https://some.example', host: 'some.example', keepPrivate: true } as const;

const NETWORKS: readonly { folder: string; spec: UpstreamSpec }[] = [
  { folder: 'mastodon', spec: { ...common, kind: 'mastodon', timeline: { type: 'home' } } },
  { folder: 'twitter-v2', spec: { ...common, kind: 'twitter', api: '2', timeline: { type: 'search', query: 'x' } } },
  { folder: 'twitter-v1', spec: { ...common, kind: 'twitter', api: '1.1', timeline: { type: 'list', id: '1' } } },
];

/** An upstream whose every request gets this reply, the questions about what it is included. */
function answering(spec: UpstreamSpec, reply: Partial<HttpReply>): Upstream {
  const http = {
    get: async () => ({ status: 200, headers: {}, bodyText: '', sentAtMs: 0, ...reply }),
    close: async () => {},
  };
  return createUpstream(spec, { http, clock: testClock });
}

/** Reads a page, posts by id and the description: each gives what it should, or an UpstreamError. */
async function check(upstream: Upstream): Promise<void> {
  const orError = <T>(promise: Promise<T>): Promise<T | undefined> =>
    promise.catch((error: unknown) => {
      assert.ok(error instanceof UpstreamError, `not an UpstreamError: ${error}`);
      return undefined;
    });
  const page = await orError(upstream.readPage({ sinceId: '1300000000000000000' }));
  for (const post of page?.posts ?? []) checkPost(post);
  const fetched = await orError(upstream.fetchPosts(['1', 'x', '1300000000000000000', '%', '']));
  for (const post of fetched?.posts.values() ?? []) checkPost(post);
  await orError(upstream.describe());
}

function checkPost(post: Post): void {
  assert.match(post.id, /^[^@]+@some\.example$/);
  assert.ok(post.uri.length > 0);
  assert.ok(Number.isSafeInteger(post.createdAtMs) && !Number.isNaN(new Date(post.createdAtMs).getTime()));
  assert.ok(['PUBLIC', 'UNLISTED', 'FOLLOWERS', 'DIRECT'].includes(post.visibility));
  assert.doesNotMatch(post.html, /<script|<a [^>]*href="(?!https?:|mailto:)/i);
  // A store keeps it as JSON, where only lone surrogates are escaped so.
  assert.doesNotMatch(JSON.stringify(post), /\\ud[89a-f]/i);
  for (const nested of [post.repostOf, post.quoted]) if (nested) checkPost(nested);
}

/** JSON with the names that the adapters look for. */
const names = fc.constantFrom(
  ...[
    'id',
    'id_str',
    'uri',
    'url',
    'content',
    'created_at',
    'visibility',
    'reblog',
    'quote',
    'account',
    'user',
    'card',
  ],
  ...[
    'media_attachments',
    'mentions',
    'tags',
    'poll',
    'options',
    'data',
    'includes',
    'errors',
    'meta',
    'tweets',
    'users',
  ],
  ...[
    'text',
    'full_text',
    'entities',
    'urls',
    'retweeted_status',
    'quoted_status',
    'extended_entities',
    'media',
    'type',
  ],
  ...[
    'referenced_tweets',
    'edit_history_tweet_ids',
    'attachments',
    'code',
    'version',
    'software',
    'links',
    '__proto__',
  ],
);
const values = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '1300000000000000001',
    '1',
    'public',
    'direct',
    '2026-11-20T12:00:00Z',
    '<script>',
    'javascript:x',
    '\ud800',
  ),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    values,
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(names, tie('tree'), { maxKeys: 12 }),
  ),
}));

for (const { folder, spec } of NETWORKS) {
  const pages = readRecordings(recordings(folder)).filter(
    ({ status, bodyText }) => status === 200 && bodyText.length > 500,
  );

  test(`${folder}: any JSON gives posts or an UpstreamError`, async () => {
    const body = fc.oneof(
      tree,
      fc.array(tree, { maxLength: 3 }),
      fc.record({ data: fc.array(tree, { maxLength: 3 }), includes: tree }),
    );
    const status = fc.constantFrom(200, 200, 200, 206, 400, 403, 429);
    await fc.assert(
      fc.asyncProperty(body, status, (json, code) =>
        check(answering(spec, { status: code, bodyText: JSON.stringify(json) })),
      ),
      { numRuns: 150 },
    );
  });

  test(`${folder}: a recorded page that is cut or damaged gives posts or an UpstreamError`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...pages),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.string(),
        fc.boolean(),
        (page, at, junk, cut) => {
          const { bodyText, ...reply } = replyOf(page);
          const place = Math.floor(at * bodyText.length);
          const rest = cut ? '' : bodyText.slice(place + junk.length);
          return check(answering(spec, { ...reply, bodyText: bodyText.slice(0, place) + junk + rest }));
        },
      ),
      { numRuns: 60 },
    );
  });

  test(`${folder}: a recorded page with one value replaced gives posts or an UpstreamError`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...pages), fc.nat(), values, async (page, n, value) => {
        const { bodyText, ...reply } = replyOf(page);
        let count = 0;
        const at = n % (bodyText.match(/":/g)?.length ?? 1);
        const changed = JSON.parse(bodyText, (_, old) => (count++ === at ? value : old));
        await check(answering(spec, { ...reply, bodyText: JSON.stringify(changed) }));
      }),
      { numRuns: 60 },
    );
  });

  test(`${folder}: texts, garbage and odd headers give an UpstreamError`, async () => {
    const headers = fc.dictionary(
      fc.constantFrom(
        'link',
        'date',
        'retry-after',
        'x-ratelimit-reset',
        'x-rate-limit-reset',
        'content-type',
        'location',
      ),
      fc.string(),
    );
    const bodyText = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('', 'null', '0', '""', '[', '{}', '[]', '\ufeff[]'),
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 200, max: 599 }), headers, bodyText, (status, headers, bodyText) =>
        check(answering(spec, { status, headers, bodyText })),
      ),
      { numRuns: 150 },
    );
  });

  test(`${folder}: huge and deep bodies give posts or an UpstreamError`, async () => {
    const depth = 100_000;
    const post = { id: '1300000000000000001', id_str: '1300000000000000001', created_at: '2026-11-20T12:00:00Z' };
    for (const bodyText of [
      `${'['.repeat(depth)}${']'.repeat(depth)}`,
      `${'{"data":['.repeat(depth)}${']}'.repeat(depth)}`,
      `[${`{"id":"1","id_str":"1","reblog":`.repeat(depth)}null${'}'.repeat(depth)}]`,
      JSON.stringify(Array.from({ length: 50_000 }, () => post)),
      JSON.stringify([{ ...post, content: '<b>'.repeat(1_000_000), full_text: '&amp;'.repeat(1_000_000) }]),
      JSON.stringify([{ ...post, tags: Array.from({ length: 200_000 }, () => ({ name: 'x' })) }]),
      JSON.stringify({ data: [{ ...post, text: 'https://t.co/a '.repeat(100_000) }] }),
    ]) {
      await check(answering(spec, { bodyText }));
    }
  });
}
