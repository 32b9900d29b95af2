import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storyHash } from '../../src/ids/story-hash.ts';

const key = Buffer.from('one key for all gateways');

test('a story hash is 16 lower-case hex digits and the same each time', () => {
  const hash = storyHash(key, '115@town.example');
  assert.match(hash, /^[0-9a-f]{16}$/);
  assert.equal(storyHash(Buffer.from(key), '115@town.example', 0), hash);
});

test('another key, id or salt gives another hash', () => {
  const hashes = [
    storyHash(key, 'a'),
    storyHash(Buffer.from('another'), 'a'),
    storyHash(key, 'b'),
    storyHash(key, ''),
    storyHash(key, 'a', 1),
    storyHash(key, 'a', 2),
    // A salt is never taken for a part of the id.
    storyHash(key, '1\0a'),
  ];
  assert.equal(new Set(hashes).size, hashes.length);
});
