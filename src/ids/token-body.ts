import type { PostId } from '../post.ts';
import type { Position } from '../stores/timeline-store.ts';
import { type ByteReader, type ByteWriter, createByteReader, createByteWriter } from './bytes.ts';
import { formatPosition, parsePosition } from './position.ts';
import { decodeServedSet, encodeServedSet, type ServedSet } from './served-set.ts';

/** Where the next page of a For You scroll starts. */
export interface FeedCursor {
  /** 16 hex digits. */
  readonly feedId: string;
  /** The next item's raw place in this instance, from 0. */
  readonly offset: number;
  /** The position in the scroll of this instance's raw place 0. */
  readonly base: number;
  /** What the lineage has served before this page. */
  readonly served: ServedSet;
  /** False for the lineage's first instance. */
  readonly successor: boolean;
}

/** How far a reader has come in each of the sources. */
export interface TimelineToken {
  /** Each tag once. A token that was opened gives them sorted by tag. */
  readonly sources: readonly TokenSource[];
  /** The place in the merged order, of an `until` or `entry` token. */
  readonly at?: { readonly sortAtMs: number; readonly postId: PostId } | undefined;
}

export interface TokenSource {
  /** `logTag` of the source's log: 16 hex digits. */
  readonly tag: string;
  /** The log's head when this cursor first saw it; its tail then, where what comes after `passed` had been trimmed. */
  readonly joined: Position;
  readonly passed: Position;
  /** True when the log's entries at or before `joined` belong to this cursor's first page and its `until` pages. */
  readonly history: boolean;
  /** What was trimmed before this cursor had passed it, up to `joined`. */
  readonly missed?: MissedRecords | undefined;
}

export interface MissedRecords {
  /** Unix ms, not after `joined`; absent where the cursor had passed nothing. */
  readonly fromMs: number | undefined;
  /** Unix ms, not before `joined`. */
  readonly foundAtMs: number;
}

const HISTORY = 1;
const BACKWARDS = 2;
const MISSED = 4;

/** The cursor in bytes: flags, feed id, offset, base, served set. @throws RangeError when a part is out of its bounds. */
export function packFeedCursor(cursor: FeedCursor): Uint8Array {
  const out = createByteWriter();
  out.byte(cursor.successor ? 1 : 0);
  out.bytes(hash64(cursor.feedId));
  out.varint(cursor.offset);
  out.varint(cursor.base);
  out.bytes(encodeServedSet(cursor.served));
  return out.take();
}

/** The exact inverse of `packFeedCursor`. @throws RangeError for other bytes. */
export function unpackFeedCursor(body: Uint8Array): FeedCursor {
  const input = createByteReader(body);
  const successor = flag(input);
  const feedId = hex(input.bytes(8));
  const offset = input.varint();
  const base = input.varint();
  return { feedId, offset, base, served: decodeServedSet(input.bytes()), successor };
}

/** The token in bytes, sources sorted by tag. @throws RangeError when a part is out of its bounds or a tag comes twice. */
export function packTimeline(token: TimelineToken): Uint8Array {
  const out = createByteWriter();
  out.varint(token.sources.length);
  const sources = token.sources.toSorted((a, b) => (a.tag < b.tag ? -1 : 1));
  for (const [index, source] of sources.entries()) {
    if (source.tag === sources[index - 1]?.tag) throw new RangeError('a source must come once in a token');
    packSource(out, source);
  }
  out.byte(token.at === undefined ? 0 : 1);
  if (token.at !== undefined) {
    out.varint(token.at.sortAtMs);
    out.bytes(utf8(token.at.postId));
  }
  return out.take();
}

/** The exact inverse of `packTimeline`, sources sorted by tag. @throws RangeError for other bytes. */
export function unpackTimeline(body: Uint8Array): TimelineToken {
  const input = createByteReader(body);
  const sources: TokenSource[] = [];
  // Each source takes 14 bytes at least: a hostile count ends with the bytes, not with the memory.
  for (let left = input.varint(); left > 0; left -= 1) {
    const source = unpackSource(input);
    if (source.tag <= (sources.at(-1)?.tag ?? '')) throw new RangeError('required sources sorted by tag');
    sources.push(source);
  }
  if (!flag(input)) {
    input.end();
    return { sources };
  }
  const sortAtMs = input.varint();
  return { sources, at: { sortAtMs, postId: text(input.bytes()) } };
}

function packSource(out: ByteWriter, source: TokenSource): void {
  const joined = parsePosition(source.joined);
  const passed = parsePosition(source.passed);
  out.bytes(hash64(source.tag));
  const { missed } = source;
  out.byte((source.history ? HISTORY : 0) | (passed.ms < joined.ms ? BACKWARDS : 0) | (missed ? MISSED : 0));
  out.varint(joined.ms);
  out.varint(joined.n);
  // Both are mostly near: the distance is shorter than the time.
  out.varint(Math.abs(passed.ms - joined.ms));
  out.varint(passed.n);
  if (missed === undefined) return;
  // 0: from the beginning.
  out.varint(missed.fromMs === undefined ? 0 : joined.ms - missed.fromMs + 1);
  out.varint(missed.foundAtMs - joined.ms);
}

function unpackSource(input: ByteReader): TokenSource {
  const tag = hex(input.bytes(8));
  const flags = input.byte();
  if (flags > (HISTORY | BACKWARDS | MISSED)) throw new RangeError('required known flags');
  const joined = { ms: input.varint(), n: input.varint() };
  const distance = input.varint();
  if ((flags & BACKWARDS) !== 0 && distance === 0) throw new RangeError('required a distance');
  const passedMs = joined.ms + ((flags & BACKWARDS) === 0 ? distance : -distance);
  return {
    tag,
    joined: formatPosition(joined.ms, joined.n),
    passed: formatPosition(passedMs, input.varint()),
    history: (flags & HISTORY) !== 0,
    ...((flags & MISSED) === 0 ? {} : { missed: unpackMissed(input, joined.ms) }),
  };
}

function unpackMissed(input: ByteReader, joinedMs: number): MissedRecords {
  const distance = input.varint();
  if (distance > joinedMs + 1) throw new RangeError('required a time from 0');
  const foundAtMs = joinedMs + input.varint();
  if (!Number.isSafeInteger(foundAtMs)) throw new RangeError('required a safe integer');
  return { fromMs: distance === 0 ? undefined : joinedMs + 1 - distance, foundAtMs };
}

function flag(input: ByteReader): boolean {
  const value = input.byte();
  if (value > 1) throw new RangeError('required a flag');
  return value === 1;
}

function hash64(digits: string): Uint8Array {
  if (!/^[0-9a-f]{16}$/.test(digits)) throw new RangeError('required 16 hex digits');
  return Buffer.from(digits, 'hex');
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function utf8(value: string): Uint8Array {
  if (!value.isWellFormed()) throw new RangeError('required well-formed text');
  return Buffer.from(value);
}

function text(bytes: Uint8Array): string {
  const value = Buffer.from(bytes).toString();
  if (Buffer.compare(Buffer.from(value), bytes) !== 0) throw new RangeError('required UTF-8');
  return value;
}
