import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPace } from '../../../src/timeline/poll/pace.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

describe('the pace of a source', () => {
  /** So many posts a poll, a poll each `everyMs`, for half an hour. */
  async function paceOf(posts: number, everyMs: number) {
    const clock = createVirtualClock();
    const pace = createPace(clock);
    for (let passedMs = 0; passedMs < 1_800_000; passedMs += everyMs) {
      await clock.advance(everyMs);
      pace.note(posts, everyMs);
    }
    return { clock, pace };
  }

  it('is unknown before anything came, and then a page has room for all that it can hold', () => {
    const pace = createPace(createVirtualClock());
    assert.equal(pace.intervalMs(), Number.POSITIVE_INFINITY);
    assert.equal(pace.room(40), Math.floor((Math.sqrt(40) - 1) ** 2));
  });

  it('begins with what the first poll brought: 40 posts of the last 20 s are one each 500 ms', () => {
    const pace = createPace(createVirtualClock());
    pace.note(40, 20_000);
    assert.equal(pace.intervalMs(), 500);
  });

  it('takes no pace from a history of one post', () => {
    const pace = createPace(createVirtualClock());
    pace.note(1, 500);
    assert.equal(pace.intervalMs(), Number.POSITIVE_INFINITY);
  });

  it('is unknown after a first poll whose ids tell no time', () => {
    const pace = createPace(createVirtualClock());
    pace.note(500, 0);
    assert.equal(pace.intervalMs(), Number.POSITIVE_INFINITY);
  });

  it('forgets a burst within the hour', async () => {
    const clock = createVirtualClock();
    const pace = createPace(clock);
    pace.note(0, 0);
    await clock.advance(1000);
    pace.note(95, 900);
    assert.ok(pace.intervalMs() < 20);
    for (let n = 0; n < 60; n += 1) {
      await clock.advance(60_000);
      pace.note(0, 0);
    }
    assert.ok(pace.intervalMs() > 3_600_000);
  });

  it('is not touched by the wall clock', async () => {
    const { clock, pace } = await paceOf(10, 5000);
    const before = pace.intervalMs();
    clock.step(-3_600_000);
    await clock.advance(5000);
    pace.note(10, 5000);
    assert.ok(Math.abs(pace.intervalMs() - before) < 1);
  });

  for (const [posts, everyMs, room, pages] of [
    // 4 posts/s, polled each 5 s: (sqrt(40) - 1)^2 = 28.35, of which 20 are new.
    [20, 5000, 8, 1],
    // 1 post/s: 5 are new.
    [5, 5000, 23, 1],
    // 20 posts/s, each 4.5 s: 90 new take three pages, which hold (sqrt(120) - 1)^2 = 99.09.
    [90, 4500, 9, 3],
    // 38 new posts may well be 51: two pages, (sqrt(80) - 1)^2 = 63.1.
    [38, 5000, 25, 2],
  ] as const) {
    it(`leaves room for ${room} known posts on ${pages} of 40 beside ${posts} new ones`, async () => {
      const { clock, pace } = await paceOf(posts, everyMs);
      await clock.advance(everyMs);
      assert.equal(pace.room(40), room);
    });
  }
});
