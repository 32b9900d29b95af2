import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { RecommenderUnavailableError } from '../../src/errors.ts';
import type { ForYouView } from '../../src/feed/for-you.ts';
import { nameHash, servedHashes, storyUri } from '../../src/feed/story.ts';
import { hasServed } from '../../src/ids/served-set.ts';
import { createTokens, type FeedCursor, MAX_TOKEN_LENGTH } from '../../src/ids/tokens.ts';
import type { Post } from '../../src/post.ts';
import type { RecommendedItem } from '../../src/recommenders/recommender.ts';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import type { Store } from '../../src/stores/store.ts';
import { manualClock, post, STORY_KEYS, scriptedRecommender, world } from './fixture.ts';

/** One step of a run. Numbers choose among what there is, by remainder. */
type Step =
  | { do: 'first' | 'refresh'; limit: number }
  | { do: 'page'; which: number; limit: number }
  | { do: 'advance'; ms: number }
  | { do: 'evict'; which: number }
  | { do: 'hide' | 'show'; which: number }
  | { do: 'grow'; count: number }
  | { do: 'fail'; on: boolean };

/** How a recommender names stories: not at all, the same for every copy, or as it likes. */
type Naming = 'none' | 'faithful' | 'whimsical';

const limit = fc.integer({ min: 1, max: 12 });
const nat = fc.nat();
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('first' as const), limit }) },
  { weight: 12, arbitrary: fc.record({ do: fc.constant('page' as const), which: nat, limit }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('refresh' as const), limit }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(1, 6_000, 700_000, 4_000_000) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('evict' as const), which: nat }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('hide' as const, 'show' as const), which: nat }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('grow' as const), count: fc.integer({ min: 1, max: 8 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const), on: fc.boolean() }) },
);

let directory: string;
let store: Store;
/** A second connection, to evict as a store that runs out of memory does, and to look. */
let backdoor: DatabaseSync;

before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-feed-'));
  store = await openSqliteStore({ file: join(directory, 'feed.db') });
  backdoor = new DatabaseSync(join(directory, 'feed.db'));
});

after(async () => {
  backdoor.close();
  await store.close();
  rmSync(directory, { recursive: true });
});

const tokens = createTokens([Buffer.alloc(32, 1)]);
let runs = 0;

/** What the model knows of a cursor that was given out. */
interface Known {
  readonly token: string;
  /** Post ids and stories that the lineage served before it. */
  readonly served: ReadonlySet<string>;
  readonly position: number;
  /** The instance that answered it, once one has. */
  answeredBy?: string | undefined;
}

for (const naming of ['none', 'faithful', 'whimsical'] as const) {
  for (const whenGone of ['continue', 'empty'] as const) {
    test(`I1 to I7 hold under eviction, expiry and retries, stories named ${naming}, when gone: ${whenGone}`, async () => {
      const numRuns = whenGone === 'continue' ? 100 : 30;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), fc.nat(1000), async (steps, seed) => {
          await createRun(naming, whenGone, seed).play(steps);
        }),
        { numRuns },
      );
    });
  }
}

