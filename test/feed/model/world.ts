import assert from 'node:assert/strict';
import { BadCursorError, RecommenderUnavailableError } from '../../../src/errors.ts';
import { nameHash, namesOf, servedHashes, storyUri } from '../../../src/feed/story.ts';
import { hasServed, laterPart } from '../../../src/ids/served-set.ts';
import { manualClock, post, STORY_KEYS, scriptedRecommender } from '../fixture.ts';
import type { Dump, Ground, Written } from './ground.ts';
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

const isWhole = ({ postId }: Written) => postId !== undefined;

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
  const catalogue: Catalogue = { posts: [], hidden: new Set(), unreadable: new Set(), isByName: false };
  const recommender = scriptedRecommender(({ candidates, seed }) => {
    const order = rank(seed);
    const some = catalogue.isByName ? catalogue.posts : candidates.map((candidate) => candidate.post);
    return some.toSorted((a, b) => order(a.id) - order(b.id)).map(({ id }) => ({ postId: id }));
  });
  const newReader = (n: number): Reader => {
    if (readerOf) return readerOf(clock, catalogue);
    const store = ground?.stores[n % ground.stores.length];
    assert(store);
    return ourReader(store, clock, recommender, catalogue);
  };
  const readers = [0, 1, 2].map(newReader);
  const cursors: Known[] = [];
  const dumps = new Map<string, { readonly dump: Dump; readonly hasLostList: boolean }>();
  const abandoned = new Set<Promise<unknown>>();
  const lostTheirList = new Set<string>();
  /** What hashes named when that was seen first: a process may still know it when it is lost. */
  const named = new Map<string, string>();
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

  /** Looks at no item, for a store that finds one lost removes the instance. */
  const isKept = async (userId: string, feedId: string) => {
    const nothing = { viewerId: userId, feedId, offset: 0, count: 0, nowMs: clock.now(), ttlMs: 1 };
    return (await ground?.stores[0]?.feeds.cut(nothing)) !== undefined;
  };
  /** What a kept instance holds; undefined when it is gone. */
  async function itemsOf(userId: string, feedId: string) {
    if (!ground || !(await isKept(userId, feedId))) return;
    const items = await ground.items(userId, feedId);
    for (const { hash, postId } of items) if (postId !== undefined && !named.has(hash)) named.set(hash, postId);
    return items;
  }

  /**
   * What a page of the instance shows from the cursor on, and whether there is more; undefined when it is gone, or when it
   * cannot be told what a gateway takes its items for, because that was lost and perhaps named again.
   */
  async function expected(
    { userId, token }: { userId: string; token?: string | undefined },
    feedId: string,
    limit: number,
  ) {
    const items = await itemsOf(userId, feedId);
    if (!items) return;
    const cursor = token === undefined ? undefined : openToken(userId, token);
    const isSame = cursor?.feedId === feedId;
    const served = cursor && (cursor.successor || !isSame ? cursor.served : laterPart(cursor.served));
    const shownAs = new Set<string>();
    const ids: string[] = [];
    let isPassingOver = false;
    for (const { hash, ...written } of items.slice(isSame ? cursor.offset : 0)) {
      if (ids.length > limit) break;
      const postId = named.get(hash);
      if (postId === undefined || (written.postId ?? postId) !== postId) return;
      const found = catalogue.posts.find(({ id }) => id === postId);
      assert(found, `${postId} is named by the instance`);
      if (catalogue.unreadable.has(postId)) {
        if (ids.length > 0 && !isPassingOver) return { ids: ids.slice(0, limit), hasMore: true };
        isPassingOver = true;
        continue;
      }
      const story = storyUri(found);
      const names = [...servedHashes(hash), nameHash(STORY_KEYS.current, story)];
      const isServed = served && names.some((name) => hasServed(served, name));
      if (catalogue.hidden.has(postId) || isServed || shownAs.has(story)) continue;
      shownAs.add(story);
      ids.push(postId);
    }
    return { ids: ids.slice(0, limit), hasMore: ids.length > limit };
  }

  /** A page, or undefined where posts cannot be read now and it says so. */
  async function ask(page: Promise<ReaderPage>): Promise<ReaderPage | undefined> {
    return page.catch((error: unknown) => {
      if (catalogue.unreadable.size > 0 && error instanceof RecommenderUnavailableError) return undefined;
      throw error;
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
    const live = (await ground.instances(userId)).map((feedId) => isKept(userId, feedId));
    const isBounded = (await Promise.all(live)).filter(Boolean).length <= MOST_LIVE;
    assert(isBounded || lostTheirList.has(userId), 'I6: at most 4 live instances');
    const { feedId } = page;
    if (feedId === undefined) {
      assert.deepEqual([page.items.length, page.next], [0, undefined]);
      const { served } = openToken(userId, known?.token ?? '');
      for (const one of catalogue.posts) {
        const isServed = namesOf(one).some((name) => hasServed(served, nameHash(STORY_KEYS.current, name)));
        assert(isServed, `I7: the scroll ended without ${one.id}`);
      }
      return;
    }
    const found = await expected({ userId, token: known?.token }, feedId, limit);
    if (found === undefined) return;
    const ids = page.items.map((item) => item.post.id);
    assert.deepEqual(ids, found.ids, 'I2: the instance in its order, minus what is hidden');
    assert.equal(page.next !== undefined, found.hasMore, 'I7: nextPage exactly when there is more');
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
    const own = ground && openToken(userId, token).feedId;
    const [ofOwn, ofBefore] = await Promise.all(
      [own, before].map((feedId) => (isAlone && feedId !== undefined ? itemsOf(userId, feedId) : undefined)),
    );
    const page = await ask(readerAt(gateway).page({ userId, limit, token }));
    await settle();
    if (!page) return;
    if (ofOwn?.every(isWhole)) assert.equal(page.feedId, own, 'I3: a live instance answers its cursors');
    else if (ofOwn && own !== undefined && page.feedId !== own)
      assert(!(await isKept(userId, own)), 'I3: one that does not, because of what was lost, is gone for all');
    // Which successor a cursor has is written in the list.
    else if (!ofOwn && ofBefore?.every(isWhole) && !lostTheirList.has(userId))
      assert.equal(page.feedId, before, 'I3: the same cursor, the same start while its successor lives');
    known.answeredBy = page.feedId;
    await check(page, { userId, limit, known });
  }

  grow(25);
  return {
    async first(gateway: number, viewer: number, limit: number) {
      const userId = userOf(viewer);
      const page = await ask(readerAt(gateway).page({ userId, limit }));
      await settle();
      if (page) await check(page, { userId, limit });
    },
    /** Two devices at two gateways ask for page 1 at once. */
    async race(viewer: number, limit: number) {
      await settle();
      const userId = userOf(viewer);
      const found = await ground?.stores[0]?.feeds.current(userId, clock.now());
      const current = found?.instance?.feedId;
      const isLost = current !== undefined && !(await itemsOf(userId, current))?.every(isWhole);
      const all = await Promise.all(readers.map((reader) => ask(reader.page({ userId, limit }))));
      const pages = all.filter((page) => page !== undefined);
      for (const page of pages) await check(page, { userId, limit });
      if (!ground || pages.length === 0) return;
      const feedIds = new Set(pages.map(({ feedId }) => feedId));
      if (isLost && feedIds.size > 1 && feedIds.delete(current))
        assert(
          !(await isKept(userId, current)),
          'I3: one that not all show, because of what was lost, is gone for all',
        );
      assert.equal(feedIds.size, 1, 'I3: one instance for all devices');
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
      const page = await ask(readerAt(gateway).refresh({ userId, limit }));
      await settle();
      if (page) await check(page, { userId, limit });
    },
    /** A device asks and goes away; what comes next does not wait for it. */
    abandon(gateway: number, which: number, limit: number) {
      const { userId, token } = cursorAt(which) ?? { userId: userOf(which), token: undefined };
      const asked = ask(readerAt(gateway).page({ userId, limit, token })).finally(() => abandoned.delete(asked));
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
      const userId = userOf(viewer);
      if (ground) dumps.set(userId, { dump: await ground.dump(userId), hasLostList: lostTheirList.has(userId) });
    },
    async failover(viewer: number, isAliasAlone: boolean) {
      await settle();
      const userId = userOf(viewer);
      const kept = dumps.get(userId);
      if (!kept || !ground) return;
      if (isAliasAlone) return ground.restoreAlias(userId, kept.dump);
      await ground.restore(userId, kept.dump);
      if (kept.hasLostList) lostTheirList.add(userId);
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
    async loseReferences(every: number) {
      await settle();
      await ground?.loseReferences(every);
    },
    /** The store is lost, the tokens' keys are kept. */
    async loseStore(viewer: number) {
      await settle();
      await ground?.lose(userOf(viewer));
      lostTheirList.delete(userOf(viewer));
    },
    async naming(isByName: boolean) {
      await settle();
      catalogue.isByName = isByName;
    },
    /** What may be read by id is used up, for some posts; or there is some again. */
    async budget(which: number, isUsedUp: boolean) {
      await settle();
      catalogue.unreadable.clear();
      if (isUsedUp)
        for (const { id } of catalogue.posts.filter((_, n) => (n + which) % 4 < 2)) catalogue.unreadable.add(id);
    },
    async grow(count: number) {
      await settle();
      grow(count);
    },
    /** I4: wherever it stands, a scroll ends, even when everything is let go between any two pages. */
    async end() {
      await settle();
      catalogue.hidden.clear();
      catalogue.unreadable.clear();
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
