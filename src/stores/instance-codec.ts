import type { Reason } from '../recommenders/recommender.ts';
import type { FeedInstance, InstanceItem } from './feed-store.ts';

// Header, big-endian: magic 0..3, version 4, bytes of the plane an item 5, reasons 6..7, count 8..11,
// bytes of the reasons' table 12..15, generatedAtMs as a double 16..23, and where the store keeps it here, when it expires (Unix
// ms as a double, else 0) 24..31.
// Then 8 bytes of hash an item, then the plane, then the table as JSON.
const HEADER_BYTES = 32;
const HASH_BYTES = 8;
const MAGIC = 0x534c4649;
const VERSION = 2;

/** The most items of an instance. */
export const MAX_INSTANCE_ITEMS = 100_000;

/**
 * An instance in 32 bytes, 8 an item, and 1 or 2 more an item when there are reasons, each of which is kept once.
 * Throws RangeError for hashes that are not 16 lower-case hex digits and for too many items or reasons.
 * A release writes the version that the release before it reads, so that both may run on one store.
 */
export function encodeInstance({ generatedAtMs, items }: Omit<FeedInstance, 'feedId'>, expiresAtMs = 0): Buffer {
  const reasons = [...new Set(items.flatMap(({ reason }) => (reason ? [reasonText(reason)] : [])))];
  const numbers = new Map(reasons.map((reason, index) => [reason, index + 1]));
  const width = reasons.length === 0 ? 0 : reasons.length <= 0xff ? 1 : 2;
  if (items.length > MAX_INSTANCE_ITEMS) throw new RangeError(`an instance holds at most ${MAX_INSTANCE_ITEMS} items`);
  if (reasons.length > 0xffff) throw new RangeError('an instance holds at most 65535 distinct reasons');

  const table = Buffer.from(reasons.length === 0 ? '' : `[${reasons.join()}]`);
  const planeAt = HEADER_BYTES + items.length * HASH_BYTES;
  const tableAt = planeAt + items.length * width;
  const bytes = Buffer.alloc(tableAt + table.length);
  bytes.writeUInt32BE(MAGIC, 0);
  bytes.writeUInt8(VERSION, 4);
  bytes.writeUInt8(width, 5);
  bytes.writeUInt16BE(reasons.length, 6);
  bytes.writeUInt32BE(items.length, 8);
  bytes.writeUInt32BE(table.length, 12);
  bytes.writeDoubleBE(generatedAtMs, 16);
  bytes.writeDoubleBE(expiresAtMs, 24);
  for (const [index, { hash, reason }] of items.entries()) {
    if (!/^[0-9a-f]{16}$/.test(hash)) throw new RangeError('a hash must be 16 lower-case hex digits');
    bytes.write(hash, HEADER_BYTES + index * HASH_BYTES, 'hex');
    if (reason) bytes.writeUIntBE(numbers.get(reasonText(reason)) ?? 0, planeAt + index * width, width);
  }
  table.copy(bytes, tableAt);
  return bytes;
}

/**
 * Items `offset` to `offset + count` (fewer at the end, none past it; all by default), with what the header tells.
 * Throws RangeError for bytes that encodeInstance did not make.
 */
export function decodeInstance(bytes: Uint8Array, offset = 0, count = MAX_INSTANCE_ITEMS): DecodedInstance {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const header = readHeader(buffer);
  const reasons = readReasons(buffer.subarray(header.tableAt), header.reasons);
  const items: InstanceItem[] = [];
  const end = Math.min(header.size, offset + count);
  for (let index = Math.max(0, offset); index < end; index++) {
    const hashAt = HEADER_BYTES + index * HASH_BYTES;
    const hash = buffer.toString('hex', hashAt, hashAt + HASH_BYTES);
    const number = header.width === 0 ? 0 : buffer.readUIntBE(header.planeAt + index * header.width, header.width);
    if (number > reasons.length) throw new RangeError(`item ${index} names reason ${number} of ${reasons.length}`);
    const reason = reasons[number - 1];
    items.push(reason ? { hash, reason } : { hash });
  }
  return { generatedAtMs: header.generatedAtMs, size: header.size, items };
}

/** The hashes of items `from` to `to`, 8 bytes each: a view of these bytes. */
export function hashesIn(bytes: Uint8Array, from: number, to: number): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset + HEADER_BYTES + from * HASH_BYTES, (to - from) * HASH_BYTES);
}

export interface DecodedInstance {
  readonly generatedAtMs: number;
  /** Of the whole instance. */
  readonly size: number;
  readonly items: readonly InstanceItem[];
}

function readHeader(buffer: Buffer) {
  if (buffer.length < HEADER_BYTES) throw new RangeError(`an instance has at least 32 bytes, got ${buffer.length}`);
  if (buffer.readUInt32BE(0) !== MAGIC) throw new RangeError('these bytes are not an instance');
  if (buffer.readUInt8(4) !== VERSION) throw new RangeError(`instance version ${buffer.readUInt8(4)} is unknown`);
  const width = buffer.readUInt8(5);
  const reasons = buffer.readUInt16BE(6);
  const size = buffer.readUInt32BE(8);
  const generatedAtMs = buffer.readDoubleBE(16);
  const planeAt = HEADER_BYTES + size * HASH_BYTES;
  const tableAt = planeAt + size * width;
  const length = tableAt + buffer.readUInt32BE(12);
  if (length !== buffer.length) throw new RangeError(`this instance has ${length} bytes, got ${buffer.length}`);
  const widthFits = width === (reasons === 0 ? 0 : reasons <= 0xff ? 1 : 2);
  const areTimes = Number.isFinite(generatedAtMs) && Number.isFinite(buffer.readDoubleBE(24));
  if (!widthFits || !areTimes) throw new RangeError('this header is not ours');
  return { width, reasons, size, generatedAtMs, planeAt, tableAt };
}

/** One spelling a reason, whatever else the object carries. */
function reasonText({ kind, text }: Reason): string {
  return JSON.stringify([kind, text]);
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