function createRun(naming: Naming, whenGone: 'continue' | 'empty', seed: number) {
  const userId = `viewer ${runs++}`;
  const clock = manualClock();
  let failing = false;
  let calls = 0;
  const story = new Map<string, string>();
  const made = new Map<number, Post>();
  const add = (number: number): Post => {
    const id = `${seed}-${number}@town.example`;
    // Every third post is a copy of the one before it, and every fifth a repost of the one two before it.
    const shown = number % 3 === 2 ? number - 1 : number % 5 === 4 ? number - 2 : number;
    story.set(id, story.get(`${seed}-${shown}@town.example`) ?? `story ${seed}-${number}`);
    const original = number % 5 === 4 && number % 3 !== 2 ? made.get(shown) : undefined;
    const one = original ? post({ id, repostOf: original }) : post({ id, uri: `uri ${story.get(id)}` });
    made.set(number, one);
    return one;
  };
  const recommender = scriptedRecommender(({ candidates, seed: order }) => {
    if (failing) throw new RecommenderUnavailableError('out');
    calls++;
    const shuffled = [...candidates].sort((a, b) => rank(order, a.post.id) - rank(order, b.post.id));
    return shuffled.map(({ post: { id } }): RecommendedItem => {
      if (naming === 'faithful') return { postId: id, canonicalId: story.get(id) };
      if (naming === 'whimsical' && rank(order, `${id}?`) % 2 === 0)
        return { postId: id, canonicalId: `whim ${calls} ${id}` };
      return { postId: id };
    });
  });
  const size = 30;
  const start = Array.from({ length: 25 }, (_, number) => add(number));
  const settings = { size, whenGone };
  const { forYou, request, hidden, catalogue } = world({
    feeds: store.feeds,
    posts: start,
    recommender,
    local: recommender,
    clock,
    settings,
  });
  const cursors: Known[] = [];

  const isLive = (feedId: string) =>
    backdoor
      .prepare('SELECT 1 FROM instances WHERE viewer = ? AND feed_id = ? AND expires_at > ?')
      .get(JSON.stringify(userId), feedId, clock.now()) !== undefined;
  const liveCount = () =>
    Number(
      backdoor
        .prepare('SELECT count(*) AS n FROM instances WHERE viewer = ? AND expires_at > ?')
        .get(JSON.stringify(userId), clock.now())?.n,
    );

  /** The instance's posts in order from a raw place on, as they can be seen now. */
  async function remaining(feedId: string, offset: number, cursor: FeedCursor | undefined): Promise<readonly string[]> {
    const query = { viewerId: userId, feedId, offset, count: 1000, nowMs: clock.now(), ttlMs: 3_600_000 };
    const cut = await store.feeds.cut(query);
    assert(cut);
    return cut.items
      .filter(({ postId = '', hash }) => {
        const named = catalogue.find(({ id }) => id === postId);
        assert(named, `${postId} is named by the instance`);
        const names = [...servedHashes(hash), nameHash(STORY_KEYS.current, storyUri(named))];
        return !hidden.has(postId) && !(cursor && names.some((name) => hasServed(cursor.served, name)));
      })
      .map(({ postId = '' }) => postId);
  }

  function remember(cursor: FeedCursor, served: ReadonlySet<string>, position: number): Known {
    const token = tokens.sealFeedCursor(userId, cursor);
    assert(token.length <= MAX_TOKEN_LENGTH);
    const known = { token, served, position };
    cursors.push(known);
    return known;
  }

  async function check(view: ForYouView, from: { known?: Known; cursor?: FeedCursor; limit: number }) {
    const { known, cursor } = from;
    const ids = view.items.map((item) => item.post.id);
    const lineage = new Set(known?.served);
    let position = known?.position ?? -1;
    for (const item of view.items) {
      const names = [item.post.id, story.get(item.post.id) ?? ''];
      for (const name of names) assert(!lineage.has(name), `I1: ${name} came twice`);
      for (const name of names) lineage.add(name);
      assert(item.position > position, 'I4: positions rise');
      position = item.position;
      remember(item.cursor, new Set(lineage), position);
    }
    assert(liveCount() <= 4, 'I6: at most 4 live instances');
    if (view.state === 'EXPIRED') {
      assert.equal(whenGone, 'empty');
      assert.deepEqual([ids, view.next], [[], undefined]);
      return;
    }
    if (view.next) assert(ids.length > 0, 'I7: a page with nextPage has an item');
    if (!view.feed) {
      assert.equal(view.state, 'CONTINUED');
      assert.deepEqual(ids, []);
      return;
    }
    const { feedId } = view.feed;
    const isSame = cursor?.feedId === feedId;
    const offset = isSame ? cursor.offset : 0;
    // Where a successor's served set hides by mistake, it does so by the set that its page began with.
    const rest = await remaining(feedId, offset, cursor && (cursor.successor || !isSame) ? cursor : undefined);
    assert.deepEqual(ids, rest.slice(0, from.limit), 'I2: the instance in its order, minus what is hidden');
    assert.equal(view.next === undefined, rest.length <= from.limit, 'I7: nextPage exactly when there is more');
    if (view.next) {
      assert(view.next.feedId === feedId && view.next.offset > offset, 'I4: the cursor advances');
      const last = view.items.at(-1);
      assert.equal(tokens.sealFeedCursor(userId, view.next), last && tokens.sealFeedCursor(userId, last.cursor));
    }
    if (known) {
      const before = known.answeredBy;
      if (before !== undefined && before !== feedId) assert(!wasLive.has(before), 'I3: the same cursor, another start');
      known.answeredBy = feedId;
    }
  }

  let wasLive = new Set<string>();

  async function page(known: Known, limit: number): Promise<ForYouView | undefined> {
    const cursor = tokens.openFeedCursor(userId, known.token);
    wasLive = new Set([known.answeredBy, cursor.feedId].filter((id) => id !== undefined && isLive(id)) as string[]);
    try {
      const view = await forYou.page(request({ userId, limit, cursor }));
      if (wasLive.has(cursor.feedId))
        assert.equal(view.feed?.feedId, cursor.feedId, 'a live instance answers its cursors');
      await check(view, { known, cursor, limit });
      return view;
    } catch (error) {
      assert(failing && error instanceof RecommenderUnavailableError, String(error));
      return;
    }
  }

  async function playStep(step: Step): Promise<void> {
    const chosen = (which: number) => cursors[cursors.length - 1 - (which % Math.min(cursors.length, 15))];
    switch (step.do) {
      case 'first':
      case 'refresh': {
        const asked = request({ userId, limit: step.limit });
        // With no live instance the local recommender stands in, and here that one fails as well.
        const view = await (step.do === 'first' ? forYou.page(asked) : forYou.refresh(asked)).catch((error) => {
          assert(failing && error instanceof RecommenderUnavailableError, String(error));
        });
        if (view) await check(view, { limit: step.limit });
        return;
      }
      case 'page': {
        const known = cursors.length > 0 ? chosen(step.which) : undefined;
        if (known) await page(known, step.limit);
        return;
      }
      case 'advance':
        return clock.advance(step.ms);
      case 'evict': {
        const rows = backdoor.prepare('SELECT feed_id FROM instances WHERE viewer = ?').all(JSON.stringify(userId));
        const row = rows[step.which % Math.max(1, rows.length)];
        if (row) backdoor.prepare('DELETE FROM instances WHERE feed_id = ?').run(row.feed_id ?? null);
        return;
      }
      case 'hide':
        hidden.add(catalogue[step.which % catalogue.length]?.id ?? '');
        return;
      case 'show':
        hidden.delete([...hidden][step.which % Math.max(1, hidden.size)] ?? '');
        return;
      case 'grow':
        for (let i = 0; i < step.count; i++) catalogue.unshift(add(catalogue.length));
        return;
      case 'fail':
        failing = step.on;
    }
  }

  return {
    async play(steps: readonly Step[]) {
      for (const one of steps) await playStep(one);
      failing = false;
      // I4: from wherever it is, a scroll ends, even when everything is evicted between any two pages.
      let known = cursors.at(-1);
      for (let pages = 0; known; pages++) {
        assert(pages <= 2 * catalogue.length, 'I4: paging ends');
        if (pages % 2 === 0) backdoor.prepare('DELETE FROM instances WHERE viewer = ?').run(JSON.stringify(userId));
        const view = await page(known, 3);
        known =
          view?.next && cursors.find(({ token }) => view.next && token === tokens.sealFeedCursor(userId, view.next));
      }
    },
  };
}

/** An order that differs from seed to seed. */
function rank(seed: string, text: string): number {
  let hash = 7;
  for (const char of seed + text) hash = (Math.imul(hash, 31) + (char.codePointAt(0) ?? 0)) | 0;
  return Math.imul(hash, 0x9e3779b1) >>> 0;
}
