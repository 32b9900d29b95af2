import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Post, Visibility } from '../../src/post.ts';
import { toPost } from '../../src/upstreams/mastodon-status.ts';
import { mayKeep, postsOf } from '../../src/upstreams/posts-of.ts';

const clock = { monotonic: () => 0 };
const context = { host: 'town.example', idScheme: 'mastodon' } as const;

function post(visibility: Visibility, nested: Partial<Post> = {}): Post {
  const created_at = '2026-11-20T12:00:00Z';
  return { ...toPost({ id: '1', created_at, content: 'words' }, context), visibility, ...nested };
}

const read = (items: readonly unknown[], keepPrivate = true) =>
  postsOf(items, { idOf: (item) => Object(item).id, toPost: (item) => toPost(item, context), keepPrivate, clock });

test('a private post is kept only for a list of users, with all that it holds', () => {
  for (const visibility of ['FOLLOWERS', 'DIRECT'] as const) {
    const secret = post(visibility);
    assert.equal(mayKeep(secret, false), undefined);
    assert.equal(mayKeep(secret, true), secret);
    assert.equal(mayKeep(post('PUBLIC', { repostOf: secret }), false), undefined, 'nor a repost of it');
    const quoting = mayKeep(post('UNLISTED', { quoted: secret }), false);
    assert.deepEqual([quoting?.text, quoting?.quoted], ['words', undefined], 'nor the quote of it');
    const deep = post('PUBLIC', { repostOf: post('PUBLIC', { quoted: secret }) });
    assert.equal(mayKeep(deep, false)?.repostOf?.quoted, undefined, 'nor the quote inside of a repost');
    assert.doesNotMatch(JSON.stringify(mayKeep(deep, false)), new RegExp(visibility));
  }
});

test('one bad post in a good page is left out and told, and its id is among the ids', async () => {
  const good = { id: '5', created_at: '2026-11-20T12:00:00Z', visibility: 'public' };
  const { posts, ids, problems } = await read([good, { id: '4', created_at: 'never' }, null, { id: '3' }, 'x', good]);
  assert.deepEqual(
    posts.map(({ upstreamId }) => upstreamId),
    ['5', '5'],
  );
  assert.deepEqual(ids, ['5', '4', '3', '5']);
  assert.deepEqual(
    problems.map(({ code, message }) => `${code}: ${message}`),
    [
      'MALFORMED: post 4 was left out: created_at must be a time',
      'MALFORMED: a post without a usable id was left out: a status must be an object with an id',
      'MALFORMED: post 3 was left out: created_at must be a time',
      'MALFORMED: a post without a usable id was left out: a status must be an object with an id',
    ],
  );
});

test('a page of more posts than any server has is none, and the problems of a bad one are few', async () => {
  await assert.rejects(read(Array.from({ length: 201 }, () => null)), { code: 'MALFORMED' });
  assert.equal((await read(Array.from({ length: 200 }, () => null))).problems.length, 20);
});

test('others have their turn between posts that are dear, and none is taken between cheap ones', async () => {
  for (const [msForEach, turns] of [
    [10, 40],
    [0, 0],
  ] as const) {
    let nowMs = 0;
    let isDone = false;
    let taken = 0;
    const items = Array.from({ length: 41 }, () => ({ id: '1', created_at: '2026-11-20T12:00:00Z' }));
    const toPostAt = (item: unknown) => {
      nowMs += msForEach;
      return toPost(item, context);
    };
    const reading = postsOf(items, {
      ...{ idOf: (item: unknown) => Object(item).id, toPost: toPostAt, keepPrivate: true },
      clock: { monotonic: () => nowMs },
    }).finally(() => {
      isDone = true;
    });
    for (await Promise.resolve(); !isDone; taken++) await nextTurn();
    await reading;
    assert.ok(turns === 0 ? taken <= 1 : taken >= turns, `${taken} turns`);
  }
});
