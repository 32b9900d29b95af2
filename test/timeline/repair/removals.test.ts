import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPollingHarness, type PollingHarness, type PollingHarnessOptions, postIdOf } from '../polling-harness.ts';

const MINUTE = 60_000;

const SNAC: PollingHarnessOptions = {
  scheme: 'opaque',
  isOpaque: true,
  keepsOldLines: true,
  showsDeleted: true,
  described: { aliveById: false },
};

/** A harness whose gateway has read `count` posts, so many each 10 s. Rescans each minute. */
async function settled(
  count: number,
  options: PollingHarnessOptions = {},
): Promise<{ harness: PollingHarness; ids: readonly string[] }> {
  const polling = { sweepIntervalMs: MINUTE, overlapMs: 5000, ...options.polling };
  const harness = await createPollingHarness({ pageSize: 40, ...options, polling });
  harness.publish({ agoMs: MINUTE });
  harness.pollers.start();
  await harness.clock.advance(1000);
  const ids: string[] = [];
  while (ids.length < count) {
    for (let n = 0; n < 20; n += 1) ids.push(harness.publish({ agoMs: 20 - n }));
    await harness.clock.advance(10_000);
  }
  await harness.clock.advance(MINUTE);
  return { harness, ids };
}

async function removedIds(harness: PollingHarness): Promise<ReadonlySet<string>> {
  return new Set((await harness.records()).filter(({ kind }) => kind === 'remove').map(({ postId }) => postId));
}

/** Deletes them all at once, and waits until they are told or `minutes` have passed. */
async function deleted(harness: PollingHarness, ids: readonly string[], minutes: number): Promise<ReadonlySet<string>> {
  for (const id of ids) harness.server.timeline.change(id, { isDeleted: true });
  for (let n = 0; n < minutes && (await removedIds(harness)).size < ids.length; n += 30) {
    await harness.clock.advance(30 * MINUTE);
  }
  return removedIds(harness);
}

describe('a moderation wave', () => {
  const cases: readonly (readonly [string, number, PollingHarnessOptions])[] = [
    ['600 deleted posts, asked for one by one', 600, {}],
    ['1,800 deleted posts, asked for one by one', 1800, {}],
    ['2,000 deleted posts, asked for 20 at a time', 2000, { described: { bulk: 20 } }],
    ['600 deleted posts of opaque ids, missed twice', 600, SNAC],
    ['2,000 deleted posts of opaque ids, missed twice', 2000, SNAC],
  ];
  for (const [name, count, options] of cases) {
    it(`is told whole: ${name}`, async () => {
      const { harness, ids } = await settled(count + 400, options);
      const doomed = ids.slice(200, 200 + count);
      const removed = await deleted(harness, doomed, 48 * 60);
      assert.deepEqual(
        doomed.filter((id) => !removed.has(postIdOf(id))),
        [],
      );
      assert.equal(removed.size, count, 'none of the living');
      await harness.pollers.stop();
    });
  }
});

describe('a home feed after an unfollow', () => {
  it('keeps the 300 posts that it does not show any more, and asks for each four times at most', async () => {
    // What it does not list is there by id.
    const { harness, ids } = await settled(700, { showsDeleted: true });
    const removed = await deleted(harness, ids.slice(100, 400), 24 * 60);
    assert.equal(removed.size, 0);
    const times = Map.groupBy(harness.server.byId.flat(), (id) => id);
    assert.equal(times.size, 300);
    assert.ok(times.values().every(({ length }) => length <= 4));
    await harness.pollers.stop();
  });
});

