import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { cursorAfter, firstCursor } from '../../src/feed/cursor.ts';
import { createForYou } from '../../src/feed/for-you.ts';
import { createFeedWatch, type WatchedPage } from '../../src/feed/watch.ts';
import { createStoryKeys, type StoryKeys } from '../../src/ids/story-key.ts';
import type { Post } from '../../src/post.ts';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import type { Store } from '../../src/stores/store.ts';
import { post, posts, STORY_KEYS, scriptedRecommender, world } from './fixture.ts';

const FEED = { feedId: 'f1', generatedAtMs: 0, size: 9 };
const START = firstCursor('f1');

function watched() {
  const lines: string[] = [];
  const watch = createFeedWatch((line) => lines.push(line));
  const check = (page: Partial<WatchedPage>, ...stories: string[]) =>
    watch.check({
      feed: FEED,
      start: START,
      shown: stories.map((story, place) => ({ place, story })),
      isEndTold: true,
      ...page,
    });
  return { watch, lines, check };
}

const cursor = (...names: number[]) =>
  cursorAfter(START, { offset: names.length, names, shownAs: [], count: names.length });

describe('what must never happen to a scroll', () => {
  it('a story that stands twice on a page is counted and told, with feed, offset and place', () => {
    const { watch, lines, check } = watched();
    check({}, 'a', 'b');
    assert.deepEqual([watch.pages, watch.repeats, lines], [1, 0, []]);
    check({}, 'a', 'b', 'a');
    assert.deepEqual([watch.pages, watch.repeats, watch.deadEnds], [2, 1, 0]);
    assert.match(lines[0] ?? '', /REPEAT in feed f1, page from offset 0: the item at 2 was served before/);
  });

  it('a story comes back pages later, in a successor too: it is counted', () => {
    const { watch, check } = watched();
    const [second, third] = [cursor(1, 2), cursor(1, 2, 3)];
    check({ next: second }, 'a', 'b');
    check({ start: second, next: third }, 'c');
    check({ start: { ...third, feedId: 'f2', base: third.offset, offset: 0, successor: true } }, 'd', 'a');
    assert.equal(watch.repeats, 1);
  });

  it('what another scroll, or another way from the same cursor, has shown is none', () => {
    const { watch, check } = watched();
    const [second, third] = [cursor(1, 2), cursor(1, 2, 3)];
    check({ next: second }, 'a', 'b');
    check({ start: second, next: third }, 'c');
    check({ start: second, next: third }, 'c');
    check({ start: cursor(5) }, 'a', 'b', 'c');
    assert.equal(watch.repeats, 0);
  });

  it('a dead end is counted and told', () => {
    const { watch, lines, check } = watched();
    check({ isEndTold: false }, 'a', 'b');
    assert.deepEqual([watch.repeats, watch.deadEnds], [0, 1]);
    assert.match(lines[0] ?? '', /DEAD END in feed f1, page from offset 0: .*9 items, 2 shown/);
  });
});

describe('the monitor does not take the word of what it watches', () => {
  let store: Store;
  before(async () => {
    store = await openSqliteStore({ file: ':memory:' });
  });
  after(() => store.close());

  /** Two pages of a scroll, of whose hashes the key is another each time: whatever was served, no set knows it. */
  async function scrollForgetfully(userId: string, all: readonly Post[], isEvicted: boolean) {
    const watch = createFeedWatch(() => {});
    let key = 0;
    const forgetful: StoryKeys = {
      current: STORY_KEYS.current,
      of: () => createStoryKeys([Buffer.from(`${userId} ${key++}`)]).current,
    };
    const recommender = scriptedRecommender(() => all.map(({ id }) => ({ postId: id })));
    const { clock, request } = world({ feeds: store.feeds, posts: all });
    const settings = { size: 9, instanceTtlSeconds: 3600, currentTtlSeconds: 600, whenGone: 'continue' } as const;
    const forYou = createForYou({
      feeds: store.feeds,
      recommender,
      local: recommender,
      storyKeys: forgetful,
      clock,
      watch,
      settings,
    });
    const named = async () => ({ candidates: [], problems: [] });
    const asked = request({ userId, limit: 1, candidates: named });
    const { next } = await forYou.page(asked);
    if (isEvicted) await store.feeds.purge(userId);
    await forYou.page({ ...asked, limit: 2, cursor: next });
    return watch.repeats;
  }

  it('when the key of the hashes is lost with the store, its counter rises', async () => {
    assert.equal(await scrollForgetfully('ann', posts(3), true), 1);
  });

  it('when a story that was named by its repost comes again by its own id, its counter rises', async () => {
    const original = post({ id: '1@town.example' });
    const repost = post({ id: '2@town.example', repostOf: original });
    assert.equal(await scrollForgetfully('bob', [repost, post({ id: '3@town.example' }), original], false), 1);
  });
});
