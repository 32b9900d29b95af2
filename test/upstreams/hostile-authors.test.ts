import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import type { Post } from '../../src/post.ts';
import { boundPost, MAX_POST_BYTES } from '../../src/upstreams/bound-post.ts';
import { toPost } from '../../src/upstreams/mastodon-status.ts';
import { toPost as toPostV1 } from '../../src/upstreams/twitter-v1-tweet.ts';
import { toPost as toPostV2, tweetContext } from '../../src/upstreams/twitter-v2-tweet.ts';
import { HOSTILE_TEXTS } from './hostile-text.ts';

const context = { host: 'town.example', idScheme: 'mastodon' } as const;
const status = (fields: object) => ({ id: '1', created_at: '2026-11-20T12:00:00Z', visibility: 'public', ...fields });

/** Whatever an author may try in words, names and addresses. */
const piece = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom(
    ...[
      'javascript:',
      'java\nscript:',
      'data:text/html,',
      'https://',
      'https://good.example@',
      'evil.example',
      '//',
      '\\',
    ],
    ...[
      '<script>',
      '</script>',
      '<a href="',
      '"',
      "'",
      '<img src=x onerror=',
      '>',
      '<',
      '<p>',
      '</p>',
      '<svg/onload=',
      '<!--',
    ],
    ...[
      '&#106;',
      '&lt;',
      '&#x202e;',
      '&#0;',
      '&colon;',
      '&Tab;',
      '\0',
      '\u0007',
      '\x85',
      '\x7f',
      '\r',
      '\n',
      '\t',
      ' ',
    ],
    ...[
      '\u202a',
      '\u202e',
      '\u202c',
      '\u2066',
      '\u2067',
      '\u2069',
      '\u200f',
      '\u200d',
      '\ud83d',
      '😀',
      'שלום',
      '115@town.example',
    ],
  ),
);
const short = fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(''));
const long = fc
  .tuple(fc.constantFrom(...Object.values(HOSTILE_TEXTS)), fc.nat(30_000), short)
  .map(([make, size, end]) => make(size) + end);
const text = fc.oneof({ weight: 9, arbitrary: short }, { weight: 1, arbitrary: long });
const address = fc.oneof(
  text,
  text.map((path) => `https://a.example/${path}`),
  text.map((host) => `https://${host}/`),
);

const account = fc.record({ id: fc.constant('2'), acct: text, display_name: text, url: address, avatar: address });
const emoji = fc.record({ shortcode: text, url: address });
const anyStatus = fc.record({
  ...{
    uri: address,
    url: address,
    content: text,
    spoiler_text: text,
    account,
    emojis: fc.array(emoji, { maxLength: 3 }),
  },
  media_attachments: fc.array(fc.record({ url: address, preview_url: address, description: text }), { maxLength: 3 }),
  mentions: fc.array(fc.record({ acct: text, url: address }), { maxLength: 3 }),
  tags: fc.array(fc.record({ name: text }), { maxLength: 3 }),
  card: fc.record({ url: address, title: text, description: text, image: address }),
  poll: fc.record({ options: fc.array(fc.record({ title: text }), { maxLength: 3 }) }),
});

const url = fc.record({ url: fc.constant('https://t.co/a'), expanded_url: address, display_url: text, title: text });
const anyTweet = fc.record({
  ...{ id: fc.constant('1'), id_str: fc.constant('1'), created_at: fc.constant('2026-11-20T12:00:00Z') },
  ...{
    text: text.map((words) => `https://t.co/a ${words}`),
    full_text: text.map((words) => `${words} https://t.co/a`),
  },
  user: fc.record({ id_str: fc.constant('2'), screen_name: text, name: text, profile_image_url_https: address }),
  entities: fc.record({
    ...{ urls: fc.array(url, { maxLength: 2 }), mentions: fc.array(fc.record({ username: text }), { maxLength: 2 }) },
    hashtags: fc.array(fc.record({ tag: text, text }), { maxLength: 2 }),
    user_mentions: fc.array(fc.record({ screen_name: text }), { maxLength: 2 }),
  }),
  extended_entities: fc.record({
    media: fc.array(fc.record({ media_url_https: address, ext_alt_text: text }), { maxLength: 2 }),
  }),
});

