import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPollingHarness, postIdOf } from '../polling-harness.ts';

const MINUTE = 60_000;

describe('a deletion candidate about which the upstream does not tell', () => {
  for (const [name, verdict] of [
    ['403', 'FORBIDDEN'],
    ['500', 'UNAVAILABLE'],
    ['a malformed reply', 'MALFORMED'],
  ] as const) {
    it(`but answers ${name}, stops neither the question about others nor the rescans`, async () => {
      let puzzling: string | undefined;
      const harness = await createPollingHarness({
        polling: { sweepIntervalMs: 5 * MINUTE, overlapMs: 5000, ownOverlap: true },
        fetchById: (id) => (id === puzzling ? verdict : undefined),
      });
      const ids = Array.from({ length: 30 }, (_, n) => harness.publish({ agoMs: (30 - n) * 10_000 }));
      const late = harness.publish({ agoMs: 155_000, lateMs: 90 * MINUTE });
      harness.pollers.start();
      await harness.clock.advance(MINUTE);
      const deleted = ids.slice(10, 13);
      // The newest is asked for first.
      puzzling = deleted.at(-1);
      for (const id of deleted) harness.server.timeline.change(id, { isDeleted: true });
      await harness.clock.advance(60 * MINUTE);
      const removed = (await harness.records()).filter(({ kind }) => kind === 'remove').map(({ postId }) => postId);
      for (const id of deleted.slice(0, 2)) assert.ok(removed.includes(postIdOf(id)), 'told within an hour');
      await harness.clock.advance(240 * MINUTE);
      assert.ok((await harness.entries()).includes(late), 'no poll reads so deep');
      await harness.pollers.stop();
    });
  }
});

it('a post that a read by id found gone before the first rescan is asked for, and removed with the second answer', async () => {
  const harness = await createPollingHarness({ polling: { sweepIntervalMs: 5 * MINUTE } });
  const [gone = '', alive = ''] = [harness.publish({ agoMs: 2000 }), harness.publish({ agoMs: 1000 })];
  harness.pollers.start();
  await harness.clock.advance(1000);
  harness.server.timeline.change(gone, { isDeleted: true });
  const posts = [gone, alive].map((id) => ({ postId: postIdOf(id), upstreamId: id }));
  harness.pollers.readsById.foundGone([harness.source.logId], posts);
  await harness.clock.advance(12 * MINUTE);
  const removed = (await harness.records()).filter(({ kind }) => kind === 'remove').map(({ postId }) => postId);
  assert.deepEqual(removed, [postIdOf(gone)]);
  await harness.pollers.stop();
});
