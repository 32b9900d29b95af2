import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { LatenessHistogram } from '../../../src/stores/timeline-store.ts';
import { NO_LATENESS, percentileMs, wantedOverlapMs, withSamples } from '../../../src/timeline/poll/lateness.ts';

const NOW = 1_790_000_000_000;
const DAY_MS = 86_400_000;
const measured = { overlapMs: 60_000, ownOverlap: false };
const many = (count: number, ms: number) => Array.from({ length: count }, () => ms);

describe('the histogram of lateness', () => {
  it('has no percentiles without samples', () => {
    assert.equal(percentileMs(NO_LATENESS, 0.99), undefined);
  });

  it('gives a percentile as the upper bound of its bucket, a quarter of a power of two wide, at most the highest sample', () => {
    const histogram = withSamples(undefined, [100, 200, 300, 400], NOW);
    assert.equal(percentileMs(histogram, 0.25), Math.ceil(2 ** (27 / 4)));
    assert.equal(percentileMs(histogram, 0.5), Math.ceil(2 ** (31 / 4)));
    assert.equal(percentileMs(histogram, 1), 400);
    assert.deepEqual([histogram.samples, histogram.maxMs, histogram.fadedAtMs], [4, 400, NOW]);
  });

  it('is never more than a fifth above what nearest rank gives, nor below it', () => {
    const samples = fc.array(fc.integer({ min: 0, max: 10_000_000 }), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(samples, fc.constantFrom(0.5, 0.9, 0.99, 1), (values, share) => {
        const exact = values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? 0;
        const got = percentileMs(withSamples(undefined, values, NOW), share) ?? -1;
        assert.ok(got >= exact && got <= exact * 1.2 + 1, `${got} for ${exact}`);
      }),
    );
  });

  it('halves in a day, and does not when the clock goes back', () => {
    const first = withSamples(undefined, many(8, 1000), NOW);
    const weight = (histogram: LatenessHistogram) => histogram.counts.reduce((sum, count) => sum + count, 0);
    assert.equal(weight(withSamples(first, [], NOW + DAY_MS)), 4);
    assert.equal(weight(withSamples(first, [], NOW - DAY_MS)), 8);
  });

  it('stays small whatever is put in', () => {
    let histogram: LatenessHistogram | undefined;
    for (let n = 0; n < 50; n += 1) histogram = withSamples(histogram, many(100, 2 ** n), NOW + n);
    assert.ok(histogram && JSON.stringify(histogram).length < 3000);
    assert.ok(histogram.counts.reduce((sum, count) => sum + count, 0) <= 1000.1);
  });
});

describe('the overlap that is wanted', () => {
  it('is the default while there are fewer than 20 samples, and more when they say so', () => {
    assert.equal(wantedOverlapMs(undefined, measured), 60_000);
    assert.equal(wantedOverlapMs(withSamples(undefined, many(19, 500), NOW), measured), 60_000);
    assert.equal(wantedOverlapMs(withSamples(undefined, [90_000], NOW), measured), 90_000 * 1.25 + 250);
  });

  it('is the 99th percentile with a quarter of head-room, never under the published 1 s', () => {
    assert.equal(wantedOverlapMs(withSamples(undefined, many(20, 4000), NOW), measured), 4000 * 1.25 + 250);
    assert.equal(wantedOverlapMs(withSamples(undefined, many(20, 10), NOW), measured), 1000);
  });

  it('widens at the first samples above it, and narrows over days', () => {
    let histogram = withSamples(undefined, many(500, 1000), NOW);
    const narrowMs = wantedOverlapMs(histogram, measured);
    histogram = withSamples(histogram, [30_000, 30_000], NOW + 1);
    const wideMs = wantedOverlapMs(histogram, measured);
    assert.ok(narrowMs <= 1500 && wideMs >= 30_000, `${narrowMs}, then ${wideMs} ms`);
    histogram = withSamples(histogram, many(100, 1000), NOW + 3_600_000);
    assert.equal(wantedOverlapMs(histogram, measured), wideMs, 'an hour later');
    for (let day = 1; day <= 7; day += 1) histogram = withSamples(histogram, many(500, 1000), NOW + day * DAY_MS);
    assert.ok(wantedOverlapMs(histogram, measured) < 1.05 * narrowMs, 'a week later');
  });

  it('is not measured where the settings name it', () => {
    const late = withSamples(undefined, many(100, 90_000), NOW);
    assert.equal(wantedOverlapMs(late, { overlapMs: 5000, ownOverlap: true }), 5000);
  });
});
