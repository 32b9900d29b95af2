import assert from 'node:assert/strict';
import test from 'node:test';
import { z } from 'zod';
import type { Post } from '../../src/post.ts';
import { listOf } from '../../src/upstreams/fields.ts';
import { instance, nodeInfoLinks } from '../../src/upstreams/mastodon-schema.ts';
import { postsOf } from '../../src/upstreams/posts-of.ts';
import { createUpstream } from '../../src/upstreams/registry.ts';
import type { UpstreamSpec } from '../../src/upstreams/spec.ts';
import { page } from '../../src/upstreams/twitter-v2-schema.ts';
import { createFixedHttp, testClock } from './replay-http.ts';

const common = { url: 'https://some.example', host: 'some.example', keepPrivate: true } as const;
const SPECS: readonly UpstreamSpec[] = [
  { ...common, kind: 'mastodon', timeline: { type: 'home' } },
  { ...common, kind: 'twitter', api: '2', timeline: { type: 'search', query: 'x' } },
  { ...common, kind: 'twitter', api: '1.1', timeline: { type: 'list', id: '1' } },
];

/** A list that counts which places of it are read. */
function counting(length: number, item: unknown) {
  const read = new Set<string>();
  const list = new Proxy(Array(length).fill(item), {
    get(target, name, receiver) {
      if (typeof name === 'string' && /^\d+$/.test(name)) read.add(name);
      return Reflect.get(target, name, receiver);
    },
  });
  return { list, read };
}

test('of a list no more than its bound is looked at, and bad items cost their own place alone', () => {
  const tags = listOf(z.object({ name: z.string().min(1) }), 3);
  for (const item of [{}, null, { name: 'x' }, []]) {
    const { list, read } = counting(100_000, item);
    tags.parse(list);
    assert.ok(read.size <= 3, `${read.size} places were read`);
  }
  assert.deepEqual(tags.parse([{ name: 'a' }, {}, { name: 'b', more: 1 }, { name: 'c' }]), [
    { name: 'a' },
    { name: 'b' },
  ]);
  for (const none of [undefined, null, 'x', 7, {}, { length: 2 }]) assert.deepEqual(tags.parse(none), []);
  assert.deepEqual(z.object({ tags }).parse({}), { tags: [] });
});

test('the schemas of pages and documents cut their lists, too', () => {
  for (const [schema, name, make] of [
    [nodeInfoLinks, 'links', (list: unknown) => ({ links: list })],
    [page, 'tweets', (list: unknown) => ({ includes: { tweets: list } })],
    [page, 'users', (list: unknown) => ({ includes: { users: list } })],
    [page, 'errors', (list: unknown) => ({ errors: list })],
  ] as const) {
    const { list, read } = counting(100_000, {});
    assert.ok(schema.safeParse(make(list)).success, name);
    assert.ok(read.size <= 5_000, `${name}: ${read.size} places were read`);
  }
  assert.ok(instance.safeParse({}).success);
});

test('of a page of more items than a page can have, none is looked at, and that is told', async () => {
  const { list, read } = counting(201, { id: '1' });
  const toPost = test.mock.fn((): Post => assert.fail('a post was made'));
  const idOf = test.mock.fn();
  await assert.rejects(postsOf(list, { idOf, toPost, keepPrivate: false, clock: testClock }), {
    code: 'MALFORMED',
    message: 'a page must hold at most 200 posts, got 201',
  });
  assert.deepEqual([read.size, toPost.mock.callCount(), idOf.mock.callCount()], [0, 0, 0]);
});

for (const spec of SPECS) {
  const name = `${spec.kind} ${'api' in spec ? spec.api : ''}`;

  test(`${name}: a page that is too deep or holds too many values is told as MALFORMED, and never parsed`, async (t) => {
    const parse = t.mock.method(JSON, 'parse');
    for (const bodyText of [
      `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
      `{"data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
      `[${'{},'.repeat(200_000)}{}]`,
      `[{"id":"1","tags":[${'{},'.repeat(200_000)}{}]}]`,
    ]) {
      for (const status of [200, 206, 400]) {
        const upstream = createUpstream(spec, { http: createFixedHttp({ bodyText, status }), clock: testClock });
        await assert.rejects(upstream.readPage({}), { code: 'MALFORMED' });
      }
    }
    assert.equal(parse.mock.callCount(), 0);
  });
}
