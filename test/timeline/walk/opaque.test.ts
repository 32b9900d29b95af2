import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPollingHarness, type PollingHarness, type PollingHarnessOptions, postIdOf } from '../polling-harness.ts';

const MINUTE = 60_000;

/** A server as snac is: no order in its ids, deleted posts that still answer by id, lines that stay where a post is listed again. */
const SNAC: PollingHarnessOptions = {
  scheme: 'opaque',
  isOpaque: true,
  keepsOldLines: true,
  showsDeleted: true,
  pageSize: 20,
  described: { aliveById: false },
};

/** A harness whose gateway has read `count` posts, one each 10 s. */
async function settled(
  count: number,
  options: PollingHarnessOptions = {},
): Promise<{ harness: PollingHarness; ids: readonly string[] }> {
  const harness = await createPollingHarness({ ...SNAC, ...options, polling: { overlapMs: 5000, ...options.polling } });
  harness.publish();
  harness.pollers.start();
  await harness.clock.advance(1000);
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    ids.push(harness.publish());
    await harness.clock.advance(10_000);
  }
  await harness.clock.advance(MINUTE);
  return { harness, ids };
}

/** The gateway is off while `meanwhile` happens; then another one goes on. */
async function pause(
  before: PollingHarness,
  meanwhile: () => Promise<void>,
  options: PollingHarnessOptions = {},
): Promise<PollingHarness> {
  await before.pollers.stop();
  await meanwhile();
  const { clock, server, store } = before;
  const polling = { overlapMs: 5000, ...options.polling };
  const harness = await createPollingHarness({ ...SNAC, ...options, clock, server, store, holder: 'next', polling });
  harness.pollers.start();
  await clock.advance(5 * MINUTE);
  return harness;
}

/** Publishes so many posts, a second apart. */
async function publish(harness: PollingHarness, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    ids.push(harness.publish());
    await harness.clock.advance(1000);
  }
  return ids;
}

const listAgain = (harness: PollingHarness, id = '') =>
  harness.server.timeline.change(id, { listedAtMs: harness.server.now() });

async function assertAllOnce(harness: PollingHarness, ids: readonly string[]): Promise<void> {
  const entries = await harness.entries();
  assert.deepEqual(
    ids.filter((id) => !entries.includes(id)),
    [],
    'missed',
  );
  assert.equal(new Set(entries).size, entries.length, 'twice');
}

describe('a pause on a server with opaque ids', () => {
  for (const count of [1, 2, 3, 4]) {
    for (const keepsOldLines of [false, true]) {
      it(`misses nothing where ${count} known posts are listed again between new ones, ${keepsOldLines ? 'at both places' : 'at one place'}`, async () => {
        const { harness, ids } = await settled(60, { keepsOldLines });
        const published: string[] = [];
        const next = await pause(harness, async () => {
          published.push(...(await publish(harness, 70)));
          for (const id of ids.slice(10, 10 + count)) listAgain(harness, id);
          published.push(...(await publish(harness, 50)));
        });
        await assertAllOnce(next, [...ids, ...published]);
        assert.deepEqual((await next.log()).gaps, []);
        await next.pollers.stop();
      });
    }
  }

  it('misses nothing where known posts are listed again all over what is new', async () => {
    const { harness, ids } = await settled(60);
    const published: string[] = [];
    const next = await pause(harness, async () => {
      for (let n = 0; n < 20; n += 1) {
        published.push(...(await publish(harness, 5)));
        listAgain(harness, ids[(n * 7) % ids.length]);
      }
    });
    await assertAllOnce(next, [...ids, ...published]);
    assert.deepEqual((await next.log()).gaps, []);
    await next.pollers.stop();
  });

  for (const count of [2, 3, 9]) {
    it(`misses nothing below ${count} known posts that are listed again in their order, at the end of a page`, async () => {
      const { harness, ids } = await settled(60);
      const published: string[] = [];
      const next = await pause(harness, async () => {
        published.push(...(await publish(harness, 70)));
        for (const id of ids.slice(10, 10 + count)) {
          listAgain(harness, id);
          await harness.clock.advance(1000);
        }
        published.push(...(await publish(harness, 20 - count)));
      });
      await assertAllOnce(next, [...ids, ...published]);
      await next.pollers.stop();
    });
  }

  it('goes on below a post that ends a page and is listed at the top, too', async () => {
    const { harness, ids } = await settled(60);
    const published: string[] = [];
    const next = await pause(harness, async () => {
      published.push(...(await publish(harness, 70)));
      // The last post of the second page, of which each page's end names the next page.
      listAgain(harness, published[70 - 39]);
    });
    await assertAllOnce(next, [...ids, ...published]);
    assert.deepEqual((await next.log()).gaps, []);
    await next.pollers.stop();
  });

  it('fills a gap below a post that ends a page and is listed at the top, too', async () => {
    const options = { maxPagesPerPoll: 1 };
    const { harness, ids } = await settled(60, options);
    const published: string[] = [];
    const meanwhile = async () => {
      published.push(...(await publish(harness, 70)));
      listAgain(harness, published[70 - 39]);
    };
    const next = await pause(harness, meanwhile, options);
    await next.clock.advance(10 * MINUTE);
    await assertAllOnce(next, [...ids, ...published]);
    assert.deepEqual((await next.log()).gaps, []);
    await next.pollers.stop();
  });

  it('tells of what a listing of 256 posts does not show any more', async () => {
    const options = { feedDepth: 256, described: { aliveById: false, feedDepths: undefined } };
    const { harness } = await settled(20, options);
    const published: string[] = [];
    const next = await pause(harness, async () => void published.push(...(await publish(harness, 300))), options);
    await assertAllOnce(next, published.slice(-256));
    assert.deepEqual(
      (await next.log()).gaps.map(({ reason, final }) => [reason, final]),
      [['FEED_TRUNCATED', true]],
    );
    await next.pollers.stop();
  });
});

