import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { BadCursorError, type Problem, RecommenderUnavailableError } from '../../src/errors.ts';
import { createForYou, type ForYou, type ForYouRequest, type Hydrate } from '../../src/feed/for-you.ts';
import { createStoryKeys } from '../../src/ids/story-key.ts';
import { createTokens } from '../../src/ids/tokens.ts';
import type { Post, PostId } from '../../src/post.ts';
import type { FeedStore } from '../../src/stores/feed-store.ts';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import type { Store } from '../../src/stores/store.ts';
import { idsOf, inOrder, manualClock, post, posts, scriptedRecommender, watchStrictly, world } from './fixture.ts';

const HOUR_MS = 3_600_000;
const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const STALE = { code: 'STALE', message: 'town could not be read in time', sourceKey: 'town' } as const;

let store: Store;
before(async () => {
  store = await openSqliteStore({ file: ':memory:' });
});
after(() => store.close());

/** Viewers of different tests never meet. */
let userId = '';
let tests = 0;
beforeEach(() => {
  userId = `viewer ${tests++}`;
});

describe('the tokens’ keys', () => {
  const all = posts(40);

  /** A gateway with these keys, over a store. */
  function gateway(feeds: FeedStore, keys: readonly Buffer[]) {
    const recommender = inOrder();
    const { request } = world({ feeds, posts: all });
    const forYou: ForYou = createForYou({
      feeds,
      recommender,
      local: recommender,
      storyKeys: createStoryKeys(keys),
      clock: manualClock(),
      watch: watchStrictly(),
      settings: { size: 500, instanceTtlSeconds: 3600, currentTtlSeconds: 600, whenGone: 'continue' },
    });
    const tokens = createTokens(keys);
    return async (token?: string) => {
      const cursor = token === undefined ? undefined : tokens.openFeedCursor(userId, token);
      const view = await forYou.page(request({ userId, limit: 10, cursor }));
      const { state, problems } = view;
      return { ids: idsOf(view), state, problems, next: view.next && tokens.sealFeedCursor(userId, view.next) };
    };
  }

  test('a scroll repeats nothing when the store is lost and the keys are kept', async (t) => {
    const first = await gateway(store.feeds, [OLD])();
    const another = await openSqliteStore({ file: ':memory:' });
    t.after(() => another.close());
    const second = await gateway(another.feeds, [OLD])(first.next);
    assert.equal(new Set([...first.ids, ...second.ids]).size, 20);
  });

  test('nor when they were rotated meanwhile, be it twice', async (t) => {
    const seen = [];
    let page = await gateway(store.feeds, [OLD])();
    for (const keys of [
      [NEW, OLD],
      [Buffer.alloc(32, 3), NEW, OLD],
    ]) {
      seen.push(...page.ids);
      const another = await openSqliteStore({ file: ':memory:' });
      t.after(() => another.close());
      page = await gateway(another.feeds, keys)(page.next);
    }
    seen.push(...page.ids);
    assert.equal(new Set(seen).size, 30);
  });

  test('a scroll of a retired key is refused, and the feed of its time is not shown any more', async () => {
    const first = await gateway(store.feeds, [OLD])();
    const both = await gateway(store.feeds, [NEW, OLD])(first.next);
    await assert.rejects(gateway(store.feeds, [NEW])(both.next), BadCursorError);
    const anew = gateway(store.feeds, [NEW]);
    const again = await anew();
    assert.deepEqual([again.state, again.problems], ['GENERATED', []]);
    assert.equal((await anew(again.next)).ids.length, 10);
  });
});

