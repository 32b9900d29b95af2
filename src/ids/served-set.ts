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
  readonly first: Uint32Array;
  /** Sorted, each below 2,000 times 2^10. */
  readonly later: Uint32Array;
}

const NONE = new Uint32Array();

export const emptyServedSet: ServedSet = { count: 0, first: NONE, later: NONE };

/** The set of what the lineage's first instance has served, with the later part of `set`. Hashes are 32-bit numbers from 0. */
export function servedFirst(hashes: ArrayLike<number>, set: ServedSet = emptyServedSet): ServedSet {
  const sorted = Uint32Array.from(hashes).sort();
  const distinct = sorted.subarray(0, dropRepeats(sorted));
  const range = distinct.length * FALSE_POSITIVES;
  for (let at = 0; at < distinct.length; at += 1) distinct[at] = reduce(distinct[at] ?? 0, range);
  return withParts(distinct, set.later);
}

/** The set with these in its later part, each once, so that a place has one set however its pages were cut. */
export function addServed(set: ServedSet, hashes: readonly number[]): ServedSet {
  if (hashes.length === 0) return set;
  const later = new Uint32Array(set.later.length + hashes.length);
  later.set(set.later);
  for (const [at, hash] of hashes.entries()) later[set.later.length + at] = reduce(hash, LATER_RANGE);
  later.sort();
  return withParts(set.first, later.subarray(0, dropRepeats(later)));
}

/** What a set holds of successors, and of what the first instance has shown under other names than its items'. */
export function laterPart({ later }: ServedSet): ServedSet {
  return withParts(NONE, later);
}

/** True for every hash that was put in, and for about one other hash in a thousand. */
export function hasServed(set: ServedSet, hash: number): boolean {
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

function withParts(first: Uint32Array, later: Uint32Array): ServedSet {
  return { count: first.length + later.length, first, later };
}

/** Golomb's best divisor for `count` random numbers below `range`. */
function divisor(count: number, range: number): number {
  return count === 0 ? 1 : Math.max(1, Math.round((range / count) * Math.LN2));
}

/** The hash, scaled to 0..range - 1: the order stays. */
function reduce(hash: number, range: number): number {
  return Math.floor((hash * range) / 2 ** 32);
}

/** Moves each number of a sorted list once to its beginning; returns how many there are. */
function dropRepeats(sorted: Uint32Array): number {
  let length = 0;
  let last = -1;
  for (let at = 0; at < sorted.length; at += 1) {
    const value = sorted[at] ?? 0;
    if (value === last) continue;
    last = value;
    sorted[length] = value;
    length += 1;
  }
  return length;
}

function holds(sorted: Uint32Array, value: number): boolean {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return sorted[low] === value;
}
