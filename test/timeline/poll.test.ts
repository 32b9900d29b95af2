import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UpstreamError } from '../../src/errors.ts';
import { encodeSnowflake, TWITTER } from '../../src/ids/snowflake.ts';
import { simulatedId } from '../simulated-ids.ts';
import { createHouse, type House, type HouseOptions, postIdOf } from './house.ts';

/** A house with some history, after its first poll. */
async function settled(options: HouseOptions = {}, history = 5): Promise<House> {
  const house = await createHouse(options);
  for (let n = history; n > 0; n -= 1) house.publish({ agoMs: 300_000 + n * 1000 });
  house.pollers.start();
  await house.clock.advance(10);
  return house;
}

describe('a first poll', () => {
  it('takes one page as history, in which nothing is late or a gap', async () => {
    const house = await settled({}, 95);
    const state = await house.log();
    assert.equal((await house.entries()).length, 40);
    assert.equal(
      (await house.records()).some(({ late }) => late),
      false,
    );
    assert.deepEqual(state.gaps, []);
    assert.equal(state.counts.leaksPrevented, 0);
    assert.equal(house.server.requests.length, 1);
  });

  it('begins history at its lowest id: older posts never become entries', async () => {
    const house = await settled();
    const old = house.publish({ agoMs: 500_000 });
    await house.clock.advance(120_000);
    assert.equal((await house.entries()).includes(old), false);
  });

  it('of an empty timeline begins the overlap before now', async () => {
    const house = await settled({}, 0);
    const before = house.publish({ agoMs: 30_000 });
    const old = house.publish({ agoMs: 600_000 });
    const after = house.publish();
    await house.clock.advance(60_000);
    assert.deepEqual(await house.entries(), [before, after]);
    assert.equal((await house.entries()).includes(old), false);
  });

  it('puts entries in order of their ids, and sorts them by the time of the id, never after their arrival', async () => {
    const house = await settled();
    const future = house.publish({ agoMs: -3_600_000, visibleAtMs: 0 });
    await house.clock.advance(60_000);
    const records = await house.records();
    assert.deepEqual(
      records.map(({ sortAtMs }) => sortAtMs),
      records.map(({ sortAtMs }) => sortAtMs).toSorted((a, b) => a - b),
    );
    const entry = records.find(({ postId }) => postId === postIdOf(future));
    assert.ok(entry);
    assert.equal(entry.sortAtMs, entry.arrivedAtMs);
    assert.ok(records.every(({ sortAtMs, arrivedAtMs }) => sortAtMs <= arrivedAtMs));
  });
});