describe('a source that is late', () => {
  const late = async () => ({ candidates: [], problems: [STALE] });

  test('makes the end of a scroll an error that is to be asked again, and its cursor stays good', async () => {
    const { forYou, request, clock } = world({ feeds: store.feeds, posts: posts(40) });
    const first = await forYou.page(request({ userId }));
    clock.advance(HOUR_MS + 1);
    const asked = request({ userId, cursor: first.next });
    await assert.rejects(forYou.page({ ...asked, candidates: late }), (error) => {
      return error instanceof RecommenderUnavailableError && /town could not be read/.test(error.message);
    });
    assert.equal((await forYou.page(asked)).items.length, 20);
  });

  test('is told beside what a successor has all the same', async () => {
    const recommender = scriptedRecommender(() => posts(40).map(({ id }) => ({ postId: id })));
    const { forYou, request, clock } = world({ feeds: store.feeds, posts: posts(40), recommender });
    const first = await forYou.page(request({ userId }));
    clock.advance(HOUR_MS + 1);
    const second = await forYou.page(request({ userId, cursor: first.next, candidates: late }));
    assert.deepEqual([second.state, second.items.length, second.problems], ['CONTINUED', 20, [STALE]]);
  });

  test('is told on each empty first page', async () => {
    const { forYou, request } = world({ feeds: store.feeds, posts: posts(3) });
    for (let page = 0; page < 2; page++) {
      const view = await forYou.page(request({ userId, candidates: late }));
      assert.deepEqual([view.items, view.problems], [[], [STALE]]);
    }
    assert.equal((await forYou.page(request({ userId }))).items.length, 3);
  });
});

describe('a story that is named by id', () => {
  const original = post({ id: '1@town.example', uri: 'https://town.example/1' });
  const copy = post({ id: '77@pond.example', uri: 'https://town.example/1' });
  const repost = post({ id: '8@town.example', uri: 'https://town.example/8', text: '', html: '', repostOf: original });
  const others = [...'abcdef'].map((letter) => post({ id: `${letter}@town.example` }));
  const pairs = [
    [original, repost],
    [original, copy],
    [repost, original],
    [repost, copy],
    [copy, original],
    [copy, repost],
  ] as const;

  for (const [served, later] of pairs) {
    for (const [how, limit, isEvicted] of [
      ['on one page', 20, false],
      ['over pages', 2, false],
      ['after eviction', 2, true],
    ] as const) {
      test(`is shown once ${how}: first ${served.id}, then ${later.id}`, async () => {
        // What is named later stands three pages after what was served.
        const order = [served, ...others, later];
        const recommender = scriptedRecommender(() => order.map(({ id }) => ({ postId: id })));
        const { forYou, request, clock } = world({ feeds: store.feeds, posts: [...order], recommender });
        const asked = request({ userId, limit, candidates: async () => ({ candidates: [], problems: [] }) });
        const seen: string[] = [];
        for (let view = await forYou.page(asked); ; view = await forYou.page({ ...asked, cursor: view.next })) {
          seen.push(...idsOf(view));
          if (isEvicted) clock.advance(HOUR_MS + 1);
          if (!view.next) break;
        }
        assert.deepEqual(
          seen,
          order.slice(0, -1).map(({ id }) => id),
        );
      });
    }
  }

  test('is shown as its home copy, once', async () => {
    const recommender = scriptedRecommender(() => [copy, ...others, original].map(({ id }) => ({ postId: id })));
    const { forYou, request } = world({ feeds: store.feeds, posts: [], recommender });
    const all = new Map<PostId, Post>([copy, original, ...others].map((one) => [one.id, one]));
    all.set(copy.id, original);
    const hydrate: Hydrate = async (ids) => ({
      posts: new Map([...all].filter(([id]) => ids.includes(id))),
      problems: [],
    });
    const asked: ForYouRequest = request({ userId, limit: 4, hydrate });
    const first = await forYou.page(asked);
    const second = await forYou.page({ ...asked, cursor: first.next });
    assert.deepEqual(
      [...idsOf(first), ...idsOf(second)],
      [original, ...others].map(({ id }) => id),
    );
  });
});

