import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDayCount } from '../../../src/timeline/limits/day-count.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const DAY_MS = 86_400_000;

describe('the posts of a day', () => {
  it('begin anew at midnight (UTC), whatever the clock is set to meanwhile', async () => {
    const clock = createVirtualClock(Date.UTC(2026, 10, 20, 18));
    const day = createDayCount(10, clock.now);
    day.read(8);
    assert.deepEqual([day.left('poll'), day.left('rescan'), day.nextDayMs()], [2, 0, 6 * 3_600_000]);
    clock.step(-DAY_MS);
    assert.equal(day.left('poll'), 2, 'the day before is not given once more');
    clock.step(DAY_MS);
    await clock.advance(6 * 3_600_000);
    assert.deepEqual([day.left('fill'), day.left('confirm'), day.nextDayMs()], [10, 5, DAY_MS]);
  });

  it('go on from what another gateway counted, if it is of today', () => {
    const { now } = createVirtualClock(Date.UTC(2026, 10, 20));
    for (const [state, left] of [
      [undefined, 10],
      [{ day: '2026-11-19', posts: 9 }, 10],
      [{ day: '2026-11-20', posts: 9 }, 1],
      [{ day: '2026-11-21', posts: 9 }, 1],
      [{ day: '2026-11-20', posts: 99 }, 0],
    ] as const) {
      const day = createDayCount(10, now);
      day.restore(state);
      assert.equal(day.left('fill'), left);
    }
  });

  it('that are read here while another gateway counts are added to what that one counted', () => {
    const day = createDayCount(10, createVirtualClock(Date.UTC(2026, 10, 20)).now);
    day.read(4);
    day.forget();
    day.read(1);
    day.restore({ day: '2026-11-20', posts: 6 });
    assert.equal(day.left('poll'), 3);
  });
});