describe('the overlap', () => {
  it("gives the article's B once: A with the higher id was seen first, B shows 10 ms later", async () => {
    const house = await settled({ scheme: 'twitter', polling: { overlapMs: 10_000 } });
    const madeMs = house.server.now() + 59_990;
    const id = (sequence: number) => encodeSnowflake(TWITTER, { timeMs: madeMs, generator: 1, sequence });
    const b = house.publish({ id: id(1), atMs: madeMs, visibleAtMs: madeMs + 20 });
    const a = house.publish({ id: id(2), atMs: madeMs, visibleAtMs: madeMs });
    await house.clock.advance(60_000);
    assert.equal((await house.entries()).at(-1), a);
    await house.clock.advance(60_000);
    assert.deepEqual((await house.entries()).slice(-2), [a, b]);
    await house.clock.advance(600_000);
    const entries = await house.entries();
    assert.equal(entries.filter((entry) => entry === b).length, 1);
    const state = await house.log();
    assert.equal(state.counts.leaksPrevented, 1);
    assert.deepEqual([state.lateness?.samples, state.lateness?.maxMs], [1, 0]);
    assert.equal((await house.records()).at(-1)?.late, true);
  });

  for (const [scheme, overlapMs] of [
    ['twitter', 10_000],
    ['mastodon', 60_000],
  ] as const) {
    it(`of ${scheme}'s default delivers posts 2.2 s and 4.1 s below the newest id`, async () => {
      const house = await settled({ scheme, polling: { overlapMs } });
      house.publish({ agoMs: 100 });
      await house.clock.advance(60_000);
      const newest = house.publish();
      await house.clock.advance(60_000);
      const first = house.publish({ agoMs: 60_000 + 2200 });
      const second = house.publish({ agoMs: 60_000 + 4100 });
      await house.clock.advance(60_000);
      assert.deepEqual((await house.entries()).slice(-3), [newest, second, first]);
      const { lateness } = await house.log();
      assert.deepEqual([lateness?.samples, lateness?.maxMs], [2, 4100]);
    });
  }

  it('of the published formula re-reads k before the last request, in server time', async () => {
    const polling = { overlap: 'retrieved-at', overlapMs: 2000 } as const;
    const house = await settled({ polling, aheadMs: 3_600_000 });
    const newest = house.publish();
    await house.clock.advance(120_000);
    const within = house.publish({ agoMs: 1000 });
    await house.clock.advance(60_000);
    assert.deepEqual((await house.entries()).slice(-2), [newest, within]);
    assert.equal(house.server.requests.at(-1)?.sinceId, house.server.requests.at(-2)?.sinceId);
  });

  it('shrinks to what fits into a page at the pace of a busy source, and says so', async () => {
    const house = await settled();
    for (let n = 0; n < 300; n += 1) {
      for (let each = 0; each < 4; each += 1) house.publish();
      await house.clock.advance(2000);
    }
    // 2 posts/s, polled each 5 s: 10 are new, and (sqrt(40) - 1)^2 = 28 are safe to expect on a page. 18 posts are 9 s.
    const { overlapMs } = await house.status();
    assert.ok(overlapMs >= 6000 && overlapMs <= 11_000, `${overlapMs} ms`);
  });

  it('costs one request a poll while nothing happens', async () => {
    for (const options of [
      {},
      { comparesDoubles: true },
      { ignoresSinceId: true },
      { scheme: 'opaque', isOpaque: true },
    ] as const) {
      const house = await settled(options);
      house.publish();
      await house.clock.advance(900_000);
      const before = house.server.requests.length;
      const { version } = await house.log();
      await house.clock.advance(600_000);
      assert.equal(house.server.requests.length - before, 10, JSON.stringify(options));
      assert.equal((await house.log()).version, version, 'nothing read, nothing changes');
    }
  });

  for (const hasNoDate of [false, true]) {
    const server = hasNoDate ? 'a server without a clock' : 'a server';

    it(`costs one request a poll when the anchor was deleted on ${server}, and leaves no gap`, async () => {
      const house = await settled({ hasNoDate }, 1);
      const anchor = (await house.entries())[0] ?? '';
      for (let n = 0; n < 3; n += 1) house.publish();
      await house.clock.advance(120_000);
      house.server.timeline.change(anchor, { isDeleted: true });
      await house.clock.advance(120_000);
      const before = house.server.requests.length;
      await house.clock.advance(600_000);
      assert.equal(house.server.requests.length - before, 10);
      assert.deepEqual((await house.log()).gaps, []);
    });

    it(`costs one request a poll in a timeline of ${server} that began empty`, async () => {
      const house = await settled({ hasNoDate }, 0);
      house.publish();
      await house.clock.advance(180_000);
      const before = house.server.requests.length;
      await house.clock.advance(600_000);
      assert.equal(house.server.requests.length - before, 10);
    });
  }

  it('reads a burst again for as long as the overlap, not for as long as it is the newest', async () => {
    const house = await settled();
    for (let n = 0; n < 95; n += 1) house.publish({ agoMs: n });
    await house.clock.advance(60_000);
    const late = house.publish({ agoMs: 59_990, lateMs: 59_995 });
    await house.clock.advance(60_000);
    assert.equal((await house.entries()).at(-1), late, 'below the newest page, at the end of the overlap');
    await house.clock.advance(60_000);
    const before = house.server.requests.length;
    await house.clock.advance(600_000);
    const polls = house.server.requests.slice(before).filter(({ sinceId }) => sinceId !== undefined);
    assert.ok(polls.length >= 10);
    assert.deepEqual(
      polls.filter(({ next }) => next !== undefined),
      [],
      'one page a poll',
    );
  });
});

