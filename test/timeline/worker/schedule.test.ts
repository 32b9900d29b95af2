import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPollingHarness, LOG, type PollingHarness } from '../polling-harness.ts';

/** Distances of polls within the next `ms`, in s, rescans left out. */
async function pollsWithin(harness: PollingHarness, ms: number, publishEachMs?: number): Promise<number> {
  const polls = () => harness.server.requests.filter(({ sinceId, next }) => sinceId !== undefined && !next).length;
  const before = polls();
  const stepMs = publishEachMs ?? ms;
  for (let passedMs = 0; passedMs < ms; passedMs += stepMs) {
    if (publishEachMs !== undefined) harness.publish();
    await harness.clock.advance(stepMs);
  }
  return polls() - before;
}

async function quietHarness(): Promise<PollingHarness> {
  const harness = await createPollingHarness();
  harness.publish();
  harness.pollers.start();
  await harness.clock.advance(600_000);
  return harness;
}

describe('the schedule of a source', () => {
  it('follows its pace: one poll a new post, between the least interval and the idle one', async () => {
    const harness = await quietHarness();
    assert.equal(await pollsWithin(harness, 600_000), 10, 'quiet: the idle interval');
    await pollsWithin(harness, 900_000, 20_000);
    const steady = await pollsWithin(harness, 600_000, 20_000);
    assert.ok(steady >= 20 && steady <= 40, `0.05 posts a second: ${steady} polls in 10 min`);
    await pollsWithin(harness, 300_000, 1000);
    const busy = await pollsWithin(harness, 600_000, 1000);
    assert.ok(busy >= 115 && busy <= 120, `1 post a second: ${busy} polls in 10 min`);
    await harness.clock.advance(3_600_000);
    assert.equal(await pollsWithin(harness, 600_000), 10, 'quiet again');
    await harness.pollers.stop();
  });

  it('comes again soon after a burst', async () => {
    const harness = await quietHarness();
    for (let n = 0; n < 30; n += 1) harness.publish({ agoMs: n });
    await harness.clock.advance(60_000);
    const soon = await pollsWithin(harness, 60_000);
    assert.ok(soon >= 4, `${soon} polls in the next minute`);
    await harness.pollers.stop();
  });

  it('is the least interval while a reader watches, and for two minutes more', async () => {
    const harness = await quietHarness();
    await harness.clock.advance(30_000);
    assert.equal(await harness.refresh(), false);
    const watched = await pollsWithin(harness, 60_000);
    assert.ok(watched >= 11, `${watched} polls in a minute`);
    await harness.clock.advance(60_000);
    assert.equal(await pollsWithin(harness, 600_000), 10);
    await harness.pollers.stop();
  });

  it('polls a source at once that is watched from now on, though it is young enough for this reader', async () => {
    const harness = await quietHarness();
    const { nextPollAtMs = 0 } = await harness.status();
    await harness.clock.advance(nextPollAtMs - harness.clock.now() + 1000);
    const before = harness.server.requests.length;
    assert.deepEqual([...(await harness.pollers.refresh([LOG], 1500))], []);
    assert.equal(harness.server.requests.length, before, 'young');
    await harness.clock.advance(4000);
    assert.equal(harness.server.requests.length, before + 1);
    await harness.pollers.stop();
  });

  it('says when the next poll comes', async () => {
    const harness = await createPollingHarness({ rateLimit: () => ({ limit: 300, remaining: 30, resetAtMs }) });
    const resetAtMs = harness.clock.now() + 900_000;
    harness.publish();
    harness.pollers.start();
    await harness.clock.advance(1000);
    for (let n = 0; n < 10; n += 1) {
      const { nextPollAtMs = 0 } = await harness.status();
      const before = harness.server.requests.length;
      await harness.clock.advance(nextPollAtMs - harness.clock.now() - 1000);
      assert.equal(harness.server.requests.length, before);
      await harness.clock.advance(1010);
      assert.ok(harness.server.requests.length > before);
    }
    await harness.pollers.stop();
  });

  it('never begins by itself where polls are billed', async () => {
    const harness = await createPollingHarness({ polling: { pollWhen: 'asked' } });
    harness.publish();
    harness.pollers.start();
    await harness.refresh();
    for (let n = 0; n < 100; n += 1) harness.publish();
    await harness.clock.advance(3_600_000);
    assert.equal(harness.server.requests.length, 1);
    assert.equal((await harness.status()).nextPollAtMs, undefined);
    await harness.pollers.stop();
  });

  it('is no other for steps of the local clock', async () => {
    const harness = await quietHarness();
    for (const stepMs of [-3_600_000, 7_200_000, -86_400_000]) {
      harness.clock.step(stepMs);
      assert.equal(await pollsWithin(harness, 300_000), 5);
    }
    await harness.pollers.stop();
  });
});
