import assert from 'node:assert/strict';
import { it } from 'node:test';
import { StoreUnavailableError } from '../../../src/errors.ts';
import { openSqliteStore } from '../../../src/stores/sqlite.ts';
import type { Store } from '../../../src/stores/store.ts';
import type { LogCommit } from '../../../src/stores/timeline-store.ts';
import { createPollingHarness, LOG, postIdOf } from '../polling-harness.ts';

const MINUTE = 60_000;

/** A store that loses the first commit which `isLost` names. */
async function storeThatLoses(how: 'conflict' | 'outage', isLost: (commit: LogCommit) => boolean): Promise<Store> {
  const store = await openSqliteStore({ file: ':memory:' });
  let losses = 0;
  const timelines: Store['timelines'] = {
    ...store.timelines,
    async commit(commit) {
      if (losses > 0 || !isLost(commit)) return store.timelines.commit(commit);
      losses += 1;
      if (how === 'outage') throw new StoreUnavailableError('the store is out');
      return { committed: false };
    },
  };
  return { ...store, timelines };
}

for (const how of ['conflict', 'outage'] as const) {
  it(`late posts of a rescan whose commit came to ${how} are read again`, async () => {
    const late: string[] = [];
    const store = await storeThatLoses(how, ({ append }) => append.some((record) => late.includes(record.upstreamId)));
    const polling = { sweepIntervalMs: 5 * MINUTE, overlapMs: 5000, ownOverlap: true };
    const harness = await createPollingHarness({ store, polling });
    harness.publish({ agoMs: 40 * MINUTE });
    harness.pollers.start();
    await harness.clock.advance(1000);
    // They show after 23 h: the last round alone, a day old, brings them.
    for (let n = 0; n < 60; n += 1) {
      harness.publish();
      if (n > 10 && n < 50 && n % 2 === 1) late.push(harness.publish({ agoMs: 1000, lateMs: 23 * 60 * MINUTE }));
      await harness.clock.advance(10 * MINUTE);
    }
    for (let n = 0; n < 36 * 6; n += 1) {
      harness.publish();
      await harness.clock.advance(10 * MINUTE);
    }
    const entries = await harness.entries();
    assert.deepEqual(
      late.filter((id) => !entries.includes(id)),
      [],
    );
    await harness.pollers.stop();
  });
}

it('a post that is told gone with each page is a candidate once, and keeps no poll from being committed', async () => {
  const harness = await createPollingHarness({ latencyMs: 800 });
  const gone = harness.publish({ agoMs: 2000 });
  harness.publish({ agoMs: 1000 });
  harness.pollers.start();
  await harness.clock.advance(3000);
  harness.server.timeline.change(gone, { isDeleted: true });
  const ids: string[] = [];
  for (let n = 0; n < 300; n += 1) {
    if (n % 10 === 0) ids.push(harness.publish());
    harness.pollers.readsById.foundGone([LOG], [{ postId: postIdOf(gone), upstreamId: gone }]);
    await harness.clock.advance(500);
  }
  await harness.clock.advance(10_000);
  const entries = await harness.entries();
  assert.ok(ids.every((id) => entries.includes(id)));
  await harness.pollers.stop();
});

it('rescans go on where more posts are missing than are judged at a time, and reads by id tell of none', async () => {
  const gone = new Set<string>();
  const harness = await createPollingHarness({
    polling: { sweepIntervalMs: 5 * MINUTE, overlapMs: 5000, ownOverlap: true },
    described: { bulk: 20 },
    fetchById: (id) => (gone.has(id) ? 'FORBIDDEN' : undefined),
  });
  harness.publish({ agoMs: 50 * MINUTE });
  harness.pollers.start();
  await harness.clock.advance(1000);
  const ids = Array.from({ length: 900 }, (_, n) => harness.publish({ agoMs: (900 - n) * 10 }));
  await harness.clock.advance(61_000);
  const doomed = ids.slice(50, 690);
  for (const id of doomed) {
    gone.add(id);
    harness.server.timeline.change(id, { isDeleted: true });
  }
  await harness.clock.advance(12 * 60 * MINUTE);
  const removed = (await harness.records()).filter(({ kind }) => kind === 'remove').map(({ postId }) => postId);
  const told = new Set(await harness.entries());
  assert.deepEqual(
    removed.toSorted(),
    doomed
      .filter((id) => told.has(id))
      .map(postIdOf)
      .toSorted(),
  );
  assert.ok(removed.length > 400);
  await harness.pollers.stop();
});
