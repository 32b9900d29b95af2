import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Reason } from '../recommenders/recommender.ts';
import type { FeedInstance, InstanceItem } from './feed-store.ts';

// Header, big-endian: magic 0..3, version 4, bytes of the plane an item 5, reasons 6..7, count 8..11,
// bytes of the reasons' table 12..15, generatedAtMs as a double 16..23, and where the store keeps it here, when it expires (Unix
// ms as a double, else 0) 24..31.
// Then 8 bytes of hash an item, then the plane, then the table as JSON; with version 3 it is compressed by zstd.
const HEADER_BYTES = 32;
const HASH_BYTES = 8;
const MAGIC = 0x534c4649;
/** Version 1 hashed stories otherwise. */
const PLAIN = 2;
const COMPRESSED = 3;

/** The first 5 bytes of what this release can read, in hex; lua/instance.lua has them too. */
export const READABLE = [PLAIN, COMPRESSED].map((version) => `${MAGIC.toString(16)}0${version}`);

/** A few reasons are not worth it. */
const MAX_PLAIN_TABLE_BYTES = 1024;
/** What a table may come to: 65,535 reasons of 80 characters, each of 6 bytes where JSON escapes it. */
const MAX_TABLE_BYTES = 40_000_000;

/** Where an instance holds when it expires. */
export const EXPIRY_AT = 24;

/** The most items of an instance. */
export const MAX_INSTANCE_ITEMS = 100_000;

/**
 * An instance in 32 bytes, 8 an item, and 1 or 2 more an item when there are reasons, each of which is kept once, compressed
 * where they are many. Throws RangeError for hashes that are not 16 lower-case hex digits and for too many items or reasons.
 * A release writes versions that the release before it reads, but for many distinct reasons, so that both may run on one store:
 * to the older one those are gone.
 */
export function encodeInstance({ generatedAtMs, items }: Omit<FeedInstance, 'feedId'>, expiresAtMs = 0): Buffer {
  const { texts, numberOf } = numbered(items);
  const width = widthOf(texts.length);
  if (items.length > MAX_INSTANCE_ITEMS) throw new RangeError(`an instance holds at most ${MAX_INSTANCE_ITEMS} items`);
  if (texts.length > 0xffff) throw new RangeError('an instance holds at most 65535 distinct reasons');

  const plain = Buffer.from(texts.length === 0 ? '' : `[${texts.join()}]`);
  const version = plain.length > MAX_PLAIN_TABLE_BYTES ? COMPRESSED : PLAIN;
  const table = version === COMPRESSED ? zstdCompressSync(plain) : plain;
  const planeAt = HEADER_BYTES + items.length * HASH_BYTES;
  const tableAt = planeAt + items.length * width;
  const bytes = Buffer.alloc(tableAt + table.length);
  bytes.writeUInt32BE(MAGIC, 0);
  bytes.writeUInt8(version, 4);
  bytes.writeUInt8(width, 5);
  bytes.writeUInt16BE(texts.length, 6);
  bytes.writeUInt32BE(items.length, 8);
  bytes.writeUInt32BE(table.length, 12);
  bytes.writeDoubleBE(generatedAtMs, 16);
  bytes.writeDoubleBE(expiresAtMs, EXPIRY_AT);
  if (!items.every(({ hash }) => /^[0-9a-f]{16}$/.test(hash))) {
    throw new RangeError('a hash must be 16 lower-case hex digits');
  }
  bytes.write(items.map(({ hash }) => hash).join(''), HEADER_BYTES, 'hex');
  for (const [index, { reason }] of items.entries()) {
    if (reason) bytes.writeUIntBE(numberOf.get(reason) ?? 0, planeAt + index * width, width);
  }
  table.copy(bytes, tableAt);
  return bytes;
}

/** An instance that was read. */
export interface DecodedInstance {
  readonly generatedAtMs: number;
  /** How many items it has. */
  readonly size: number;
  /** About what it takes in memory. */
  readonly bytes: number;
  /** Items `offset` to `offset + count`: fewer at the end, none past it. */
  items(offset: number, count: number): readonly InstanceItem[];
  /** The hashes of items `from` to `to`, without that one, 8 bytes each: a view. */
  hashes(from: number, to: number): Buffer;
}

