import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createObserver, type Leak } from '../../src/experiment/observer.ts';
import { createRivals } from '../../src/experiment/rivals.ts';
import { idScheme } from '../../src/ids/id-scheme.ts';
import { createPollers } from '../../src/timeline/pollers.ts';
import { createHouse, createSource, LOG, postIdOf } from '../timeline/house.ts';

const PAGE_SIZE = 10;

/** Sluice's poller over an observed source, and the same rivals each on its own against the same server. */
async function createObserved() {
  const house = await createHouse({ pageSize: PAGE_SIZE });
  const { server, clock, store } = house;
  const leaks: Leak[] = [];
  const alone = createRivals({
    network: 'mastodon',
    pageSize: PAGE_SIZE,
    now: clock.now,
    readFor:
      () =>
      async ({ sinceId, next }) => {
        const { posts, next: older } = server.timeline.page({ sinceId, maxId: next }, server.now());
        return { ids: posts.map(({ id }) => id), next: older };
      },
  });
  const found = new Map(alone.map(({ name }) => [name, new Set<string>()]));
  const observer = createObserver({
    upstream: server.upstream,
    scheme: idScheme('mastodon'),
    network: 'mastodon',
    pageSize: PAGE_SIZE,
    clock,
    onLeak: (leak) => leaks.push(leak),
  });
  const upstream = {
    ...observer.upstream,
    async readPage(request: Parameters<typeof observer.upstream.readPage>[0]) {
      const before = observer.polls;
      const page = await observer.upstream.readPage(request);
      if (observer.polls > before)
        for (const rival of alone) for (const id of await rival.poll()) found.get(rival.name)?.add(id);
      return page;
    },
  };
  const source = createSource({ upstream }, { sweepIntervalMs: 300_000, minIntervalMs: 5000, idleIntervalMs: 5000 });
  const keep = { keepHours: 168, keepEntries: 100_000 };
  const pollers = createPollers({ sources: [source], store, clock, holder: 'observed', keep, random: () => 0.5 });
  return { house, observer, leaks, found, pollers };
}

describe('the observer', () => {
  it('reports a leak with the reply that passed it and the one that showed it, and goes on', async () => {
    const { house, observer, leaks, pollers } = await createObserved();
    house.publish({ agoMs: 60_000 });
    pollers.start();
    await house.clock.advance(20_000);
    const first = house.publish({ lateMs: 8000 });
    await house.clock.advance(1000);
    const newer = house.publish();
    await house.clock.advance(30_000);
    const second = house.publish({ lateMs: 8000 });
    await house.clock.advance(1000);
    house.publish();
    await house.clock.advance(30_000);

    assert.deepEqual(
      leaks.map(({ id }) => id),
      [first, second],
    );
    const [leak] = leaks;
    assert.ok(leak?.passed);
    assert.ok(leak.missedBy.includes('plain since_id') && leak.missedBy.includes('published, k = 1 s'));
    assert.ok(!leak.missedBy.includes('20 items back'));
    assert.ok(leak.passed?.ids.includes(newer) && !leak.passed.ids.includes(first));
    assert.ok(leak.shown.ids.includes(first) && leak.shown.atMs > leak.passed.atMs);
    assert.ok(leak.lateMs >= 1000 && leak.lateMs < 2000, `${leak.lateMs} ms`);
    assert.equal(observer.seen.get(first), postIdOf(first));
    const known = await house.store.timelines.known(LOG, [...observer.seen.values()]);
    assert.equal(known.size, observer.seen.size, 'Sluice has them all');
    await pollers.stop();
  });

  it('gives each rival exactly what it would have read by itself, and misses none of their leaks', async () => {
    const post = fc.record({
      waitMs: fc.integer({ min: 0, max: 9000 }),
      lateMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 20_000 })),
      burst: fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constant(35) }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(post, { minLength: 20, maxLength: 60 }), async (posts) => {
        const { house, observer, found, leaks, pollers } = await createObserved();
        house.publish({ agoMs: 60_000 });
        pollers.start();
        for (const { waitMs, lateMs, burst } of posts) {
          await house.clock.advance(waitMs);
          for (let n = 0; n < burst; n += 1) house.publish({ agoMs: n, lateMs });
        }
        await house.clock.advance(1_200_000);
        for (const rival of observer.rivals) {
          const missed = [...observer.seen.keys()].filter((id) => !found.get(rival.name)?.has(id));
          const told = leaks.filter(({ missedBy }) => missedBy.includes(rival.name)).map(({ id }) => id);
          assert.deepEqual(told.toSorted(), missed.toSorted(), rival.name);
        }
        assert.equal((await house.entries()).length, house.server.timeline.posts.size, 'Sluice has them all');
        await pollers.stop();
      }),
      { numRuns: 10 },
    );
  });
});
