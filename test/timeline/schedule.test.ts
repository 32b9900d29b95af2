import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createHouse, type House, LOG } from './house.ts';

/** Distances of polls within the next `ms`, in s, sweeps left out. */
async function pollsWithin(house: House, ms: number, publishEachMs?: number): Promise<number> {
  const polls = () => house.server.requests.filter(({ sinceId, next }) => sinceId !== undefined && !next).length;
  const before = polls();
  const stepMs = publishEachMs ?? ms;
  for (let passedMs = 0; passedMs < ms; passedMs += stepMs) {
    if (publishEachMs !== undefined) house.publish();
    await house.clock.advance(stepMs);
  }
  return polls() - before;
}

async function quietHouse(): Promise<House> {
  const house = await createHouse();
  house.publish();
  house.pollers.start();
  await house.clock.advance(600_000);
  return house;
}

describe('the schedule of a source', () => {
  it('follows its pace: one poll a new post, between the least interval and the idle one', async () => {
    const house = await quietHouse();
    assert.equal(await pollsWithin(house, 600_000), 10, 'quiet: the idle interval');
    await pollsWithin(house, 900_000, 20_000);
    const steady = await pollsWithin(house, 600_000, 20_000);
    assert.ok(steady >= 20 && steady <= 40, `0.05 posts a second: ${steady} polls in 10 min`);
    await pollsWithin(house, 300_000, 1000);
    const busy = await pollsWithin(house, 600_000, 1000);
    assert.ok(busy >= 115 && busy <= 120, `1 post a second: ${busy} polls in 10 min`);
    await house.clock.advance(3_600_000);
    assert.equal(await pollsWithin(house, 600_000), 10, 'quiet again');
    await house.pollers.stop();
  });

  it('comes again soon after a burst', async () => {
    const house = await quietHouse();
    for (let n = 0; n < 30; n += 1) house.publish({ agoMs: n });
    await house.clock.advance(60_000);
    const soon = await pollsWithin(house, 60_000);
    assert.ok(soon >= 4, `${soon} polls in the next minute`);
    await house.pollers.stop();
  });

  it('is the least interval while a reader watches, and for two minutes more', async () => {
    const house = await quietHouse();
    await house.clock.advance(30_000);
    assert.equal(await house.refresh(), false);
    const watched = await pollsWithin(house, 60_000);
    assert.ok(watched >= 11, `${watched} polls in a minute`);
    await house.clock.advance(60_000);
    assert.equal(await pollsWithin(house, 600_000), 10);
    await house.pollers.stop();
  });

  it('polls a source at once that is watched from now on, though it is young enough for this reader', async () => {
    const house = await quietHouse();
    const { nextPollAtMs = 0 } = await house.status();
    await house.clock.advance(nextPollAtMs - house.clock.now() + 1000);
    const before = house.server.requests.length;
    assert.deepEqual([...(await house.pollers.refresh([LOG], 1500))], []);
    assert.equal(house.server.requests.length, before, 'young');
    await house.clock.advance(4000);
    assert.equal(house.server.requests.length, before + 1);
    await house.pollers.stop();
  });

  it('says when the next poll comes', async () => {
    const house = await createHouse({ rateLimit: () => ({ limit: 300, remaining: 30, resetAtMs }) });
    const resetAtMs = house.clock.now() + 900_000;
    house.publish();
    house.pollers.start();
    await house.clock.advance(1000);
    for (let n = 0; n < 10; n += 1) {
      const { nextPollAtMs = 0 } = await house.status();
      const before = house.server.requests.length;
      await house.clock.advance(nextPollAtMs - house.clock.now() - 1000);
      assert.equal(house.server.requests.length, before);
      await house.clock.advance(1010);
      assert.ok(house.server.requests.length > before);
    }
    await house.pollers.stop();
  });

  it('never begins by itself where polls are billed', async () => {
    const house = await createHouse({ polling: { pollWhen: 'asked' } });
    house.publish();
    house.pollers.start();
    await house.refresh();
    for (let n = 0; n < 100; n += 1) house.publish();
    await house.clock.advance(3_600_000);
    assert.equal(house.server.requests.length, 1);
    assert.equal((await house.status()).nextPollAtMs, undefined);
    await house.pollers.stop();
  });

  it('is no other for steps of the local clock', async () => {
    const house = await quietHouse();
    for (const stepMs of [-3_600_000, 7_200_000, -86_400_000]) {
      house.clock.step(stepMs);
      assert.equal(await pollsWithin(house, 300_000), 5);
    }
    await house.pollers.stop();
  });
});