/** Throws RangeError for bytes that encodeInstance did not make, or that of a later release did. */
export function decodeInstance(encoded: Uint8Array): DecodedInstance {
  const buffer = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  const { version, width, size, generatedAtMs, planeAt, tableAt, ...header } = readHeader(buffer);
  const reasons = readReasons(plainTable(buffer.subarray(tableAt), version), header.reasons);
  // A copy, so that what was read can go.
  const hashes = Buffer.from(buffer.subarray(HEADER_BYTES, planeAt));
  const numbers = Array.from({ length: width === 0 ? 0 : size }, (_, n) =>
    buffer.readUIntBE(planeAt + n * width, width),
  );
  const wrong = numbers.findIndex((number) => number > reasons.length);
  if (wrong >= 0) throw new RangeError(`item ${wrong} names reason ${numbers[wrong]} of ${reasons.length}`);
  const hashAt = (index: number) => hashes.toString('hex', index * HASH_BYTES, (index + 1) * HASH_BYTES);
  return {
    generatedAtMs,
    size,
    bytes: 1000 + hashes.length + 8 * numbers.length + reasons.reduce((sum, { text }) => sum + 80 + 2 * text.length, 0),
    hashes: (from, to) => hashes.subarray(from * HASH_BYTES, Math.max(from, to) * HASH_BYTES),
    items(offset, count) {
      const length = Math.max(0, Math.min(size, offset + count) - offset);
      return Array.from({ length }, (_, n): InstanceItem => {
        const reason = reasons[(numbers[offset + n] ?? 0) - 1];
        const hash = hashAt(offset + n);
        return reason ? { hash, reason } : { hash };
      });
    },
  };
}

/** Each distinct reason's text, and the number of each reason, from 1: those that say the same have one. */
function numbered(items: readonly InstanceItem[]) {
  const byText = new Map<string, number>();
  const numberOf = new Map<Reason, number>();
  for (const { reason } of items) {
    if (!reason || numberOf.has(reason)) continue;
    const text = reasonText(reason);
    const number = byText.get(text) ?? byText.size + 1;
    byText.set(text, number);
    numberOf.set(reason, number);
  }
  return { texts: [...byText.keys()], numberOf };
}

/** Bytes of the plane an item. */
function widthOf(reasons: number): number {
  return reasons === 0 ? 0 : reasons <= 0xff ? 1 : 2;
}

function readHeader(buffer: Buffer) {
  if (buffer.length < HEADER_BYTES) throw new RangeError(`an instance has at least 32 bytes, got ${buffer.length}`);
  if (buffer.readUInt32BE(0) !== MAGIC) throw new RangeError('these bytes are not an instance');
  const version = buffer.readUInt8(4);
  if (version !== PLAIN && version !== COMPRESSED) throw new RangeError(`instance version ${version} is unknown`);
  const width = buffer.readUInt8(5);
  const reasons = buffer.readUInt16BE(6);
  const size = buffer.readUInt32BE(8);
  const generatedAtMs = buffer.readDoubleBE(16);
  const planeAt = HEADER_BYTES + size * HASH_BYTES;
  const tableAt = planeAt + size * width;
  const length = tableAt + buffer.readUInt32BE(12);
  if (length !== buffer.length) throw new RangeError(`this instance has ${length} bytes, got ${buffer.length}`);
  const areTimes = Number.isFinite(generatedAtMs) && Number.isFinite(buffer.readDoubleBE(EXPIRY_AT));
  if (width !== widthOf(reasons) || !areTimes) throw new RangeError('this header is not ours');
  return { version, width, reasons, size, generatedAtMs, planeAt, tableAt };
}

/** One spelling a reason, whatever else the object carries. */
function reasonText({ kind, text }: Reason): string {
  return JSON.stringify([kind, text]);
}

function plainTable(table: Buffer, version: number): Buffer {
  if (version === PLAIN) return table;
  try {
    return zstdDecompressSync(table, { maxOutputLength: MAX_TABLE_BYTES });
  } catch (cause) {
    throw new RangeError("the reasons' table cannot be decompressed", { cause });
  }
}

function readReasons(table: Buffer, count: number): readonly Reason[] {
  if (count === 0 && table.length === 0) return [];
  let reasons: unknown;
  try {
    reasons = JSON.parse(table.toString());
  } catch (cause) {
    throw new RangeError("the reasons' table is not JSON", { cause });
  }
  if (!Array.isArray(reasons) || reasons.length !== count) throw new RangeError(`the table must hold ${count} reasons`);
  return reasons.map(readReason);
}

function readReason(entry: unknown): Reason {
  const [kind, text] = Array.isArray(entry) ? (entry as unknown[]) : [];
  if (typeof kind !== 'string' || typeof text !== 'string') throw new RangeError('a reason is a kind and a text');
  return { kind: kind as Reason['kind'], text };
}
