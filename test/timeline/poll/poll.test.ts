import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UpstreamError } from '../../../src/errors.ts';
import { encodeSnowflake, TWITTER } from '../../../src/ids/snowflake.ts';
import { simulatedId } from '../../simulated-ids.ts';
import { createPollingHarness, type PollingHarness, type PollingHarnessOptions, postIdOf } from '../polling-harness.ts';

/** A source with some history, after its first poll. */
async function settled(options: PollingHarnessOptions = {}, history = 5): Promise<PollingHarness> {
  const harness = await createPollingHarness(options);
  for (let n = history; n > 0; n -= 1) harness.publish({ agoMs: 300_000 + n * 1000 });
  harness.pollers.start();
  await harness.clock.advance(10);
  return harness;
}

describe('a first poll', () => {
  it('takes one page as history, in which nothing is late or a gap', async () => {
    const harness = await settled({}, 95);
    const state = await harness.log();
    assert.equal((await harness.entries()).length, 40);
    assert.equal(
      (await harness.records()).some(({ late }) => late),
      false,
    );
    assert.deepEqual(state.gaps, []);
    assert.equal(state.counts.leaksPrevented, 0);
    assert.equal(harness.server.requests.length, 1);
  });

  it('begins history at its lowest id: older posts never become entries', async () => {
    const harness = await settled();
    const old = harness.publish({ agoMs: 500_000 });
    await harness.clock.advance(120_000);
    assert.equal((await harness.entries()).includes(old), false);
  });

  it('of an empty timeline is history without a beginning: whatever shows first is an entry, however old', async () => {
    for (const scheme of ['mastodon', 'twitter', 'ulid'] as const) {
      const harness = await settled({ scheme }, 0);
      await harness.clock.advance(90_000);
      const old = harness.publish({ agoMs: 600_000 });
      const before = harness.publish({ agoMs: 30_000 });
      const after = harness.publish();
      await harness.clock.advance(60_000);
      assert.deepEqual(await harness.entries(), [old, before, after]);
      await harness.pollers.stop();
    }
  });

  it('of an empty timeline lets history begin with the poll that reads something, no later than the overlap before', async () => {
    const harness = await settled({}, 0);
    const first = harness.publish();
    await harness.clock.advance(60_000);
    const within = harness.publish({ agoMs: 60_000 + 30_000 });
    const older = harness.publish({ agoMs: 600_000 });
    await harness.clock.advance(60_000);
    assert.deepEqual(await harness.entries(), [first, within]);
    assert.equal((await harness.entries()).includes(older), false);
    await harness.pollers.stop();
  });

  it('of an empty timeline is the only one that changes the log while it stays empty', async () => {
    const harness = await settled({}, 0);
    const { version } = await harness.log();
    await harness.clock.advance(600_000);
    assert.equal((await harness.log()).version, version);
    await harness.pollers.stop();
  });

  it('of an empty timeline loses nothing of a burst that follows', async () => {
    const harness = await settled({}, 0);
    await harness.clock.advance(30_000);
    for (let n = 0; n < 130; n += 1) harness.publish({ agoMs: n * 100 });
    await harness.clock.advance(60_000);
    assert.equal((await harness.entries()).length, 130);
    await harness.pollers.stop();
  });

  it('puts entries in order of their ids, and sorts them by the time of the id, never after their arrival', async () => {
    const harness = await settled();
    const future = harness.publish({ agoMs: -3_600_000, visibleAtMs: 0 });
    await harness.clock.advance(60_000);
    const records = await harness.records();
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
    const harness = await settled({ scheme: 'twitter', polling: { overlapMs: 10_000 } });
    const madeMs = harness.server.now() + 59_990;
    const id = (sequence: number) => encodeSnowflake(TWITTER, { timeMs: madeMs, generator: 1, sequence });
    const b = harness.publish({ id: id(1), atMs: madeMs, visibleAtMs: madeMs + 20 });
    const a = harness.publish({ id: id(2), atMs: madeMs, visibleAtMs: madeMs });
    await harness.clock.advance(60_000);
    assert.equal((await harness.entries()).at(-1), a);
    await harness.clock.advance(60_000);
    assert.deepEqual((await harness.entries()).slice(-2), [a, b]);
    await harness.clock.advance(600_000);
    const entries = await harness.entries();
    assert.equal(entries.filter((entry) => entry === b).length, 1);
    const state = await harness.log();
    assert.equal(state.counts.leaksPrevented, 1);
    assert.deepEqual([state.lateness?.samples, state.lateness?.maxMs], [1, 0]);
    assert.equal((await harness.records()).at(-1)?.late, true);
  });

  for (const [scheme, overlapMs] of [
    ['twitter', 10_000],
    ['mastodon', 60_000],
  ] as const) {
    it(`of ${scheme}'s default delivers posts 2.2 s and 4.1 s below the newest id`, async () => {
      const harness = await settled({ scheme, polling: { overlapMs } });
      harness.publish({ agoMs: 100 });
      await harness.clock.advance(60_000);
      const newest = harness.publish();
      await harness.clock.advance(60_000);
      const first = harness.publish({ agoMs: 60_000 + 2200 });
      const second = harness.publish({ agoMs: 60_000 + 4100 });
      await harness.clock.advance(60_000);
      assert.deepEqual((await harness.entries()).slice(-3), [newest, second, first]);
      const { lateness } = await harness.log();
      assert.deepEqual([lateness?.samples, lateness?.maxMs], [2, 4100]);
    });
  }

  it('of the published formula re-reads k before the last request, in server time', async () => {
    const polling = { overlap: 'retrieved-at', overlapMs: 2000 } as const;
    const harness = await settled({ polling, aheadMs: 3_600_000 });
    const newest = harness.publish();
    await harness.clock.advance(120_000);
    const within = harness.publish({ agoMs: 1000 });
    await harness.clock.advance(60_000);
    assert.deepEqual((await harness.entries()).slice(-2), [newest, within]);
    assert.equal(harness.server.requests.at(-1)?.sinceId, harness.server.requests.at(-2)?.sinceId);
  });

  it('shrinks to what fits into a page at the pace of a busy source, and says so', async () => {
    const harness = await settled();
    for (let n = 0; n < 300; n += 1) {
      for (let each = 0; each < 4; each += 1) harness.publish();
      await harness.clock.advance(2000);
    }
    // 2 posts/s, polled each 5 s: 10 are new, and (sqrt(40) - 1)^2 = 28 are safe to expect on a page. 18 posts are 9 s.
    const { overlapMs } = await harness.status();
    assert.ok(overlapMs >= 6000 && overlapMs <= 11_000, `${overlapMs} ms`);
  });

  it('costs one request a poll while nothing happens', async () => {
    for (const options of [
      {},
      { comparesDoubles: true },
      { ignoresSinceId: true },
      { scheme: 'opaque', isOpaque: true },
    ] as const) {
      const harness = await settled(options);
      harness.publish();
      await harness.clock.advance(900_000);
      const before = harness.server.requests.length;
      const { version } = await harness.log();
      await harness.clock.advance(600_000);
      assert.equal(harness.server.requests.length - before, 10, JSON.stringify(options));
      assert.equal((await harness.log()).version, version, 'nothing read, nothing changes');
    }
  });

  for (const hasNoDate of [false, true]) {
    const server = hasNoDate ? 'a server without a clock' : 'a server';

    it(`costs one request a poll when the anchor was deleted on ${server}, and leaves no gap`, async () => {
      const harness = await settled({ hasNoDate }, 1);
      const anchor = (await harness.entries())[0] ?? '';
      for (let n = 0; n < 3; n += 1) harness.publish();
      await harness.clock.advance(120_000);
      harness.server.timeline.change(anchor, { isDeleted: true });
      await harness.clock.advance(120_000);
      const before = harness.server.requests.length;
      await harness.clock.advance(600_000);
      assert.equal(harness.server.requests.length - before, 10);
      assert.deepEqual((await harness.log()).gaps, []);
    });

    it(`costs one request a poll in a timeline of ${server} that began empty`, async () => {
      const harness = await settled({ hasNoDate }, 0);
      harness.publish();
      await harness.clock.advance(180_000);
      const before = harness.server.requests.length;
      await harness.clock.advance(600_000);
      assert.equal(harness.server.requests.length - before, 10);
    });
  }

  it('reads a burst again for as long as the overlap, not for as long as it is the newest', async () => {
    const harness = await settled();
    for (let n = 0; n < 95; n += 1) harness.publish({ agoMs: n });
    await harness.clock.advance(60_000);
    const late = harness.publish({ agoMs: 59_990, lateMs: 59_995 });
    await harness.clock.advance(60_000);
    assert.equal((await harness.entries()).at(-1), late, 'below the newest page, at the end of the overlap');
    await harness.clock.advance(60_000);
    const before = harness.server.requests.length;
    await harness.clock.advance(600_000);
    const polls = harness.server.requests.slice(before).filter(({ sinceId }) => sinceId !== undefined);
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
    const harness = await settled();
    const ids = Array.from({ length: 95 }, (_, n) => harness.publish({ agoMs: 95 - n }));
    await harness.clock.advance(60_000);
    assert.deepEqual((await harness.entries()).slice(-95), ids);
    assert.equal(
      (await harness.records()).some(({ late }) => late),
      false,
    );
    assert.deepEqual((await harness.log()).gaps, []);
  });

  it('goes on over short pages, and over an empty page that has a next one', async () => {
    const harness = await settled();
    const ids: string[] = [];
    for (let n = 0; n < 150; n += 1) {
      const isHidden = n % 10 === 0 || (n >= 20 && n < 100);
      const id = harness.publish({ agoMs: 150 - n, isHidden });
      if (!isHidden) ids.push(id);
    }
    await harness.clock.advance(60_000);
    assert.deepEqual((await harness.entries()).slice(-ids.length), ids);
  });

  it('is not closed by pinned posts above the newest ones', async () => {
    const pinned = simulatedId('ulid', Date.UTC(2020, 0), 0);
    const harness = await createPollingHarness({ pinned: [pinned], scheme: 'ulid' });
    harness.server.timeline.put({ id: pinned, atMs: Date.UTC(2020, 0), visibleAtMs: 0, text: 'pinned' });
    for (let n = 0; n < 50; n += 1) harness.publish({ agoMs: 300_000 + n });
    harness.pollers.start();
    await harness.clock.advance(10);
    const ids = Array.from({ length: 95 }, (_, n) => harness.publish({ agoMs: 95 - n }));
    await harness.clock.advance(60_000);
    assert.deepEqual((await harness.entries()).slice(-95), ids);
    assert.equal((await harness.entries()).length, 41 + 95);
  });

  it('reads without since_id where the upstream has none, or refuses it with 400', async () => {
    const noSinceId = await settled({ described: { sinceId: false } });
    const refusing = await settled({
      before({ sinceId }) {
        if (sinceId !== undefined) throw new UpstreamError('MALFORMED', 'since_id is too old', { status: 400 });
        return undefined;
      },
    });
    for (const harness of [noSinceId, refusing]) {
      const ids = Array.from({ length: 50 }, (_, n) => harness.publish({ agoMs: 50 - n }));
      await harness.clock.advance(60_000);
      assert.deepEqual((await harness.entries()).slice(-50), ids);
    }
  });

  it('of opaque ids keeps the order in which they came, and finds each once', async () => {
    const harness = await settled({ scheme: 'opaque', isOpaque: true, described: { sinceId: false } }, 30);
    const history = await harness.entries();
    harness.server.timeline.change(history[29] ?? '', { isDeleted: true });
    const ids = Array.from({ length: 95 }, (_, n) => harness.publish({ agoMs: 95 - n }));
    await harness.clock.advance(60_000);
    assert.deepEqual(await harness.entries(), [...history, ...ids]);
    await harness.clock.advance(600_000);
    assert.deepEqual(await harness.entries(), [...history, ...ids]);
    assert.deepEqual((await harness.log()).gaps, []);
  });

  it('keeps the order of its log when the server is not recognised any more', async () => {
    const harness = await settled();
    await harness.pollers.stop();
    const { clock, store } = harness;
    const upstream = {
      ...harness.server.upstream,
      describe: async () => ({ ...(await harness.server.upstream.describe()), idScheme: 'opaque' as const }),
    };
    const next = await createPollingHarness({ clock, store, server: { ...harness.server, upstream }, holder: 'next' });
    next.pollers.start();
    const newest = harness.publish();
    await clock.advance(60_000);
    const late = harness.publish({ agoMs: 61_000 });
    await clock.advance(60_000);
    assert.deepEqual((await harness.entries()).slice(-2), [newest, late]);
    assert.equal((await harness.records()).at(-1)?.late, true);
  });

  it('of opaque ids does not take older posts that move up when others are deleted for new ones', async () => {
    const harness = await settled({ scheme: 'opaque', isOpaque: true }, 60);
    const history = await harness.entries();
    for (const id of history.slice(-5)) harness.server.timeline.change(id, { isDeleted: true });
    await harness.clock.advance(300_000);
    assert.deepEqual(await harness.entries(), history);
  });
});

