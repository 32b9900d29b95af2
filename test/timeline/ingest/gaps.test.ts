import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UpstreamError } from '../../../src/errors.ts';
import type { Gap } from '../../../src/stores/timeline-store.ts';
import { keepGaps, openFills } from '../../../src/timeline/ingest/gaps.ts';
import { createPollingHarness } from '../polling-harness.ts';

const key = (n: number) => String(n).padStart(16, '0');

/** From `n * 1000` on, 500 ms long. */
function openGap(n: number): Gap {
  const [fromMs, toMs] = [n * 1000, n * 1000 + 500];
  const fill = { next: `next-${n}`, anchorKey: key(fromMs), lowestKey: key(toMs) };
  return { id: `open-${n}`, fromMs, toMs, reason: 'PAGE_CAP', final: false, fill };
}

function finalGap(n: number): Gap {
  return {
    id: `final-${n}`,
    fromMs: n * 1000,
    toMs: n * 1000 + 500,
    reason: 'FEED_TRUNCATED',
    final: true,
    finalAtMs: n * 1000,
  };
}

function covers(kept: readonly Gap[], { fromMs = 0, toMs = 0 }: Gap): boolean {
  return kept.some((gap) => (gap.fromMs ?? 0) <= fromMs && toMs <= (gap.toMs ?? Number.POSITIVE_INFINITY));
}

const countTo = (n: number) => Array.from({ length: n }, (_, at) => at);

describe('of more gaps than a log tells', () => {
  it('every open one stays told, and what is to be read for it', () => {
    const gaps = countTo(250).map(openGap);
    const kept = keepGaps(gaps, 0);
    assert.equal(kept.length, 100);
    for (const gap of gaps) {
      assert.ok(covers(kept, gap), gap.id);
      const { anchorKey = '', lowestKey = '' } = gap.fill ?? {};
      const isFilled = openFills(kept).some(
        ({ fill }) => fill.anchorKey <= anchorKey && lowestKey <= (fill.lowestKey ?? ''),
      );
      assert.ok(isFilled, `${gap.id} is filled`);
    }
  });

  it('a merged one is read from where the newer one was, down to the anchor of the older one', () => {
    const gaps = countTo(101).map(openGap);
    const [merged] = keepGaps(gaps, 0);
    assert.deepEqual([merged?.fromMs, merged?.toMs], [0, 1500]);
    assert.deepEqual(merged?.fill, { next: 'next-1', anchorKey: key(0), lowestKey: key(1500) });
  });

  it('the oldest final ones are told as one, before open ones are', () => {
    const gaps = [...countTo(60).map(finalGap), ...countTo(60).map((n) => openGap(n + 60))];
    const kept = keepGaps(gaps, 0);
    assert.equal(kept.length, 100);
    for (const gap of gaps) assert.ok(covers(kept, gap), gap.id);
    assert.deepEqual(openFills(kept), gaps.slice(60));
  });

  it('the newest ones stay apart', () => {
    const gaps = countTo(250).map(openGap);
    assert.deepEqual(keepGaps(gaps, 0).slice(-99), gaps.slice(-99));
  });

  it('all are filled in the end', async () => {
    let isRefused = true;
    const harness = await createPollingHarness({
      pageSize: 5,
      maxPagesPerPoll: 1,
      before({ next }) {
        if (isRefused && next !== undefined) throw new UpstreamError('UNAVAILABLE', 'answered 503', { status: 503 });
        return undefined;
      },
    });
    harness.publish();
    harness.pollers.start();
    await harness.clock.advance(1000);
    for (let n = 0; n < 120; n += 1) {
      for (let each = 12; each > 0; each -= 1) harness.publish({ agoMs: each * 10 });
      await harness.clock.advance(60_000);
    }
    const { gaps } = await harness.log();
    assert.equal(gaps.length, 100);
    isRefused = false;
    await harness.clock.advance(3_600_000);
    assert.deepEqual((await harness.log()).gaps, []);
    assert.deepEqual((await harness.entries()).toSorted(), [...harness.server.timeline.posts.keys()].toSorted());
    await harness.pollers.stop();
  });
});