describe('a rescan on a server with opaque ids', () => {
  async function rescanned(): Promise<PollingHarness> {
    const polling = { overlapMs: 5000, sweepIntervalMs: MINUTE };
    const harness = await createPollingHarness({ ...SNAC, pageSize: 6, polling });
    harness.publish();
    harness.pollers.start();
    await harness.clock.advance(MINUTE);
    return harness;
  }

  /** A minute passes after it. */
  async function publishAtOnce(harness: PollingHarness, count: number, lateMs = 0): Promise<string[]> {
    const ids = Array.from({ length: count }, (_, n) => harness.publish({ agoMs: (count - n) * 50, lateMs }));
    await harness.clock.advance(MINUTE);
    return ids;
  }

  it('goes on below a post that ends a page at each of its two lines, the upper one among late posts', async () => {
    const harness = await rescanned();
    const ids = await publishAtOnce(harness, 12);
    listAgain(harness, ids[0]);
    await harness.clock.advance(MINUTE);
    // With the upper line they are two pages, of which the log has nothing else.
    ids.push(...(await publishAtOnce(harness, 11, 20 * MINUTE)));
    ids.push(...(await publishAtOnce(harness, 12)));
    await harness.clock.advance(90 * MINUTE);
    ids.push(...(await publishAtOnce(harness, 1, 20 * MINUTE)));
    ids.push(...(await publishAtOnce(harness, 12)));
    await harness.clock.advance(90 * MINUTE);
    await assertAllOnce(harness, ids);
    assert.deepEqual((await harness.log()).gaps, []);
    await harness.pollers.stop();
  });

  it('ends where a hidden post that is listed twice leads back up each time', async () => {
    const harness = await rescanned();
    const [hidden = '', ...ids] = await publishAtOnce(harness, 12);
    listAgain(harness, hidden);
    harness.server.timeline.change(hidden, { isHidden: true });
    await harness.clock.advance(MINUTE);
    ids.push(...(await publishAtOnce(harness, 5)));
    await harness.clock.advance(90 * MINUTE);
    ids.push(...(await publishAtOnce(harness, 1, 20 * MINUTE)));
    ids.push(...(await publishAtOnce(harness, 12)));
    await harness.clock.advance(90 * MINUTE);
    await assertAllOnce(harness, ids);
    assert.deepEqual((await harness.log()).gaps, []);
    await harness.pollers.stop();
  });
});

describe('boosts in the place of their originals', () => {
  it('are entries once rescans come by, and their originals are not removed', async () => {
    const { harness, ids } = await settled(100, { polling: { sweepIntervalMs: MINUTE } });
    const boosts = [5, 40, 41, 42, 43, 80, 99].map((n) => harness.server.timeline.boost(ids[n] ?? ''));
    await harness.clock.advance(6 * 60 * MINUTE);
    await assertAllOnce(harness, [...ids, ...boosts]);
    assert.deepEqual(
      (await harness.records()).filter(({ kind }) => kind === 'remove'),
      [],
    );
    const posts = await harness.store.posts.getPosts(boosts.map(postIdOf));
    assert.equal(posts.size, boosts.length);
    await harness.pollers.stop();
  });
});