describe('what is known', () => {
  it('is an edit where the content differs, a new body where counts do, else nothing', async () => {
    const harness = await settled();
    const { version } = await harness.log();
    const newest = harness.publish();
    await harness.clock.advance(60_000);
    harness.server.timeline.change(newest, { text: 'edited', likes: 3 });
    await harness.clock.advance(60_000);
    harness.server.timeline.change(newest, { likes: 4 });
    await harness.clock.advance(60_000);
    const records = await harness.records();
    assert.deepEqual(
      records.slice(-2).map(({ kind, postId }) => [kind, postId]),
      [
        ['entry', postIdOf(newest)],
        ['edit', postIdOf(newest)],
      ],
    );
    const stored = (await harness.store.posts.getPosts([postIdOf(newest)])).get(postIdOf(newest));
    assert.deepEqual([stored?.post.text, stored?.post.counts.likes], ['edited', 4]);
    assert.equal((await harness.log()).version, version + 3);
  });

  it('is an edit by its time where the server tells one, and an older copy is none', async () => {
    const harness = await settled();
    const id = harness.publish();
    await harness.clock.advance(60_000);
    harness.server.timeline.change(id, { text: 'second', editedAtMs: 2 });
    await harness.clock.advance(60_000);
    harness.server.timeline.change(id, { text: 'first', editedAtMs: 1 });
    await harness.clock.advance(60_000);
    assert.equal((await harness.records()).filter(({ kind }) => kind === 'edit').length, 1);
  });
});

