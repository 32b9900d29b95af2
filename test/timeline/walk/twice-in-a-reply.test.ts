import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSimulatedServer } from '../../simulated-server.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { createPollingHarness, type PollingHarness, type PollingHarnessOptions } from '../polling-harness.ts';

/** A server whose replies hold every post twice. */
async function stuttering(options: PollingHarnessOptions = {}): Promise<PollingHarness> {
  const clock = createVirtualClock();
  const server = createSimulatedServer({ clock, scheme: 'mastodon', pageSize: 40 });
  const { readPage } = server.upstream;
  const upstream = {
    ...server.upstream,
    async readPage(request: Parameters<typeof readPage>[0]) {
      const page = await readPage(request);
      const twice = <Item>(items: readonly Item[]) => items.flatMap((item) => [item, item]);
      return { ...page, posts: twice(page.posts), ids: twice(page.ids) };
    },
  };
  const harness = await createPollingHarness({ ...options, clock, server: { ...server, upstream } });
  harness.publish();
  harness.pollers.start();
  await clock.advance(10_000);
  return harness;
}

async function assertEachOnce(harness: PollingHarness): Promise<void> {
  assert.deepEqual((await harness.entries()).toSorted(), [...harness.server.timeline.posts.keys()].toSorted());
  assert.deepEqual((await harness.status()).problems, []);
}

describe('a post that comes twice in one reply', () => {
  it('is one entry of a poll', async () => {
    const harness = await stuttering();
    for (let n = 0; n < 50; n += 1) harness.publish({ agoMs: n * 10 });
    await harness.clock.advance(60_000);
    await assertEachOnce(harness);
    await harness.pollers.stop();
  });

  it('does not keep a gap open', async () => {
    const harness = await stuttering({ maxPagesPerPoll: 1 });
    for (let n = 0; n < 150; n += 1) harness.publish({ agoMs: n * 10 });
    await harness.clock.advance(180_000);
    assert.deepEqual((await harness.log()).gaps, []);
    await assertEachOnce(harness);
    await harness.pollers.stop();
  });

  it('does not end the rescans, also where it is late', async () => {
    const harness = await stuttering({ polling: { sweepIntervalMs: 300_000, overlapMs: 5000, ownOverlap: true } });
    for (let n = 0; n < 20; n += 1) harness.publish({ agoMs: n * 10 });
    await harness.clock.advance(600_000);
    harness.publish({ lateMs: 100_000 });
    for (let n = 0; n < 60; n += 1) {
      await harness.clock.advance(10_000);
      harness.publish();
    }
    await harness.clock.advance(3_600_000);
    await assertEachOnce(harness);
    await harness.pollers.stop();
  });
});