describe('what the store has let go of', () => {
  const ids = posts(40).map(({ id }) => id);
  let folder: string;
  let file: Store;
  /** Another process over the same file: it knows no more than what is written there. */
  let other: Store;
  let backdoor: DatabaseSync;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-truth-'));
    file = await openSqliteStore({ file: join(folder, 'feeds.db') });
    other = await openSqliteStore({ file: join(folder, 'feeds.db') });
    backdoor = new DatabaseSync(join(folder, 'feeds.db'));
  });
  afterEach(async () => {
    backdoor.close();
    await file.close();
    await other.close();
    rmSync(folder, { recursive: true });
  });

  const loseReferences = (lost: readonly PostId[]) => {
    for (const id of lost) backdoor.prepare('DELETE FROM story_references WHERE post_id = ?').run(id);
  };
  const gateways = () => {
    const clock = manualClock();
    const [mine, others] = [file, other].map(({ feeds }) => world({ feeds, posts: posts(40), clock }));
    assert(mine && others);
    return { mine: mine.forYou, others: others.forYou, request: mine.request, clock };
  };

  test('references lost in the middle of a scroll: a successor goes on where it was, on whichever gateway', async () => {
    const { mine, others, request } = gateways();
    const first = await mine.page(request({ userId, limit: 10 }));
    loseReferences(ids.slice(14, 20));
    const asked = request({ userId, limit: 10, cursor: first.next });
    const second = await others.page(asked);
    assert.deepEqual([idsOf(second), second.state], [ids.slice(10, 20), 'CONTINUED']);
    assert.equal(second.next?.successor, true);
    const again = await mine.page(asked);
    assert.deepEqual([idsOf(again), again.feed?.feedId], [idsOf(second), second.feed?.feedId]);
    const third = await mine.page(request({ userId, limit: 10, cursor: second.next }));
    assert.deepEqual([idsOf(third), third.state], [ids.slice(20, 30), 'CACHED']);
  });

  test('references lost of what a page is filled up with: it ends before them, and the next is a successor’s', async () => {
    const { mine, others, request } = gateways();
    const first = await mine.page(request({ userId, limit: 10 }));
    loseReferences(ids.slice(24, 30));
    const hidden = new Set(ids.slice(12, 20));
    const { hydrate: all } = request();
    const hydrate: Hydrate = (asked) => all(asked.filter((id) => !hidden.has(id)));
    const second = await others.page(request({ userId, limit: 10, cursor: first.next, hydrate }));
    assert.deepEqual([idsOf(second), second.state], [[...ids.slice(10, 12), ...ids.slice(20, 21)], 'CACHED']);
    const third = await others.page(request({ userId, limit: 10, cursor: second.next, hydrate }));
    assert.deepEqual([idsOf(third), third.state], [ids.slice(21, 31), 'CONTINUED']);
  });

  test('what a gateway still knows it shows, until another one finds it lost', async () => {
    const { mine, others, request } = gateways();
    const first = await mine.page(request({ userId, limit: 10 }));
    loseReferences(ids);
    const asked = request({ userId, limit: 10, cursor: first.next });
    const known = await mine.page(asked);
    assert.deepEqual([idsOf(known), known.state], [ids.slice(10, 20), 'CACHED']);
    const second = await others.page(asked);
    const again = await mine.page(asked);
    for (const page of [second, again]) assert.deepEqual([idsOf(page), page.state], [ids.slice(10, 20), 'CONTINUED']);
    assert.equal(again.feed?.feedId, second.feed?.feedId);
  });

  test('references lost of a successor, too: it has another in its place', async () => {
    const { mine, others, request, clock } = gateways();
    const first = await mine.page(request({ userId, limit: 10 }));
    clock.advance(HOUR_MS + 1);
    const asked = request({ userId, limit: 10, cursor: first.next });
    const second = await mine.page(asked);
    loseReferences(ids);
    const again = await others.page(asked);
    assert.deepEqual([idsOf(again), again.state], [ids.slice(10, 20), 'CONTINUED']);
    assert.notEqual(again.feed?.feedId, second.feed?.feedId);
  });

  test('all references lost: a first page is made anew', async () => {
    const { mine, others, request } = gateways();
    await mine.page(request({ userId }));
    loseReferences(ids);
    const view = await others.page(request({ userId }));
    assert.deepEqual([idsOf(view), view.state, view.problems], [ids.slice(0, 20), 'GENERATED', []]);
  });

  for (const [what, body] of [
    ['of another version', "substr(body, 1, 4) || x'09' || substr(body, 6)"],
    ['damaged', "body || 'more'"],
  ] as const) {
    const spoil = () => backdoor.exec(`UPDATE instances SET body = CAST(${body} AS BLOB)`);
    test(`an instance that is ${what} is as good as gone, for first pages and for cursors`, async () => {
      const { mine, others, request } = gateways();
      const asked = request({ userId, limit: 10, cursor: (await mine.page(request({ userId, limit: 10 }))).next });
      spoil();
      const second = await others.page(asked);
      assert.deepEqual([idsOf(second), second.state], [ids.slice(10, 20), 'CONTINUED']);
      spoil();
      const again = await mine.page(asked);
      assert.deepEqual([idsOf(again), again.state], [ids.slice(10, 20), 'CONTINUED']);
      assert.notEqual(again.feed?.feedId, second.feed?.feedId);
      await mine.refresh(request({ userId, limit: 10 }));
      spoil();
      const anew = await others.page(request({ userId, limit: 10 }));
      assert.deepEqual([idsOf(anew), anew.state], [ids.slice(0, 10), 'GENERATED']);
    });
  }
});