describe('the watermark', () => {
  it('is never lifted by ids of the future', async () => {
    const harness = await settled({ scheme: 'ulid' });
    harness.publish({ agoMs: -86_400_000, visibleAtMs: 0 });
    const newest = harness.publish();
    await harness.clock.advance(60_000);
    assert.equal((await harness.log()).watermark?.upstreamId, newest);
    const late = harness.publish({ agoMs: 65_000 });
    await harness.clock.advance(60_000);
    assert.equal((await harness.entries()).at(-1), late);
    assert.equal((await harness.records()).at(-1)?.late, true);
  });

  it('goes by the server’s clock, wherever the local one was set', async () => {
    for (const stepMs of [-86_400_000, 86_400_000]) {
      const harness = await settled({ aheadMs: 7200_000 });
      harness.clock.step(stepMs);
      const ids = [harness.publish()];
      await harness.clock.advance(120_000);
      ids.push(harness.publish({ agoMs: 121_000 }), harness.publish());
      await harness.clock.advance(60_000);
      assert.deepEqual((await harness.entries()).slice(-3), ids);
      assert.equal((await harness.log()).watermark?.upstreamId, ids[2]);
    }
  });

  it('stays where it is over a partial page, whose gap the next whole poll closes', async () => {
    let isPartial = false;
    const harness = await settled({ before: () => (isPartial ? 'partial' : undefined) });
    const before = (await harness.log()).watermark;
    isPartial = true;
    const ids = Array.from({ length: 10 }, (_, n) => harness.publish({ agoMs: 10 - n }));
    await harness.clock.advance(60_000);
    assert.deepEqual((await harness.log()).watermark, before);
    assert.deepEqual(
      (await harness.log()).gaps.map(({ reason, final }) => [reason, final]),
      [['PARTIAL', false]],
    );
    assert.equal((await harness.status()).problems.length, 1);
    isPartial = false;
    await harness.clock.advance(60_000);
    assert.deepEqual((await harness.log()).gaps, []);
    assert.deepEqual(new Set((await harness.entries()).slice(-10)), new Set(ids));
    assert.equal((await harness.log()).watermark?.upstreamId, ids[9]);
  });
});