describe('removals where deleted posts still answer by id', () => {
  it('are told of posts that two rescans miss between their neighbours', async () => {
    const { harness, ids } = await settled(100, SNAC);
    const doomed = [10, 11, 40, 70, 98].map((n) => ids[n] ?? '');
    const removed = await deleted(harness, doomed, 8 * 60);
    assert.deepEqual([...removed].toSorted(), doomed.map(postIdOf).toSorted());
    assert.equal(harness.server.byId.length, 0);
    await harness.pollers.stop();
  });

  it('are not told of a post that is missing for one reading, however often', async () => {
    const { harness, ids } = await settled(100, SNAC);
    const isCandidate = async () =>
      (await harness.store.timelines.readRepair(harness.source.logId))?.candidates.length === 1;
    for (const n of [60, 70, 80, 90]) {
      harness.server.timeline.change(ids[n] ?? '', { isDeleted: true });
      while (!(await isCandidate())) await harness.clock.advance(1000);
      harness.server.timeline.change(ids[n] ?? '', { isDeleted: false });
      while (await isCandidate()) await harness.clock.advance(1000);
    }
    assert.equal((await removedIds(harness)).size, 0);
    await harness.pollers.stop();
  });

  it('are not told of what fell off the end of a listing of 256 posts', async () => {
    const { harness, ids } = await settled(200, {
      ...SNAC,
      feedDepth: 256,
      described: { aliveById: false, feedDepths: undefined },
    });
    for (let n = 0; n < 200; n += 1) {
      harness.publish();
      await harness.clock.advance(10_000);
    }
    const [doomed = ''] = ids.slice(-10);
    const removed = await deleted(harness, [doomed], 8 * 60);
    assert.deepEqual([...removed], [postIdOf(doomed)]);
    await harness.clock.advance(4 * 60 * MINUTE);
    assert.deepEqual([...(await removedIds(harness))], [postIdOf(doomed)]);
    await harness.pollers.stop();
  });

  it('are told of a post that is deleted after it was boosted, and of the boost', async () => {
    const { harness, ids } = await settled(100, SNAC);
    const original = ids[50] ?? '';
    const boost = harness.server.timeline.boost(original);
    await harness.clock.advance(3 * 60 * MINUTE);
    assert.ok((await harness.entries()).includes(boost));
    for (const id of [original, boost]) harness.server.timeline.change(id, { isDeleted: true });
    await harness.clock.advance(8 * 60 * MINUTE);
    assert.deepEqual([...(await removedIds(harness))].toSorted(), [original, boost].map(postIdOf).toSorted());
    await harness.pollers.stop();
  });

  it('leave rescans an end where the lowest post that is known was deleted', async () => {
    const { harness } = await settled(100, { ...SNAC, pageSize: 10 });
    const [history = ''] = await harness.entries();
    harness.server.timeline.change(history, { isDeleted: true });
    await harness.clock.advance(60 * MINUTE);
    const atMs = harness.clock.now();
    await harness.clock.advance(3 * 60 * MINUTE);
    const repair = await harness.store.timelines.readRepair(harness.source.logId);
    assert.ok((repair?.walk?.startedAtMs ?? harness.clock.now()) > atMs, 'the walk that was under way has ended');
    await harness.pollers.stop();
  });
});

describe('removals where no read by id is answered', () => {
  it('are told of ordered ids by absence, too, and rescans go on', async () => {
    const { harness, ids } = await settled(400, { refusesById: true });
    const doomed = [10, 11, 40, 200, 201, 202, 398].map((n) => ids[n] ?? '');
    const removed = await deleted(harness, doomed, 12 * 60);
    assert.deepEqual([...removed].toSorted(), doomed.map(postIdOf).toSorted());
    const late = harness.publish({ agoMs: 20 * MINUTE });
    await harness.clock.advance(60 * MINUTE);
    assert.ok((await harness.entries()).includes(late));
    await harness.pollers.stop();
  });

  it('are told of ordered ids where each answer is no verdict', async () => {
    const { harness, ids } = await settled(400, { fetchById: () => 'failed' });
    const doomed = [10, 11, 40, 200, 398].map((n) => ids[n] ?? '');
    const removed = await deleted(harness, doomed, 12 * 60);
    assert.deepEqual([...removed].toSorted(), doomed.map(postIdOf).toSorted());
    await harness.pollers.stop();
  });

  it('are not told of posts at the end, and nobody is asked for them for ever', async () => {
    const { harness } = await settled(100, { fetchById: () => 'failed' });
    const [history = ''] = await harness.entries();
    harness.server.timeline.change(history, { isDeleted: true });
    await harness.clock.advance(24 * 60 * MINUTE);
    assert.equal((await removedIds(harness)).size, 0);
    const asked = harness.server.byId.length;
    assert.ok(asked > 0 && asked <= 16, `${asked} times`);
    assert.deepEqual((await harness.store.timelines.readRepair(harness.source.logId))?.candidates, []);
    await harness.pollers.stop();
  });

  it('are not told of posts that no listing reaches any more, and nobody is asked for them for ever', async () => {
    const { harness, ids } = await settled(100, { feedDepth: 50, fetchById: () => 'failed' });
    for (let n = 0; n < 60; n += 1) {
      harness.publish();
      await harness.clock.advance(10_000);
    }
    const upstreamId = ids[90] ?? '';
    const post = { postId: postIdOf(upstreamId), upstreamId };
    harness.pollers.readsById.foundGone([harness.source.logId], [post]);
    await harness.clock.advance(6 * 60 * MINUTE);
    assert.equal((await removedIds(harness)).size, 0);
    const asked = harness.server.byId.length;
    assert.ok(asked > 0 && asked <= 16, `${asked} times`);
    assert.deepEqual((await harness.store.timelines.readRepair(harness.source.logId))?.candidates, []);
    await harness.pollers.stop();
  });
});
