import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFeedId, createStoryKeys } from '../../src/ids/story-key.ts';

const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

test('a feed names the key of its stories, wherever that stands among the keys of the tokens', () => {
  const before = createStoryKeys([OLD]);
  const rotated = createStoryKeys([NEW, OLD]);
  const feedId = createFeedId(before.current);
  assert.match(feedId, /^[0-9a-f]{16}$/);
  assert.deepEqual(rotated.of(feedId), before.current);
  assert.notDeepEqual(rotated.current, before.current);
  assert.deepEqual(rotated.of(createFeedId(rotated.current)), rotated.current);
});

test('a feed of a retired key has none', () => {
  const feedId = createFeedId(createStoryKeys([OLD]).current);
  assert.equal(createStoryKeys([NEW]).of(feedId), undefined);
});

test('one key twice is one key, and none is refused', () => {
  assert.equal(createStoryKeys([OLD, OLD]).current.tag, createStoryKeys([OLD]).current.tag);
  assert.throws(() => createStoryKeys([]), RangeError);
});

test('keys that cannot be told apart are refused', () => {
  const keys = Array.from({ length: 1500 }, (_, n) => Buffer.from(`key ${n}`));
  // 1,500 keys make 1,124,250 pairs, of which one in 65,536 shares its tag: about 17.
  assert.throws(() => createStoryKeys(keys), RangeError);
});