/** Every string of a post, with the name of its field. */
function stringsOf(value: unknown, name = ''): readonly (readonly [name: string, text: string])[] {
  if (typeof value === 'string') return [[name, value]];
  if (Array.isArray(value)) return value.flatMap((item) => stringsOf(item, name));
  return Object.entries(Object(value)).flatMap(([key, inner]) => stringsOf(inner, key));
}

const LINKS = ['url', 'avatarUrl', 'previewUrl', 'imageUrl'];
const LINES = ['name', 'handle', 'title', 'shortcode', 'hashtags', 'uri', ...LINKS];

function check(post: Post): void {
  const { repostOf: _, quoted: __, ...own } = post;
  assert.ok(Buffer.byteLength(JSON.stringify(own)) <= MAX_POST_BYTES);
  for (const [name, value] of stringsOf(post)) {
    assert.ok(value.isWellFormed(), name);
    assert.doesNotMatch(value, /[^\P{Cc}\t\n]/u, name);
    if (LINES.includes(name)) assert.doesNotMatch(value, /[\t\n\u202a-\u202e\u2066-\u2069]/, name);
    if (LINKS.includes(name)) checkLink(value);
    const opened = value.match(/[\u202a\u202b\u202d\u202e\u2066-\u2068]/g)?.length ?? 0;
    assert.equal(value.match(/[\u202c\u2069]/g)?.length ?? 0, opened, `${name} closes what it opens`);
  }
  if (post.uri !== post.id) checkLink(post.uri);
  for (const option of post.poll?.options ?? []) assert.doesNotMatch(option.text, /[\n\u202a-\u202e\u2066-\u2069]/);
  // Text holds no bare `<`, so that these are all tags.
  for (const [tag] of post.html.matchAll(/<[^>]*>/g)) {
    assert.match(tag, /^<\/?(?:p|br|a|span|b|i|u|s|ul|li)\b(?: (?:href|rel|target|class)="[^"]*")* ?\/?>$/);
    const href = /\shref="([^"]*)"/.exec(tag)?.[1];
    if (href !== undefined) checkLink(href.replaceAll('&amp;', '&'));
  }
  assert.doesNotMatch(post.html.replaceAll(/<[^>]*>/g, ''), /[<>]/);
}

function checkLink(link: string): void {
  assert.match(link, /^https?:\/\//i);
  const { username, password } = new URL(link);
  assert.equal(username + password, '', link);
}

test('whatever a hostile author of Mastodon posts is shown without harm and within its bounds', () => {
  fc.assert(
    fc.property(anyStatus, (fields) => check(boundPost(toPost(status(fields), context)))),
    { numRuns: 300 },
  );
});

test('whatever a hostile author of Twitter posts is, too', () => {
  const v2 = (tweet: { user: { screen_name: string; name: string } }) => {
    const user = { id: '2', username: tweet.user.screen_name.replace(/[^\w]/g, '').slice(0, 50), name: 'x' };
    return { ...tweetContext({ errors: [] }, { host: 'x.com' }), users: new Map([['2', user]]) };
  };
  fc.assert(
    fc.property(anyTweet, (tweet) => {
      check(boundPost(toPostV1(tweet, { host: 'x.com', idScheme: 'twitter' })));
      check(boundPost(toPostV2({ ...tweet, author_id: '2' }, v2(tweet))));
    }),
    { numRuns: 200 },
  );
});

test('a uri that is no address counts as absent, above all one that looks like a post id', () => {
  for (const uri of [
    ...[
      'javascript:alert(1)',
      '115@town.example',
      'tag:town.example,2026:1',
      'data:x',
      '//a.example',
      'https:a.example',
    ],
    ...[
      'https://',
      'https://a.example@b.example/1',
      'https://a.example/\n1',
      'https://a.example/\u202e1',
      'did:',
      'at://a b',
    ],
  ]) {
    assert.equal(toPost(status({ uri }), context).uri, '1@town.example', uri);
  }
  for (const uri of [
    'https://a.example/1',
    'http://a.example/ü',
    'at://did:plc:abc/app.bsky.feed.post/1',
    'did:web:a.example',
  ]) {
    assert.equal(toPost(status({ uri }), context).uri, uri);
  }
});

test('a link that only looks like another host is none, in fields and in HTML', () => {
  const url = 'https://good.example@evil.example/';
  const post = toPost(
    status({ url, content: `<a href="${url}">a</a><a href="https://a.example/\u202e">b</a>` }),
    context,
  );
  assert.equal(post.url, undefined);
  assert.doesNotMatch(post.html, /href/);
});
