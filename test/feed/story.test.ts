import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { itemHash, nameHash, type Story, servedHashes, servedHashesIn } from '../../src/feed/story.ts';
import { createStoryKeys } from '../../src/ids/story-key.ts';
import { STORY_KEYS } from './fixture.ts';

const KEY = STORY_KEYS.current;

const text = fc.string({ minLength: 1, maxLength: 30 });
const story: fc.Arbitrary<Story> = fc.record({
  postId: text,
  names: fc.oneof(fc.tuple(text), fc.tuple(text, text)) as fc.Arbitrary<Story['names']>,
});

test('a hash is 16 hex digits, the same for the same item and salt', () => {
  fc.assert(
    fc.property(story, fc.nat(9), (item, salt) => {
      assert.match(itemHash(KEY, item, salt), /^[0-9a-f]{16}$/);
      assert.equal(itemHash(KEY, item, salt), itemHash(KEY, item, salt));
    }),
  );
});

test('whatever the copy and the salt, a hash tells the names of its story to the served set', () => {
  fc.assert(
    fc.property(story, fc.nat(9), text, (item, salt, copy) => {
      const expected = item.names.map((name) => nameHash(KEY, name));
      assert.deepEqual(servedHashes(itemHash(KEY, item, salt)), expected);
      assert.deepEqual(servedHashes(itemHash(KEY, { ...item, postId: copy })), expected);
    }),
  );
});

test('two copies of a story have different hashes, and so has each salt', () => {
  const hashes = [0, 1, 2].flatMap((salt) =>
    ['1@a.example', '1@b.example'].flatMap((postId) => [
      itemHash(KEY, { postId, names: ['story'] }, salt),
      itemHash(KEY, { postId, names: ['story', postId] }, salt),
    ]),
  );
  assert.equal(new Set(hashes).size, hashes.length);
});

test('another key gives other hashes', () => {
  const item: Story = { postId: '1@a.example', names: ['1@a.example'] };
  assert.notEqual(itemHash(KEY, item), itemHash(createStoryKeys([Buffer.alloc(32, 8)]).current, item));
});

test('many hashes in bytes tell the same names as each of them', () => {
  fc.assert(
    fc.property(fc.array(story), (items) => {
      const hashes = items.map((item) => itemHash(KEY, item));
      assert.deepEqual([...servedHashesIn(Buffer.from(hashes.join(''), 'hex'))], hashes.flatMap(servedHashes));
    }),
  );
});
