import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createBaselinePollers } from '../../src/experiment/baseline-pollers.ts';
import { createObserver, type Leak } from '../../src/experiment/observer.ts';
import { idScheme } from '../../src/ids/id-scheme.ts';
import type { IdSchemeName } from '../../src/post.ts';
import { createPollers } from '../../src/timeline/pollers.ts';
import { createPollingHarness, createSource, LOG, postIdOf } from '../timeline/polling-harness.ts';

const PAGE_SIZE = 10;

/** Sluice's poller over an observed source, and the same baselines each on its own against the same server. */
async function createObserved(scheme: IdSchemeName = 'mastodon') {
  const isOpaque = scheme === 'opaque';
  const house = await createPollingHarness({ pageSize: PAGE_SIZE, scheme, isOpaque });
  const { server, clock, store } = house;
  const leaks: Leak[] = [];
  const alone = createBaselinePollers({
    scheme: idScheme(scheme),
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
    scheme: idScheme(scheme),
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
        for (const baseline of alone) for (const id of await baseline.poll()) found.get(baseline.name)?.add(id);
      return page;
    },
  };
  const source = createSource({ upstream }, { sweepIntervalMs: 300_000, minIntervalMs: 5000, idleIntervalMs: 5000 });
  const keep = { keepHours: 168, keepEntries: 100_000 };
  const pollers = createPollers({ sources: [source], store, clock, holder: 'observed', keep, random: () => 0.5 });
  return { house, observer, leaks, found, pollers };
}

describe('the observer', () => {
  for (const scheme of ['mastodon', 'pixelfed', 'ulid', 'uuidv7'] as const) {
    it(`reports a leak with the reply that passed it and the one that showed it, and goes on: ${scheme}`, async () => {
      const { house, observer, leaks, pollers } = await createObserved(scheme);
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
      assert.ok(leak.passed.ids.includes(newer) && !leak.passed.ids.includes(first));
      assert.equal(leak.shown.ids[leak.shown.at], first);
      assert.ok(leak.shown.atMs > leak.passed.atMs);
      assert.ok(leak.lateMs !== undefined && leak.lateMs >= 1000 && leak.lateMs < 2000, `${leak.lateMs} ms`);
      assert.equal(observer.seen.get(first), postIdOf(first));
      const known = await house.store.timelines.known(LOG, [...observer.seen.values()]);
      assert.equal(known.size, observer.seen.size, 'Sluice has them all');
      await pollers.stop();
    });
  }

  describe('of opaque ids', () => {
    it('reports what shows below a post that the plain poller knows, and nothing else', async () => {
      const { house, leaks, pollers } = await createObserved('opaque');
      const old = house.publish({ agoMs: 60_000 });
      pollers.start();
      await house.clock.advance(20_000);
      const late = house.publish({ lateMs: 8000 });
      await house.clock.advance(1000);
      const newer = house.publish();
      await house.clock.advance(30_000);

      assert.deepEqual(
        leaks.map(({ id, missedBy, lateMs, passed, shown }) => ({
          id,
          missedBy,
          lateMs,
          passed: passed?.ids,
          shown: shown.ids,
        })),
        [
          {
            id: late,
            missedBy: ['plain since_id'],
            lateMs: undefined,
            passed: [newer, old],
            shown: [newer, late, old],
          },
        ],
      );
      await pollers.stop();
    });

    it('takes neither the removal of the newest post nor history that moves up for a leak', async () => {
      const { house, observer, leaks, pollers } = await createObserved('opaque');
      const old = Array.from({ length: 2 * PAGE_SIZE }, (_, n) => house.publish({ agoMs: 60_000 - n }));
      const lowest = old.at(-PAGE_SIZE + 1) ?? '';
      const newest = house.publish({ agoMs: 1000 });
      pollers.start();
      await house.clock.advance(20_000);
      for (const id of [lowest, newest]) house.server.timeline.change(id, { isDeleted: true });
      house.publish();
      await house.clock.advance(30_000);

      assert.deepEqual(leaks, []);
      assert.equal(observer.seen.size, PAGE_SIZE + 1);
      assert.equal(observer.baselines[0]?.knows(old[0] ?? ''), false, 'the plain poller stopped at what it knew');
      await pollers.stop();
    });

    it('counts one that a plain poller found later after all as known to it', async () => {
      const { house, observer, leaks, pollers } = await createObserved('opaque');
      house.publish({ agoMs: 60_000 });
      pollers.start();
      await house.clock.advance(20_000);
      const late = house.publish({ lateMs: 8000 });
      const newer = house.publish({ agoMs: -1 });
      await house.clock.advance(30_000);
      const [plain] = observer.baselines;
      assert.deepEqual([leaks.length, plain?.knows(late)], [1, false]);
      house.server.timeline.change(newer, { isDeleted: true });
      await house.clock.advance(30_000);
      assert.equal(plain?.knows(late), true);
      await pollers.stop();
    });
  });

  for (const [scheme, numRuns] of [
    ['mastodon', 10],
    ['ulid', 3],
    ['opaque', 3],
  ] as const)
    it(`gives each baseline exactly what it would have read by itself, and misses none of their leaks: ${scheme}`, async () => {
      const post = fc.record({
        waitMs: fc.integer({ min: 0, max: 9000 }),
        lateMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 20_000 })),
        burst: fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constant(35) }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(post, { minLength: 20, maxLength: 60 }), async (posts) => {
          const { house, observer, found, leaks, pollers } = await createObserved(scheme);
          house.publish({ agoMs: 60_000 });
          pollers.start();
          for (const { waitMs, lateMs, burst } of posts) {
            await house.clock.advance(waitMs);
            for (let n = 0; n < burst; n += 1) house.publish({ agoMs: n, lateMs });
          }
          await house.clock.advance(1_200_000);
          for (const baseline of observer.baselines) {
            const missed = [...observer.seen.keys()].filter((id) => !found.get(baseline.name)?.has(id));
            const told = leaks.filter(({ missedBy }) => missedBy.includes(baseline.name)).map(({ id }) => id);
            assert.deepEqual(told.toSorted(), missed.toSorted(), baseline.name);
          }
          assert.equal((await house.entries()).length, house.server.timeline.posts.size, 'Sluice has them all');
          await pollers.stop();
        }),
        { numRuns, endOnFailure: true },
      );
    });
});
