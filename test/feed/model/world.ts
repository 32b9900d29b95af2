import assert from 'node:assert/strict';
import { BadCursorError } from '../../../src/errors.ts';
import { nameHash, servedHashes, storyUri } from '../../../src/feed/story.ts';
import { hasServed } from '../../../src/ids/served-set.ts';
import { manualClock, post, STORY_KEYS, scriptedRecommender } from '../fixture.ts';
import type { Dump, Ground } from './ground.ts';
import { type Catalogue, openToken, ourReader, type Reader, type ReaderPage, rank } from './reader.ts';

/** What is known of a cursor that a device was given. */
interface Known {
  readonly userId: string;
  readonly token: string;
  /** Ids and stories that its scroll had shown before it. */
  readonly served: ReadonlySet<string>;
  readonly position: number;
  /** The instance that answered it last. */
  answeredBy?: string | undefined;
}

const VIEWERS = ['Ann', 'Bob'] as const;
const MOST_LIVE = 4;
let runs = 0;

/** Several gateways, the devices of two viewers, and what is checked of every page that they are given. */
export type World = ReturnType<typeof createWorld>;

/** `ground` absent: readers of another design, of whose pages only I1 is asked. */
export function createWorld(options: {
  ground?: Ground;
  readerOf?: (clock: ReturnType<typeof manualClock>, catalogue: Catalogue) => Reader;
}) {
  const { ground, readerOf } = options;
  const run = runs++;
  const clock = ground?.clock ?? manualClock();
  const catalogue: Catalogue = { posts: [], hidden: new Set() };
  const recommender = scriptedRecommender(({ candidates, seed }) => {
    const order = rank(seed);
    const shuffled = candidates.toSorted((a, b) => order(a.post.id) - order(b.post.id));
    return shuffled.map(({ post: { id } }) => ({ postId: id }));
  });
  const newReader = (n: number): Reader => {
    if (readerOf) return readerOf(clock, catalogue);
    const store = ground?.stores[n % ground.stores.length];
    assert(store);
    return ourReader(store, clock, recommender, catalogue);
  };
  const readers = [0, 1, 2].map(newReader);
  const cursors: Known[] = [];
  const dumps = new Map<string, Dump>();
  const abandoned = new Set<Promise<unknown>>();
  const lostTheirList = new Set<string>();
  const userOf = (n: number) => `${VIEWERS[n % VIEWERS.length]}${run}`;
  const readerAt = (n: number) => readers[n % readers.length] as Reader;
  const cursorAt = (n: number) => cursors[cursors.length - 1 - (n % Math.max(1, Math.min(cursors.length, 25)))];

  function grow(count: number): void {
    for (let n = 0; n < count; n++) {
      const number = catalogue.posts.length;
      const id = `${run}-${number}@town.example`;
      // Every third post is a copy of the one before it, every fifth a repost of the one two before it.
      const [copied, reposted] = [catalogue.posts[0], catalogue.posts[1]];
      if (number % 3 === 2 && copied) catalogue.posts.unshift(post({ id, uri: storyUri(copied) }));
      else if (number % 5 === 4 && reposted) catalogue.posts.unshift(post({ id, repostOf: reposted }));
      else catalogue.posts.unshift(post({ id }));
    }
  }

  const cut = (userId: string, feedId: string, count: number, ttlMs: number) =>
    ground?.stores[0]?.feeds.cut({ viewerId: userId, feedId, offset: 0, count, nowMs: clock.now(), ttlMs });
  const isLive = async (userId: string, feedId: string) => (await cut(userId, feedId, 0, 1)) !== undefined;

  /** The instance's posts from the cursor on, in its order, as they can be seen now; undefined when it is gone. */
  async function remaining({ userId, token }: { userId: string; token?: string | undefined }, feedId: string) {
    const held = await cut(userId, feedId, 1000, 3_600_000);
    const cursor = token === undefined ? undefined : openToken(userId, token);
    const isSame = cursor?.feedId === feedId;
    const filter = cursor && (cursor.successor || !isSame) ? cursor : undefined;
    return held?.items.slice(isSame ? cursor.offset : 0).flatMap(({ postId = '', hash }) => {
      const named = catalogue.posts.find(({ id }) => id === postId);
      assert(named, `${postId} is named by the instance`);
      const names = [...servedHashes(hash), nameHash(STORY_KEYS.current, storyUri(named))];
      const isServed = filter && names.some((name) => hasServed(filter.served, name));
      return catalogue.hidden.has(postId) || isServed ? [] : [postId];
    });
  }

  async function check(page: ReaderPage, ask: { userId: string; limit: number; known?: Known | undefined }) {
    const { userId, limit, known } = ask;
    const shown = new Set(known?.served);
    let position = known?.position ?? -1;
    for (const item of page.items) {
      const names = new Set([item.post.id, storyUri(item.post)]);
      for (const name of names) assert(!shown.has(name), `I1: ${name} came twice`);
      for (const name of names) shown.add(name);
      if (item.position !== undefined) {
        assert(item.position > position, 'I4: positions rise');
        position = item.position;
      }
      cursors.push({ userId, token: item.token, served: new Set(shown), position });
    }
    // What a device goes on with; the copies among the items' cursors are for those that go back.
    if (page.next) cursors.push({ userId, token: page.next, served: shown, position });
    if (!ground) return;

    if (page.next) assert(page.items.length > 0, 'I7: a page with nextPage has an item');
    const live = (await ground.instances(userId)).map((feedId) => isLive(userId, feedId));
    const isBounded = (await Promise.all(live)).filter(Boolean).length <= MOST_LIVE;
    assert(isBounded || lostTheirList.has(userId), 'I6: at most 4 live instances');
    const { feedId } = page;
    if (feedId === undefined) return assert.deepEqual([page.items.length, page.next], [0, undefined]);
    const rest = await remaining({ userId, token: known?.token }, feedId);
    if (rest === undefined) return;
    const ids = page.items.map((item) => item.post.id);
    assert.deepEqual(ids, rest.slice(0, limit), 'I2: the instance in its order, minus what is hidden');
    assert.equal(page.next === undefined, rest.length <= limit, 'I7: nextPage exactly when there is more');
    if (!page.next) return;
    const next = openToken(userId, page.next);
    const from = known && openToken(userId, known.token);
    assert(next.feedId === feedId && (from?.feedId !== feedId || next.offset > from.offset), 'I4: the cursor advances');
  }

  /** Waits for what nobody waits for, so that what is checked next stands still. */
  async function settle(): Promise<void> {
    while (abandoned.size > 0) await Promise.all(abandoned);
    await Promise.all(readers.map((reader) => reader.drain()));
  }

  async function goOn(gateway: number, known: Known, limit: number): Promise<void> {
    const { userId, token } = known;
    const before = known.answeredBy;
    const isAlone = abandoned.size === 0;
    const wasLive = ground && isAlone && before !== undefined && (await isLive(userId, before));
    const own = ground && openToken(userId, token).feedId;
    const ownWasLive = own !== undefined && isAlone && (await isLive(userId, own));
    const page = await readerAt(gateway).page({ userId, limit, token });
    await settle();
    if (ownWasLive) assert.equal(page.feedId, own, 'I3: a live instance answers its cursors');
    // Which successor a cursor has is written in the list.
    else if (wasLive && !lostTheirList.has(userId))
      assert.equal(page.feedId, before, 'I3: the same cursor, the same start while its successor lives');
    known.answeredBy = page.feedId;
    await check(page, { userId, limit, known });
  }

  grow(25);
  return {
    async first(gateway: number, viewer: number, limit: number) {
      const userId = userOf(viewer);
      const page = await readerAt(gateway).page({ userId, limit });
      await settle();
      await check(page, { userId, limit });
    },
    /** Two devices at two gateways ask for page 1 at once. */
    async race(viewer: number, limit: number) {
      await settle();
      const userId = userOf(viewer);
      const pages = await Promise.all(readers.map((reader) => reader.page({ userId, limit })));
      for (const page of pages) await check(page, { userId, limit });
      if (ground) assert.equal(new Set(pages.map(({ feedId }) => feedId)).size, 1, 'I3: one instance for all devices');
    },
    async next(gateway: number, which: number, limit: number) {
      const known = cursorAt(which);
      if (known) await goOn(gateway, known, limit);
    },
    /** The device that went on last goes on; now and then twice, as one does whose answer was lost. */
    async scroll(gateway: number, limit: number, isTwice: boolean) {
      const known = cursors.at(-1);
      if (!known) return;
      await goOn(gateway, known, limit);
      if (isTwice) await goOn(gateway + 1, known, limit);
    },
    async refresh(gateway: number, viewer: number, limit: number) {
      const userId = userOf(viewer);
      const page = await readerAt(gateway).refresh({ userId, limit });
      await settle();
      await check(page, { userId, limit });
    },
    /** A device asks and goes away; what comes next does not wait for it. */
    abandon(gateway: number, which: number, limit: number) {
      const { userId, token } = cursorAt(which) ?? { userId: userOf(which), token: undefined };
      const asked = readerAt(gateway)
        .page({ userId, limit, token })
        .finally(() => abandoned.delete(asked));
      abandoned.add(asked);
    },
    async foreign(which: number) {
      const known = cursorAt(which);
      if (!known || !ground) return;
      const other = userOf(VIEWERS.findIndex((name) => known.userId.startsWith(name)) + 1);
      const forged =
        known.token.slice(0, which % known.token.length) +
        (known.token.at(which % known.token.length) === 'A' ? 'B' : 'A');
      for (const [userId, token] of [
        [other, known.token],
        [known.userId, forged],
        [known.userId, ''],
      ] as const) {
        await assert.rejects(readerAt(which).page({ userId, limit: 1, token }), BadCursorError, 'I5');
      }
    },
    async evict(viewer: number, which: number) {
      await settle();
      const userId = userOf(viewer);
      if (await ground?.evict(userId, which)) lostTheirList.add(userId);
    },
    async dump(viewer: number) {
      await settle();
      if (ground) dumps.set(userOf(viewer), await ground.dump(userOf(viewer)));
    },
    async failover(viewer: number, isAliasAlone: boolean) {
      await settle();
      const dump = dumps.get(userOf(viewer));
      if (!dump || !ground) return;
      await (isAliasAlone ? ground.restoreAlias(userOf(viewer), dump) : ground.restore(userOf(viewer), dump));
    },
    /** A gateway is killed, and another takes its place. */
    restart(gateway: number) {
      readers[gateway % readers.length] = newReader(gateway);
    },
    async advance(ms: number) {
      await settle();
      clock.advance(ms);
    },
    async show(which: number, isHidden: boolean) {
      await settle();
      const id = catalogue.posts[which % catalogue.posts.length]?.id ?? '';
      if (isHidden) catalogue.hidden.add(id);
      else catalogue.hidden.delete([...catalogue.hidden][which % Math.max(1, catalogue.hidden.size)] ?? '');
    },
    async grow(count: number) {
      await settle();
      grow(count);
    },
    /** I4: wherever it stands, a scroll ends, even when everything is let go between any two pages. */
    async end() {
      await settle();
      catalogue.hidden.clear();
      let known = cursors.at(-1);
      for (let pages = 0; known; pages++) {
        assert(pages <= 2 * catalogue.posts.length, 'I4: paging ends');
        const dump = await ground?.dump(known.userId);
        for (let n = 0; dump && pages % 2 === 0 && n < 7; n++) await ground?.evict(known.userId, 0);
        const before = cursors.length;
        await goOn(pages, known, 3);
        known =
          cursors.length > before && cursors.at(-1) !== known && cursors.at(-1)?.token === cursors.at(-2)?.token
            ? cursors.at(-1)
            : undefined;
      }
    },
  };
}
