import { createByteReader, createByteWriter } from './bytes.ts';
import { createBitReader, createBitWriter } from './golomb.ts';

/** A scroll ends when it has served so many stories: whatever their split, the cursor stays below 4,096 characters. */
export const MAX_SERVED = 2000;

/** One story that was never served in so many seems to have been. */
const FALSE_POSITIVES = 2 ** 10;
const LATER_RANGE = MAX_SERVED * FALSE_POSITIVES;

/**
 * The stories that a scroll has served, as hashes reduced to so few bits that 500 of them take 960 characters of a token.
 * A reduced hash cannot be widened again, hence two parts: `first` (the lineage's first instance, re-made from the exact
 * hashes on each page) is as tight as its count allows; `later` (served by successors) has a fixed range, so that it can grow.
 */
export interface ServedSet {
  /** Stories in both parts. */
  readonly count: number;
  /** Sorted, each below `first.length` times 2^10. */
  readonly first: readonly number[];
  /** Sorted, each below 2,000 times 2^10. */
  readonly later: readonly number[];
}

export const emptyServedSet: ServedSet = { count: 0, first: [], later: [] };

/** The set of what the lineage's first instance has served. Hashes are 16 hex digits. */
export function servedFirst(hashes: readonly string[]): ServedSet {
  const distinct = [...new Set(hashes)];
  const range = distinct.length * FALSE_POSITIVES;
  return withParts(ascending(distinct.map((hash) => reduce(hash, range))), []);
}

/** The set with what a successor has served. What the set seems to hold already is not added again. */
export function addServed(set: ServedSet, hashes: readonly string[]): ServedSet {
  const added = hashes.filter((hash) => !hasServed(set, hash)).map((hash) => reduce(hash, LATER_RANGE));
  // Two stories of one batch that reduce to one number count once, so that a place has one set however its pages were cut.
  return withParts(set.first, ascending([...set.later, ...new Set(added)]));
}

/** True for every hash that was put in, and for about one other hash in a thousand. */
export function hasServed(set: ServedSet, hash: string): boolean {
  return (
    holds(set.first, reduce(hash, set.first.length * FALSE_POSITIVES)) || holds(set.later, reduce(hash, LATER_RANGE))
  );
}

/** Both counts as varints, then both parts Golomb-coded: 11.5 bits a story in the first, up to 18 in a small later part. */
export function encodeServedSet(set: ServedSet): Uint8Array {
  const bits = createBitWriter();
  bits.sorted(set.first, divisor(set.first.length, set.first.length * FALSE_POSITIVES));
  bits.sorted(set.later, divisor(set.later.length, LATER_RANGE));
  const out = createByteWriter();
  out.varint(set.first.length);
  out.varint(set.later.length);
  out.bytes(bits.take());
  return out.take();
}

/** The exact inverse of `encodeServedSet`. @throws RangeError for bytes that it would not give. */
export function decodeServedSet(bytes: Uint8Array): ServedSet {
  const input = createByteReader(bytes);
  const firstCount = input.varint();
  const laterCount = input.varint();
  const packed = input.bytes();
  if (firstCount + laterCount > packed.length * 8) throw new RangeError('required more bytes');
  const bits = createBitReader(packed);
  const firstRange = firstCount * FALSE_POSITIVES;
  const first = bits.sorted(firstCount, divisor(firstCount, firstRange), firstRange);
  const later = bits.sorted(laterCount, divisor(laterCount, LATER_RANGE), LATER_RANGE);
  bits.end();
  return withParts(first, later);
}

function withParts(first: readonly number[], later: readonly number[]): ServedSet {
  return { count: first.length + later.length, first, later };
}

/** Golomb's best divisor for `count` random numbers below `range`. */
function divisor(count: number, range: number): number {
  return count === 0 ? 1 : Math.max(1, Math.round((range / count) * Math.LN2));
}

/** The hash's top 32 bits, scaled to 0..range - 1. */
function reduce(hash: string, range: number): number {
  const top = /^[0-9a-f]{16}$/.test(hash) ? Number.parseInt(hash.slice(0, 8), 16) : Number.NaN;
  if (Number.isNaN(top)) throw new RangeError('required a hash of 16 hex digits');
  return Math.floor((top * range) / 2 ** 32);
}

function ascending(values: readonly number[]): readonly number[] {
  return values.toSorted((a, b) => a - b);
}

function holds(sorted: readonly number[], value: number): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === value;
}
