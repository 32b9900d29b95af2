import type { SourcePolling } from '../../source.ts';
import type { LatenessHistogram } from '../../stores/timeline-store.ts';

/** Buckets are a quarter of a power of two wide. */
const PER_OCTAVE = 4;
/** Half of what a sample counts is gone after a day: k narrows slowly. */
const HALF_LIFE_MS = 86_400_000;
/** Newer samples push out older ones from so many on. */
const MOST_COUNTED = 1000;
/** A sample above the 99th percentile counts so much: a few of them widen k at once. */
const ABOVE_WEIGHT = 5;
/** From so many samples on they are believed. */
const ENOUGH_SAMPLES = 20;
/** The published k: "Your Timelines Are Leaky". */
export const LEAST_OVERLAP_MS = 1000;

/** Where nothing was ever late. */
export const NO_LATENESS: LatenessHistogram = { counts: [], samples: 0, maxMs: 0, fadedAtMs: 0 };

/** The histogram with more samples, each in ms. `nowMs`: local clock; one that was set back fades nothing. */
export function withSamples(
  before: LatenessHistogram | undefined,
  samplesMs: readonly number[],
  nowMs: number,
): LatenessHistogram {
  const old = before ?? { ...NO_LATENESS, fadedAtMs: nowMs };
  const p99Ms = percentileMs(old, 0.99) ?? Number.POSITIVE_INFINITY;
  const fade = 2 ** (-Math.max(0, nowMs - old.fadedAtMs) / HALF_LIFE_MS);
  const counts = old.counts.map((count) => count * fade);
  for (const sampleMs of samplesMs) {
    const bucket = Math.floor(PER_OCTAVE * Math.log2(Math.max(1, sampleMs)));
    while (counts.length <= bucket) counts.push(0);
    counts[bucket] = (counts[bucket] ?? 0) + (sampleMs > p99Ms ? ABOVE_WEIGHT : 1);
  }
  const scale = Math.min(1, MOST_COUNTED / total(counts));
  return {
    counts: counts.map((count) => Number((count * scale).toPrecision(6))),
    samples: old.samples + samplesMs.length,
    maxMs: Math.max(old.maxMs, ...samplesMs),
    fadedAtMs: nowMs,
  };
}

/** What at least this share (above 0, up to 1) of the samples do not exceed, ms: a bucket's upper bound, at most `maxMs`. Undefined without samples. */
export function percentileMs(histogram: LatenessHistogram, share: number): number | undefined {
  if (histogram.samples === 0) return undefined;
  const all = total(histogram.counts);
  let below = 0;
  for (const [bucket, count] of histogram.counts.entries()) {
    below += count;
    if (count > 0 && below >= share * all)
      return Math.min(histogram.maxMs, Math.ceil(2 ** ((bucket + 1) / PER_OCTAVE)));
  }
  return histogram.maxMs;
}

/**
 * The k that a source's posts ask for, ms: the 99th percentile of their lateness with a quarter of head-room, at least 1 s. With too
 * little evidence the default, unless more is known to be needed; what the settings name is not measured.
 */
export function wantedOverlapMs(
  lateness: LatenessHistogram = NO_LATENESS,
  { overlapMs, ownOverlap }: Pick<SourcePolling, 'overlapMs' | 'ownOverlap'>,
): number {
  const p99Ms = percentileMs(lateness, 0.99);
  if (ownOverlap || p99Ms === undefined) return overlapMs;
  const measuredMs = Math.max(LEAST_OVERLAP_MS, Math.ceil(p99Ms * 1.25) + 250);
  return lateness.samples < ENOUGH_SAMPLES ? Math.max(overlapMs, measuredMs) : measuredMs;
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
