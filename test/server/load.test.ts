import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLoad } from '../../src/server/load.ts';

const never = () => new Promise<never>(() => {});
const monotonic = () => 0;

test('so many requests are worked on at one time, and the next as soon as one is done', async () => {
  const load = createLoad({ monotonic, maxRequests: 2 });
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
  const load = createLoad({ monotonic, maxRequests: 1 });
  await assert.rejects(async () =>
    load.work(async () => {
      throw new Error('broken');
    }),
  );
  assert.ok(load.work(never));
});

test('operations under way cost so much together, and what is done makes room', async () => {
  const load = createLoad({ monotonic, maxCost: 100 });
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
  const load = createLoad({ monotonic, maxUnreadBytes: 1_000_000 });
  const answer = (bytes: number) => ({ bytes, cut: () => assert.fail('it is not time yet') });
  const { promise: read, resolve } = Promise.withResolvers<void>();
  const sending = load.send(answer(900_000), () => read);
  assert.equal(load.send(answer(100_001), never), undefined);
  assert.ok(load.send(answer(60_000), async () => {}));
  resolve();
  await sending;
  assert.ok(load.send(answer(900_000), never));
});

test('who has not read for ten seconds gives way to others, the longest first, and only as far as is needed', () => {
  let nowMs = 0;
  const load = createLoad({ monotonic: () => nowMs, maxUnreadBytes: 1_000_000 });
  const cut: string[] = [];
  const send = (name: string, bytes: number) => load.send({ bytes, cut: () => void cut.push(name) }, never);
  for (const name of ['a', 'b', 'c']) {
    assert.ok(send(name, 300_000));
    nowMs += 1_000;
  }
  nowMs = 9_999;
  assert.equal(send('d', 300_000), undefined);
  assert.deepEqual(cut, []);
  nowMs = 10_500;
  assert.ok(send('d', 300_000));
  assert.deepEqual(cut, ['a']);
  assert.equal(send('e', 300_000), undefined);
  nowMs = 13_000;
  assert.ok(send('e', 500_000));
  assert.deepEqual(cut, ['a', 'b', 'c']);
});
