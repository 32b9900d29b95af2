import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLoad } from '../../src/server/load.ts';

const never = () => new Promise<never>(() => {});

test('so many requests are worked on at one time, and the next as soon as one is done', async () => {
  const load = createLoad({ maxRequests: 2 });
  const { promise: first, resolve } = Promise.withResolvers<string>();
  const working = load.work(() => first);
  assert.ok(load.work(never));
  assert.equal(load.work(never), undefined);
  resolve('done');
  assert.equal(await working, 'done');
  assert.ok(load.work(never));
  assert.equal(load.work(never), undefined);
});

test('work that fails makes room, too', async () => {
  const load = createLoad({ maxRequests: 1 });
  await assert.rejects(async () =>
    load.work(async () => {
      throw new Error('broken');
    }),
  );
  assert.ok(load.work(never));
});

test('operations under way cost so much together, and what is done makes room', async () => {
  const load = createLoad({ maxCost: 100 });
  const { promise: first, resolve } = Promise.withResolvers<void>();
  const taking = (cost: number, until: Promise<void>) =>
    load.work(async (share) => {
      const isTaken = share.take(cost);
      assert.equal(share.isRefused, !isTaken);
      await until;
      return isTaken;
    });
  const done = Promise.resolve();
  const working = taking(90, first);
  assert.deepEqual([await taking(11, done), await taking(10, done), await taking(10, done)], [false, true, true]);
  resolve();
  assert.equal(await working, true);
  assert.equal(await taking(100, done), true);
});

test('large answers that nobody has read yet keep others back, small ones are always sent', async () => {
  const load = createLoad({ maxUnreadBytes: 1_000_000 });
  const { promise: read, resolve } = Promise.withResolvers<void>();
  const sending = load.send(900_000, () => read);
  assert.equal(load.send(100_001, never), undefined);
  assert.ok(load.send(60_000, async () => {}));
  resolve();
  await sending;
  assert.ok(load.send(900_000, never));
});
