import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createThrottle } from '../../../src/timeline/limits/throttle.ts';

const KNOWN = { requests: 20, windowMs: 60_000, counts: 'all' } as const;

describe('a known throttle', () => {
  it('allows never more within any stretch of its window, and nearly as much, over any number of owners', () => {
    const step = fc.record({ waitMs: fc.nat(6000), wants: fc.nat(8), isSaved: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { minLength: 40, maxLength: 80 }), (steps) => {
        let nowMs = 0;
        let throttle = createThrottle(KNOWN, () => nowMs);
        const sentAtMs: number[] = [];
        let owners = 1;
        for (const { waitMs, wants, isSaved } of steps) {
          nowMs += waitMs;
          if (isSaved) {
            const saved = JSON.parse(JSON.stringify(throttle.save()));
            assert.ok(saved.length <= 60 + owners, `${saved.length} numbers are kept`);
            owners += 1;
            nowMs += waitMs;
            throttle = createThrottle(KNOWN, () => nowMs);
            throttle.restore(saved, waitMs);
          }
          for (let n = 0; n < wants && throttle.waitMs() === 0; n += 1) {
            throttle.sent(1);
            sentAtMs.push(nowMs);
          }
          const used = sentAtMs.filter((atMs) => atMs > nowMs - KNOWN.windowMs).length;
          assert.ok(used <= KNOWN.requests, `${used} at ${nowMs}`);
          const before = nowMs;
          nowMs += throttle.waitMs();
          assert.equal(throttle.waitMs(), 0, 'as soon as it said');
          const last = sentAtMs.at(-KNOWN.requests) ?? Number.NEGATIVE_INFINITY;
          const least = Math.max(before, last + KNOWN.windowMs);
          assert.ok(nowMs <= least + KNOWN.windowMs / 60, `${nowMs}, not much later than ${least}`);
        }
      }),
    );
  });

  it('spaces requests to the ms where it allows one', () => {
    let nowMs = 0;
    const throttle = createThrottle({ requests: 1, windowMs: 1100, counts: 'all' }, () => nowMs);
    throttle.sent(1);
    nowMs = 300;
    assert.equal(throttle.waitMs(), 800);
    assert.equal(throttle.unused(), 1);
  });

  it('leaves what is kept for others', () => {
    const throttle = createThrottle(KNOWN, () => 0);
    throttle.sent(18);
    assert.deepEqual([throttle.waitMs(), throttle.waitMs(18), throttle.left(), throttle.left(18)], [0, 60_000, 2, 0]);
  });
});
