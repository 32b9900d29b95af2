import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { firstCursor, successorCursor } from '../../src/feed/cursor.ts';
import type { ReadableInstance } from '../../src/feed/instance.ts';
import { cutPage } from '../../src/feed/page.ts';
import { itemHash } from '../../src/feed/story.ts';
import { createFeedWatch } from '../../src/feed/watch.ts';
import { posts as makePosts } from './fixture.ts';

const KEY = Buffer.alloc(32, 5);
const all = makePosts(6);
const items = all.map(({ id, uri }) => ({ hash: itemHash(KEY, { postId: id, names: [uri] }), postId: id }));

/** A page of an instance that holds just these items, whatever size it tells. */
async function serve(held: typeof items, options: { size?: number; limit?: number; after?: number } = {}) {
  const lines: string[] = [];
  const watch = createFeedWatch((line) => lines.push(line));
  const instance: ReadableInstance = {
    feedId: 'f1',
    cut: async (offset, count, hashesFrom = offset) => ({
      feedId: 'f1',
      generatedAtMs: 0,
      size: options.size ?? held.length,
      earlierHashes: held.slice(hashesFrom, offset).map(({ hash }) => hash),
      items: held.slice(offset, offset + count),
    }),
  };
  const hydrate = async () => ({ posts: new Map(all.map((post) => [post.id, post])), problems: [] });
  const start = { ...firstCursor('f1'), offset: options.after ?? 0 };
  await cutPage({ instance, start, limit: options.limit ?? 3, hydrate, hashKey: KEY, watch });
  return { watch, lines };
}

describe('what must never happen to a scroll', () => {
  it('is not found where nothing is wrong', async () => {
    for (const limit of [1, 3, 6, 100]) {
      const { watch, lines } = await serve(items, { limit });
      assert.deepEqual([watch.pages, watch.repeats, watch.deadEnds, lines], [1, 0, 0, []]);
    }
  });

  it('a repeat is counted and told, with feed, offset and reason', async () => {
    const [first, second] = items;
    assert.ok(first && second);
    const { watch, lines } = await serve([first, second, { ...first, postId: all[3]?.id ?? '' }]);
    assert.deepEqual([watch.repeats, watch.deadEnds], [1, 0]);
    assert.match(lines[0] ?? '', /REPEAT in feed f1, page from offset 0: the item at 2 was served before/);
  });

  it('a dead end is counted and told', async () => {
    const { watch, lines } = await serve(items.slice(0, 2), { size: 9 });
    assert.deepEqual([watch.repeats, watch.deadEnds], [0, 1]);
    assert.match(lines[0] ?? '', /DEAD END in feed f1, page from offset 0: .*9 items, 2 shown/);
  });

  it('a cursor’s end is none', async () => {
    const { watch } = await serve(items, { after: 6 });
    assert.deepEqual([watch.pages, watch.deadEnds], [1, 0]);
    assert.ok(successorCursor('f2', firstCursor('f1')).successor);
  });
});
