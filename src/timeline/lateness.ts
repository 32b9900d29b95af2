import type { LatenessHistogram } from '../stores/timeline-store.ts';

/** Buckets are a quarter of a power of two wide. */
const PER_OCTAVE = 4;

/** Where nothing was ever late. */
export const NO_LATENESS: LatenessHistogram = { counts: [], samples: 0, maxMs: 0, fadedAtMs: 0 };

/** The histogram with more samples, each in ms. */
export function withSamples(
  before: LatenessHistogram | undefined,
  samplesMs: readonly number[],
  nowMs: number,
): LatenessHistogram {
  const counts = [...(before?.counts ?? [])];
  for (const sampleMs of samplesMs) {
    const bucket = Math.floor(PER_OCTAVE * Math.log2(Math.max(1, sampleMs)));
    while (counts.length <= bucket) counts.push(0);
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return {
    counts,
    samples: (before?.samples ?? 0) + samplesMs.length,
    maxMs: Math.max(before?.maxMs ?? 0, ...samplesMs),
    fadedAtMs: before?.fadedAtMs ?? nowMs,
  };
}

/** What at least this share (above 0, up to 1) of the samples do not exceed, ms: a bucket's upper bound, at most `maxMs`. Undefined without samples. */
export function percentileMs(histogram: LatenessHistogram, share: number): number | undefined {
  if (histogram.samples === 0) return undefined;
  const all = histogram.counts.reduce((sum, count) => sum + count, 0);
  let below = 0;
  for (const [bucket, count] of histogram.counts.entries()) {
    below += count;
    if (count > 0 && below >= share * all)
      return Math.min(histogram.maxMs, Math.ceil(2 ** ((bucket + 1) / PER_OCTAVE)));
  }
  return histogram.maxMs;
}
