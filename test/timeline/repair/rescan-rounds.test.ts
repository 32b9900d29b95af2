import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { advanced, caughtUp, dueInMs, dueStretch, newRounds } from '../../../src/timeline/repair/rescan-rounds.ts';

const MINUTE = 60_000;
const sweepIntervalMs = 5 * MINUTE;
/** Ages in minutes, youngest first, as the file has them. */
const AGES_MIN = [5, 15, 210, 1440] as const;

describe('the rounds of rescans', () => {
  it('reads nothing before the youngest age and a step have gone by', () => {
    const sweptMs = newRounds(0);
    assert.equal(dueStretch(sweptMs, { nowMs: 10 * MINUTE - 1, sweepIntervalMs }), undefined);
    assert.equal(dueInMs(sweptMs, { nowMs: 10 * MINUTE - 1, sweepIntervalMs }), 1);
    assert.deepEqual(dueStretch(sweptMs, { nowMs: 10 * MINUTE, sweepIntervalMs }), { topMs: 5 * MINUTE, toMs: 0 });
  });

  it('reads at 3.5 hours first where requests are few', () => {
    const nowMs = 30 * 60 * MINUTE;
    assert.deepEqual(dueStretch(newRounds(0), { nowMs, sweepIntervalMs }), { topMs: nowMs - 210 * MINUTE, toMs: 0 });
  });

  it('lets the oldest round go before the young ones once it is two steps behind', () => {
    const nowMs = 3000 * MINUTE;
    const youngDueMs = [nowMs - 10 * MINUTE, nowMs - 30 * MINUTE, nowMs - 210 * MINUTE];
    const onTime = nowMs - 1440 * MINUTE - 359 * MINUTE;
    const behind = nowMs - 1440 * MINUTE - 360 * MINUTE;
    const at = { nowMs, sweepIntervalMs };
    assert.equal(dueStretch([...youngDueMs, onTime], at)?.topMs, nowMs - 5 * MINUTE);
    assert.deepEqual(dueStretch([...youngDueMs, behind], at), { topMs: nowMs - 1440 * MINUTE, toMs: behind });
  });

  it('leaves to the next round what has come to its age, and what lies below history', () => {
    const nowMs = 10_000 * MINUTE;
    const floorMs = 9_900 * MINUTE;
    const marks = caughtUp(newRounds(0), { nowMs, sweepIntervalMs, floorMs });
    // Fifteen minutes are the second round's; the rest begins with history.
    assert.deepEqual(marks, [nowMs - 15 * MINUTE, floorMs, floorMs, floorMs]);
    assert.deepEqual(caughtUp(newRounds(nowMs), { nowMs, sweepIntervalMs, floorMs }), newRounds(nowMs));
  });

  it('one page that shows everything brings all rounds to their ages', () => {
    const startedAtMs = 2000 * MINUTE;
    const marks = advanced(newRounds(0), { fromMs: 0, startedAtMs, sweepIntervalMs });
    assert.deepEqual(
      marks,
      AGES_MIN.map((age) => startedAtMs - age * MINUTE),
    );
  });

  it('a round does not pass over what a walk left out', () => {
    const read = { fromMs: 100 * MINUTE, topMs: 200 * MINUTE, startedAtMs: 2000 * MINUTE, sweepIntervalMs };
    assert.deepEqual(
      advanced(
        [150, 100, 99, 250].map((min) => min * MINUTE),
        read,
      ),
      [200 * MINUTE, 200 * MINUTE, 99 * MINUTE, 250 * MINUTE],
    );
  });

  it('reads every minute of a timeline again at each age, whatever the waits between', () => {
    const wait = fc.oneof(
      { weight: 5, arbitrary: fc.integer({ min: 1, max: 30 }) },
      { weight: 1, arbitrary: fc.integer({ min: 200, max: 3000 }) },
    );
    fc.assert(
      fc.property(
        fc.array(wait, { minLength: 5, maxLength: 60 }),
        fc.integer({ min: 1, max: 90 }),
        (waits, pageMin) => {
          let marks = newRounds(0);
          let nowMin = 0;
          /** By minute: the ages at which it was read. */
          const readAt = new Map<number, number[]>();
          for (const each of waits) {
            nowMin += each;
            const nowMs = nowMin * MINUTE;
            marks = caughtUp(marks, { nowMs, sweepIntervalMs, floorMs: 0 });
            const stretch = dueStretch(marks, { nowMs, sweepIntervalMs });
            if (stretch === undefined) continue;
            const { topMs, toMs } = stretch;
            // Pages reach a little further than asked.
            const fromMs = Math.max(0, toMs - (pageMin % 7) * MINUTE);
            for (let at = fromMs / MINUTE; at < topMs / MINUTE; at += 1) {
              readAt.set(at, [...(readAt.get(at) ?? []), nowMin - at]);
            }
            const before = marks;
            marks = advanced(marks, { fromMs, topMs, startedAtMs: nowMs, sweepIntervalMs });
            assert.ok(marks.every((mark, round) => mark >= (before[round] ?? 0)));
          }
          const dayMark = (marks.at(-1) ?? 0) / MINUTE;
          for (let at = 0; at < dayMark; at += 1) {
            assert.ok(
              (readAt.get(at) ?? []).some((age) => age >= 1440),
              `minute ${at} at the age of a day`,
            );
          }
          const deepMark = (marks[2] ?? 0) / MINUTE;
          for (let at = 0; at < deepMark; at += 1) {
            const ages = readAt.get(at) ?? [];
            // Unless it was left to the next round, which has come or will.
            assert.ok(ages.some((age) => age >= 210) || nowMin - at >= 1440, `minute ${at} at 3.5 hours`);
          }
        },
      ),
    );
  });
});