describe('a walk', () => {
  it('reads a burst of 95 posts whole, with pages of 40', async () => {
    const house = await settled();
    const ids = Array.from({ length: 95 }, (_, n) => house.publish({ agoMs: 95 - n }));
    await house.clock.advance(60_000);
    assert.deepEqual((await house.entries()).slice(-95), ids);
    assert.equal(
      (await house.records()).some(({ late }) => late),
      false,
    );
    assert.deepEqual((await house.log()).gaps, []);
  });

  it('goes on over short pages, and over an empty page that has a next one', async () => {
    const house = await settled();
    const ids: string[] = [];
    for (let n = 0; n < 150; n += 1) {
      const isHidden = n % 10 === 0 || (n >= 20 && n < 100);
      const id = house.publish({ agoMs: 150 - n, isHidden });
      if (!isHidden) ids.push(id);
    }
    await house.clock.advance(60_000);
    assert.deepEqual((await house.entries()).slice(-ids.length), ids);
  });

  it('is not closed by pinned posts above the newest ones', async () => {
    const pinned = simulatedId('ulid', Date.UTC(2020, 0), 0);
    const house = await createHouse({ pinned: [pinned], scheme: 'ulid' });
    house.server.timeline.put({ id: pinned, atMs: Date.UTC(2020, 0), visibleAtMs: 0, text: 'pinned' });
    for (let n = 0; n < 50; n += 1) house.publish({ agoMs: 300_000 + n });
    house.pollers.start();
    await house.clock.advance(10);
    const ids = Array.from({ length: 95 }, (_, n) => house.publish({ agoMs: 95 - n }));
    await house.clock.advance(60_000);
    assert.deepEqual((await house.entries()).slice(-95), ids);
    assert.equal((await house.entries()).length, 41 + 95);
  });

  it('reads without since_id where the upstream has none, or refuses it with 400', async () => {
    const noSinceId = await settled({ described: { sinceId: false } });
    const refusing = await settled({
      before({ sinceId }) {
        if (sinceId !== undefined) throw new UpstreamError('MALFORMED', 'since_id is too old', { status: 400 });
        return undefined;
      },
    });
    for (const house of [noSinceId, refusing]) {
      const ids = Array.from({ length: 50 }, (_, n) => house.publish({ agoMs: 50 - n }));
      await house.clock.advance(60_000);
      assert.deepEqual((await house.entries()).slice(-50), ids);
    }
  });

  it('of opaque ids keeps the order in which they came, and finds each once', async () => {
    const house = await settled({ scheme: 'opaque', isOpaque: true, described: { sinceId: false } }, 30);
    const history = await house.entries();
    house.server.timeline.change(history[29] ?? '', { isDeleted: true });
    const ids = Array.from({ length: 95 }, (_, n) => house.publish({ agoMs: 95 - n }));
    await house.clock.advance(60_000);
    assert.deepEqual(await house.entries(), [...history, ...ids]);
    await house.clock.advance(600_000);
    assert.deepEqual(await house.entries(), [...history, ...ids]);
    assert.deepEqual((await house.log()).gaps, []);
  });

  it('keeps the order of its log when the server is not recognised any more', async () => {
    const house = await settled();
    await house.pollers.stop();
    const { clock, store } = house;
    const upstream = {
      ...house.server.upstream,
      describe: async () => ({ ...(await house.server.upstream.describe()), idScheme: 'opaque' as const }),
    };
    const next = await createHouse({ clock, store, server: { ...house.server, upstream }, holder: 'next' });
    next.pollers.start();
    const newest = house.publish();
    await clock.advance(60_000);
    const late = house.publish({ agoMs: 61_000 });
    await clock.advance(60_000);
    assert.deepEqual((await house.entries()).slice(-2), [newest, late]);
    assert.equal((await house.records()).at(-1)?.late, true);
  });

  it('of opaque ids does not take older posts that move up when others are deleted for new ones', async () => {
    const house = await settled({ scheme: 'opaque', isOpaque: true }, 60);
    const history = await house.entries();
    for (const id of history.slice(-5)) house.server.timeline.change(id, { isDeleted: true });
    await house.clock.advance(300_000);
    assert.deepEqual(await house.entries(), history);
  });
});