describe('posts that cannot be read now', () => {
  const ids = posts(12).map(({ id }) => id);

  function scene(unavailable: readonly PostId[], problems: readonly Problem[] = []) {
    const { forYou, request } = world({ feeds: store.feeds, posts: posts(12) });
    const out = new Set(unavailable);
    const { hydrate: all } = request();
    const hydrate: Hydrate = async (asked) => {
      const found = await all(asked.filter((id) => !out.has(id)));
      return { ...found, unavailable: new Set(asked.filter((id) => out.has(id))), problems };
    };
    return { out, page: (overrides = {}) => forYou.page(request({ userId, limit: 5, hydrate, ...overrides })) };
  }

  test('end their page, with a problem, and stand on the next one', async () => {
    const { out, page } = scene(ids.slice(2, 4));
    const first = await page();
    assert.deepEqual(idsOf(first), ids.slice(0, 2));
    assert.deepEqual(
      first.problems.map(({ code }) => code),
      ['RECOMMENDER_UNAVAILABLE'],
    );
    out.clear();
    const second = await page({ cursor: first.next });
    assert.deepEqual([idsOf(second), second.problems], [ids.slice(2, 7), []]);
  });

  test('are passed over, with a problem, where they cannot be read a second time and others can', async () => {
    const { page } = scene([ids[2] ?? '', ids[4] ?? '']);
    const first = await page();
    const second = await page({ cursor: first.next });
    assert.deepEqual(
      idsOf(second),
      [3, 5, 6, 7, 8].map((n) => ids[n]),
    );
    assert.equal(second.problems.length, 1);
  });

  test('say nothing on a page that is full without them', async () => {
    const { page } = scene([ids[5] ?? '']);
    const first = await page();
    assert.deepEqual([idsOf(first), first.problems], [ids.slice(0, 5), []]);
    assert(first.next);
  });

  test('fail the page where there are no others, to be asked again when their source says', async () => {
    const { page } = scene(ids.slice(3), [{ code: 'RATE_LIMITED', message: 'slowly', retryAtMs: 77 }]);
    const first = await page();
    assert.deepEqual(
      first.problems.map(({ code }) => code),
      ['RATE_LIMITED'],
    );
    await assert.rejects(page({ cursor: first.next }), (error) => {
      return error instanceof RecommenderUnavailableError && error.retryAtMs === 77;
    });
  });
});
