import assert from 'node:assert/strict';
import test from 'node:test';
import type { Post } from '../../src/post.ts';
import { boundPost, MAX_POST_BYTES } from '../../src/upstreams/bound-post.ts';
import { toPost } from '../../src/upstreams/mastodon-status.ts';
import { toPost as toPostV1 } from '../../src/upstreams/twitter-v1-tweet.ts';
import { toPost as toPostV2, tweetContext } from '../../src/upstreams/twitter-v2-tweet.ts';

const context = { host: 'town.example', idScheme: 'mastodon' } as const;
const WIDE = '語';
const link = `https://a.example/${WIDE.repeat(2_000)}`;
const many = <T>(item: T) => Array.from({ length: 1_000 }, () => item);

/** As much as every field takes, and more. */
const HUGE = {
  id: '9'.repeat(200),
  created_at: '2026-11-20T12:00:00Z',
  visibility: 'public',
  uri: link,
  url: link,
  content: WIDE.repeat(200_000),
  spoiler_text: WIDE.repeat(200_000),
  account: {
    ...{ id: '9'.repeat(200), acct: WIDE.repeat(9_000), display_name: WIDE.repeat(9_000), url: link, avatar: link },
    emojis: many({ shortcode: WIDE.repeat(200), url: link }),
  },
  media_attachments: many({ type: 'image', url: link, preview_url: link, description: WIDE.repeat(50_000) }),
  mentions: many({ id: '1', acct: WIDE.repeat(500), url: link }),
  tags: many({ name: WIDE.repeat(500) }),
  emojis: many({ shortcode: WIDE.repeat(200), url: link }),
  card: { url: link, title: WIDE.repeat(9_000), description: WIDE.repeat(90_000), image: link },
  poll: { options: many({ title: WIDE.repeat(9_000) }) },
};

const TWEET = {
  ...{ id: '1', id_str: '1', created_at: '2026-11-20T12:00:00Z', author_id: '2' },
  text: 'https://t.co/a '.repeat(6_000),
  full_text: 'https://t.co/a '.repeat(6_000),
  user: { id_str: '2', screen_name: WIDE.repeat(90), name: WIDE.repeat(9_000), profile_image_url_https: link },
  entities: {
    urls: many({
      url: 'https://t.co/a',
      expanded_url: link,
      display_url: WIDE.repeat(1_000),
      title: WIDE.repeat(9_000),
    }),
    hashtags: many({ tag: WIDE.repeat(500), text: WIDE.repeat(500) }),
    mentions: many({ username: WIDE.repeat(99), id: '1' }),
    user_mentions: many({ screen_name: WIDE.repeat(99), id_str: '1' }),
  },
  extended_entities: { media: many({ media_url_https: link, ext_alt_text: WIDE.repeat(50_000) }) },
};
const v2 = tweetContext({ errors: [] }, { host: 'x.com' });

/** Without the posts inside. */
function ownBytes({ repostOf: _, quoted: __, ...own }: Post): number {
  return Buffer.byteLength(JSON.stringify(own));
}

test('a post keeps within its bound with each field at its largest, on every network', () => {
  for (const post of [
    toPost(HUGE, context),
    toPostV1(TWEET, { host: 'x.com', idScheme: 'twitter' }),
    toPostV2(TWEET, v2),
  ]) {
    const bounded = boundPost(post);
    assert.ok(ownBytes(bounded) <= MAX_POST_BYTES, `${post.network}: ${ownBytes(bounded)}`);
    assert.ok(bounded.text.endsWith('…') && bounded.html.includes('…'), 'with a mark');
  }
});

test('single fields and words alone never come to the bound, so that only lists are cut', () => {
  const post = toPost(
    { ...HUGE, media_attachments: [], mentions: [], tags: [], emojis: [], card: null, poll: null },
    context,
  );
  const bare = { ...post, author: post.author && { ...post.author, emojis: [] } };
  assert.ok(ownBytes(bare) <= MAX_POST_BYTES, String(ownBytes(bare)));
});

test('a post is cut alike each time, alone, boosted and quoted', () => {
  const alone = boundPost(toPost(HUGE, context));
  const outer = { id: '1', created_at: '2026-11-20T12:00:00Z', visibility: 'public' };
  assert.deepEqual(boundPost(toPost({ ...outer, reblog: HUGE }, context)).repostOf, alone);
  assert.deepEqual(boundPost(toPost({ ...outer, quote: HUGE }, context)).quoted, alone);
  assert.deepEqual(boundPost(alone), alone);
});

test('a post within the bound stays as it is', () => {
  const post = toPost(
    {
      ...HUGE,
      content: '<p>short</p>',
      media_attachments: [],
      mentions: [],
      card: null,
      poll: null,
      tags: [],
      emojis: [],
      account: null,
    },
    context,
  );
  assert.deepEqual(boundPost(post), post);
});

test('a list that goes over the bound is cut, a shorter one behind it is not', () => {
  const media_attachments = many({ type: 'image', url: link.slice(0, 900), description: 'x'.repeat(5_000) });
  const post = boundPost(toPost({ ...HUGE, content: 'x', media_attachments, tags: [{ name: 'one' }] }, context));
  assert.ok(post.media.length > 2 && post.media.length < 20);
  assert.deepEqual(post.hashtags, ['one']);
});

test('what is cut does not depend on counts and authors, which change without an edit', () => {
  const media_attachments = many({ type: 'image', url: link.slice(0, 900), description: 'x'.repeat(5_000) });
  const status = { ...HUGE, content: 'x', media_attachments };
  const one = boundPost(toPost({ ...status, favourites_count: 9, account: null }, context));
  const other = boundPost(toPost({ ...status, favourites_count: 2_000_000_000, replies_count: 7 }, context));
  const { author: _, counts: __, ...first } = one;
  const { author, counts: ___, ...second } = other;
  assert.deepEqual(first, second);
  assert.ok(author && one.author === undefined && first.media.length > 0 && first.media.length < 100);
});