describe('what is known', () => {
  it('is an edit where the content differs, a new body where counts do, else nothing', async () => {
    const house = await settled();
    const { version } = await house.log();
    const newest = house.publish();
    await house.clock.advance(60_000);
    house.server.timeline.change(newest, { text: 'edited', likes: 3 });
    await house.clock.advance(60_000);
    house.server.timeline.change(newest, { likes: 4 });
    await house.clock.advance(60_000);
    const records = await house.records();
    assert.deepEqual(
      records.slice(-2).map(({ kind, postId }) => [kind, postId]),
      [
        ['entry', postIdOf(newest)],
        ['edit', postIdOf(newest)],
      ],
    );
    const stored = (await house.store.posts.getPosts([postIdOf(newest)])).get(postIdOf(newest));
    assert.deepEqual([stored?.post.text, stored?.post.counts.likes], ['edited', 4]);
    assert.equal((await house.log()).version, version + 3);
  });

  it('is an edit by its time where the server tells one, and an older copy is none', async () => {
    const house = await settled();
    const id = house.publish();
    await house.clock.advance(60_000);
    house.server.timeline.change(id, { text: 'second', editedAtMs: 2 });
    await house.clock.advance(60_000);
    house.server.timeline.change(id, { text: 'first', editedAtMs: 1 });
    await house.clock.advance(60_000);
    assert.equal((await house.records()).filter(({ kind }) => kind === 'edit').length, 1);
  });
});

describe('the watermark', () => {
  it('is never lifted by ids of the future', async () => {
    const house = await settled({ scheme: 'ulid' });
    house.publish({ agoMs: -86_400_000, visibleAtMs: 0 });
    const newest = house.publish();
    await house.clock.advance(60_000);
    assert.equal((await house.log()).watermark?.upstreamId, newest);
    const late = house.publish({ agoMs: 65_000 });
    await house.clock.advance(60_000);
    assert.equal((await house.entries()).at(-1), late);
    assert.equal((await house.records()).at(-1)?.late, true);
  });

  it('goes by the server’s clock, wherever the local one was set', async () => {
    for (const stepMs of [-86_400_000, 86_400_000]) {
      const house = await settled({ aheadMs: 7200_000 });
      house.clock.step(stepMs);
      const ids = [house.publish()];
      await house.clock.advance(120_000);
      ids.push(house.publish({ agoMs: 121_000 }), house.publish());
      await house.clock.advance(60_000);
      assert.deepEqual((await house.entries()).slice(-3), ids);
      assert.equal((await house.log()).watermark?.upstreamId, ids[2]);
    }
  });

  it('stays where it is over a partial page, whose gap the next whole poll closes', async () => {
    let isPartial = false;
    const house = await settled({ before: () => (isPartial ? 'partial' : undefined) });
    const before = (await house.log()).watermark;
    isPartial = true;
    const ids = Array.from({ length: 10 }, (_, n) => house.publish({ agoMs: 10 - n }));
    await house.clock.advance(60_000);
    assert.deepEqual((await house.log()).watermark, before);
    assert.deepEqual(
      (await house.log()).gaps.map(({ reason, final }) => [reason, final]),
      [['PARTIAL', false]],
    );
    assert.equal((await house.status()).problems.length, 1);
    isPartial = false;
    await house.clock.advance(60_000);
    assert.deepEqual((await house.log()).gaps, []);
    assert.deepEqual(new Set((await house.entries()).slice(-10)), new Set(ids));
    assert.equal((await house.log()).watermark?.upstreamId, ids[9]);
  });
});
