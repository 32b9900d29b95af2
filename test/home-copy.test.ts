import assert from 'node:assert/strict';
import { test } from 'node:test';
import { homesOf, originalOf, withOriginal } from '../src/home-copy.ts';
import { manualClock, post } from './feed/fixture.ts';
import { fakeUpstream, source } from './loaders-fixture.ts';

const upstream = fakeUpstream(manualClock().now);
const town = source('town', 'anyone', upstream, { host: 'town.example', url: 'https://social.town.example' });
const port = source('port', 'anyone', upstream, { host: 'localhost:8803', url: 'http://localhost:8803' });
const bird = source('bird', 'anyone', upstream, { host: 'x.com', url: 'http://127.0.0.1:9200', network: 'twitter' });
const homes = homesOf([town, port, bird]);

test("a copy is at home when a source of the uri's host brought it, by the source's host or that of its URL", () => {
  for (const [postId, uri] of [
    ['1@town.example', 'https://town.example/users/ann/statuses/1'],
    ['1@town.example', 'http://town.example/1'],
    ['1@town.example', 'https://social.town.example/1'],
    ['1@localhost:8803', 'http://localhost:8803/1'],
    ['1@x.com', 'https://x.com/i/status/1'],
    ['1@x.com', 'https://twitter.com/i/status/1'],
  ] as const) {
    assert.ok(homes.isHome({ postId, uri }), uri);
    assert.equal(homes.sourcesOf(uri).length, 1);
  }
});

test('no other copy is', () => {
  for (const [postId, uri] of [
    ['1@pond.example', 'https://town.example/1'],
    ['1@town.example', 'https://pond.example/1'],
    ['1@town.example', 'https://town.example.pond.example/1'],
    ['1@town.example', 'https://town.example@pond.example/1'],
    ['1@town.example', 'https://town.example:8443/1'],
    ['1@town.example', '1@town.example'],
    ['1@town.example', 'at://town.example/1'],
    ['1@town.example', 'https://town.example'],
    ['1@town.example', ''],
    ['1@town.example', 'https://x.com/i/status/1'],
  ] as const) {
    assert.ok(!homes.isHome({ postId, uri }), uri);
  }
  assert.deepEqual(homes.sourcesOf('https://pond.example/1'), []);
});

test('the original of a repost of a repost is found, and can be another', () => {
  const original = post({ id: '1@pond.example' });
  const repost = post({ id: '3@town.example', repostOf: post({ id: '2@town.example', repostOf: original }) });
  assert.equal(originalOf(repost), original);
  const other = post({ id: '9@town.example' });
  assert.equal(originalOf(withOriginal(repost, other)), other);
  assert.equal(withOriginal(repost, other).id, repost.id);
  assert.equal(withOriginal(original, other), other);
});
