import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Store } from '../../src/stores/store.ts';
import type { Use } from './contract.ts';
import { deleteAllExpired, NOW } from './samples.ts';

const SECOND = 1000;
const EVERY = { everyMs: SECOND, burst: 5 };

/** Counts that gateways share. */
export function describeQuotas(use: Use): void {
  const take = ({ quotas }: Store, nowMs: number, count = 1, name = 'a') =>
    quotas.take({ ...EVERY, name, count, nowMs });

  describe('quotas', () => {
    it('grant a burst at once and then a turn each interval', async (t) => {
      const store = await use(t);
      assert.equal(await take(store, NOW, 3), 3);
      assert.equal(await take(store, NOW, 3), 2);
      assert.equal(await take(store, NOW + SECOND - 1), 0);
      assert.equal(await take(store, NOW + SECOND), 1);
      assert.equal(await take(store, NOW + SECOND), 0);
      assert.equal(await take(store, NOW + 3 * SECOND, 9), 2);
    });

    it('are full again after a burst of intervals, and never more than that', async (t) => {
      const store = await use(t);
      assert.equal(await take(store, NOW, 9), 5);
      assert.equal(await take(store, NOW + 5 * SECOND, 9), 5);
      assert.equal(await take(store, NOW + 500 * SECOND, 9), 5);
    });

    it('of other names are others, and no turn asked for is none taken', async (t) => {
      const store = await use(t);
      assert.equal(await take(store, NOW, 5, 'a:b'), 5);
      assert.equal(await take(store, NOW, 5, 'a'), 5);
      assert.equal(await take(store, NOW, 0, 'b'), 0);
      assert.equal(await take(store, NOW, 5, 'b'), 5);
    });

    it('are one for all who take at the same time', async (t) => {
      const store = await use(t);
      const granted = await Promise.all(Array.from({ length: 20 }, () => take(store, NOW)));
      assert.equal(
        granted.reduce((sum, one) => sum + one),
        5,
      );
    });

    it('count intervals that are no whole milliseconds exactly', async (t) => {
      const { quotas } = await use(t);
      const third = { name: 'a', count: 99, everyMs: 1000 / 3, burst: 3 };
      assert.equal(await quotas.take({ ...third, nowMs: NOW + 0.5 }), 3);
      assert.equal(await quotas.take({ ...third, nowMs: NOW + 0.5 + 333 }), 0);
      assert.equal(await quotas.take({ ...third, nowMs: NOW + 0.5 + 1000 }), 3);
    });

    it('block for no longer than a burst of intervals after the clock was set back, and grant nothing for it', async (t) => {
      const store = await use(t);
      await take(store, NOW, 5);
      const backMs = NOW - 7_200 * SECOND;
      assert.equal(await take(store, backMs, 5), 0);
      assert.equal(await take(store, backMs + SECOND - 1, 5), 0);
      assert.equal(await take(store, backMs + SECOND, 5), 1);
      assert.equal(await take(store, backMs + 6 * SECOND, 9), 5);
    });

    it('grant no more after a small step back of the clock', async (t) => {
      const store = await use(t);
      await take(store, NOW, 3);
      assert.equal(await take(store, NOW - 2 * SECOND, 9), 0);
      assert.equal(await take(store, NOW, 9), 2);
    });

    it('grant in any stretch of time what the rate allows, and all of that to who always asks', async (t) => {
      const store = await use(t);
      let lives = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(fc.nat(4000), fc.nat(7)), { minLength: 1, maxLength: 30 }),
          async (asked) => {
            lives += 1;
            const grants: { atMs: number; granted: number }[] = [];
            let atMs = NOW;
            for (const [waitMs, count] of asked) {
              atMs += waitMs;
              grants.push({ atMs, granted: await take(store, atMs, count, `life ${lives}`) });
            }
            for (const [from, first] of grants.entries()) {
              let sum = 0;
              for (const { atMs: toMs, granted } of grants.slice(from)) {
                sum += granted;
                assert.ok(sum <= 5 + (toMs - first.atMs) / SECOND, `${sum} within ${toMs - first.atMs} ms`);
              }
            }
            // Tokens in a bucket, in whole ms: what a turn takes comes back at 1 a ms.
            let bucketMs = 5 * SECOND;
            let lastMs = NOW;
            for (const [n, { atMs: nowMs, granted }] of grants.entries()) {
              bucketMs = Math.min(5 * SECOND, bucketMs + nowMs - lastMs);
              lastMs = nowMs;
              assert.equal(granted, Math.min(asked[n]?.[1] ?? 0, Math.floor(bucketMs / SECOND)));
              bucketMs -= granted * SECOND;
            }
          },
        ),
        { numRuns: 30 },
      );
    });

    it('are as full as they would be when they were deleted in between', async (t) => {
      const store = await use(t);
      await take(store, NOW, 4);
      await deleteAllExpired(store, NOW + 4 * SECOND - 1);
      assert.equal(await take(store, NOW + 2 * SECOND, 9), 3);
      await deleteAllExpired(store, NOW + 3600 * SECOND);
      assert.equal(await take(store, NOW + 3600 * SECOND, 9), 5);
    });
  });
}
