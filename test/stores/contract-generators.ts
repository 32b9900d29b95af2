import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Store } from '../../src/stores/store.ts';
import type { Use } from './contract.ts';
import { HOUR, NOW } from './samples.ts';

/** Numbers of id generators. `passTime` where the store's own clock ends leases. */
export function describeGenerators(use: Use, passTime: (ms: number) => Promise<void> = async () => {}): void {
  const query = { holder: 'a', ttlMs: HOUR, markMs: NOW + 5, pauseMs: 1, nowMs: NOW };
  /** A store that was never used may be in its first pause. */
  const ready = async (store: Store) => {
    while ((await store.generators.lease({ ...query, holder: 'first', markMs: 0 })) === 'paused');
    await store.generators.release('first', 0);
    return store.generators;
  };

  describe('generators', () => {
    it('are leased to one holder each, who may renew', async (t) => {
      const generators = await ready(await use(t));
      assert.deepEqual(await generators.lease(query), { generator: 0, afterMs: 0 });
      assert.deepEqual(await generators.lease({ ...query, holder: 'b' }), { generator: 1, afterMs: 0 });
      const renewed = await generators.lease({ ...query, generator: 0, markMs: NOW + 9 });
      assert.deepEqual(renewed, { generator: 0, afterMs: NOW + 5 });
      assert.deepEqual(await generators.lease({ ...query, holder: 'b', generator: 0 }), { generator: 2, afterMs: 0 });
    });

    it('remember how far they went: the one that went least far is leased first', async (t) => {
      const generators = await ready(await use(t));
      for (let number = 0; number < 256; number++) {
        const markMs = NOW + 1000 - number;
        await generators.lease({ ...query, holder: `holder ${number}`, generator: number, markMs });
      }
      assert.equal(await generators.lease(query), 'none free');
      await generators.release('holder 7', 3);
      assert.equal(await generators.lease(query), 'none free');
      for (const number of [3, 200, 8]) await generators.release(`holder ${number}`, number);
      assert.deepEqual(await generators.lease(query), { generator: 200, afterMs: NOW + 800 });
      assert.deepEqual(await generators.lease({ ...query, holder: 'b' }), { generator: 8, afterMs: NOW + 992 });
    });

    it('never go back: a mark is only ever raised', async (t) => {
      const generators = await ready(await use(t));
      await generators.lease(query);
      await generators.lease({ ...query, generator: 0, markMs: NOW - 100 });
      assert.deepEqual(await generators.lease({ ...query, generator: 0 }), { generator: 0, afterMs: NOW + 5 });
    });

    it('pass on when their lease ends', async (t) => {
      const generators = await ready(await use(t));
      await generators.lease(query);
      await passTime(HOUR);
      const later = { ...query, holder: 'b', generator: 0, nowMs: NOW + HOUR };
      assert.deepEqual(await generators.lease(later), { generator: 0, afterMs: NOW + 5 });
      const former = await generators.lease({ ...query, generator: 0, nowMs: NOW + HOUR });
      assert.notEqual(typeof former === 'object' && former.generator, 0);
    });
  });
}
