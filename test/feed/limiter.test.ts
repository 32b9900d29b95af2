import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecommenderUnavailableError } from '../../src/errors.ts';
import { createLimiter } from '../../src/feed/limiter.ts';
import { manualClock, START_MS } from './fixture.ts';

/** Work that is done when the test says so. */
function task() {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let hasBegun = false;
  const work = () => {
    hasBegun = true;
    return promise;
  };
  return { work, end: resolve, fail: reject, hasBegun: () => hasBegun };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('so many run at a time, and the others in the order in which they came', async () => {
  const limiter = createLimiter({ parallel: 2, maxWaitMs: 1000, clock: manualClock() });
  const tasks = Array.from({ length: 5 }, task);
  const all = Promise.allSettled(tasks.map(({ work }) => limiter.run(work)));
  const begun = () => tasks.map(({ hasBegun }) => hasBegun());
  await settled();
  assert.deepEqual(begun(), [true, true, false, false, false]);
  tasks[1]?.end();
  await settled();
  assert.deepEqual(begun(), [true, true, true, false, false]);
  tasks[2]?.fail(new Error('broken'));
  await settled();
  assert.deepEqual(begun(), [true, true, true, true, false]);
  for (const { end } of tasks) end();
  assert.deepEqual(
    (await all).map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  );
});

test("who waits too long is told to ask again, and takes nobody's place", async () => {
  const clock = manualClock();
  const limiter = createLimiter({ parallel: 1, maxWaitMs: 1000, clock });
  const [first, second, third] = [task(), task(), task()];
  const running = limiter.run(first.work);
  const late = limiter.run(second.work);
  clock.advance(600);
  const patient = limiter.run(third.work);
  clock.advance(400);
  await assert.rejects(late, (error) => {
    assert(error instanceof RecommenderUnavailableError);
    return error.retryAtMs === START_MS + 2000;
  });
  first.end();
  third.end();
  await Promise.all([running, patient]);
  assert.deepEqual([second.hasBegun(), third.hasBegun()], [false, true]);
});

test('each has a turn of the event loop of its own', async () => {
  const limiter = createLimiter({ clock: manualClock() });
  let turn = 0;
  let counting = setImmediate(function count() {
    turn += 1;
    counting = setImmediate(count);
  });
  const turns = await Promise.all(Array.from({ length: 10 }, () => limiter.ownTurn().then(() => turn)));
  clearImmediate(counting);
  assert.equal(new Set(turns).size, 10);
});
