import { list, text } from './redis-connection.ts';
import type { KnownEntry, LogCounts, LogRecord, LogState } from './timeline-store.ts';

/** The counts of a log, in the order in which `lua/commit.lua` has them. */
export const COUNTS = ['posts', 'requests', 'duplicatesDropped', 'leaksPrevented', 'backfilled', 'gaps'] as const;

/** Names and values, as streams (a list) and hashes (an object of Buffers) give them. */
export function fieldsOf(reply: unknown): Readonly<Record<string, string>> {
  if (!Array.isArray(reply)) {
    return Object.fromEntries(Object.entries(reply ?? {}).map(([name, value]) => [name, text(value)]));
  }
  const flat = list(reply);
  const fields: Record<string, string> = {};
  for (let at = 0; at < flat.length; at += 2) fields[text(flat[at])] = text(flat[at + 1]);
  return fields;
}

/** The state that the port shows; without fields, that of a log which was never committed. */
export function readState(fields: Readonly<Record<string, string>>): LogState {
  const { version = '0', head, trimmedTo, watermarkId, watermarkKey, floorKey, ...rest } = fields;
  const { gaps = '[]', lateness, memory } = rest;
  return {
    version: Number(version),
    ...(head !== undefined && { head }),
    ...(trimmedTo !== undefined && { trimmedTo }),
    ...(watermarkId !== undefined &&
      watermarkKey !== undefined && { watermark: { upstreamId: watermarkId, orderKey: watermarkKey } }),
    ...(floorKey !== undefined && { floorKey }),
    gaps: JSON.parse(gaps),
    counts: Object.fromEntries(
      COUNTS.map((name) => [name, Number(rest[`count ${name}`] ?? 0)]),
    ) as unknown as LogCounts,
    ...(lateness !== undefined && { lateness: JSON.parse(lateness) }),
    ...(memory !== undefined && { memory: JSON.parse(memory) }),
  };
}

/** A stream's entry, and the position of the record that removed it. */
export function readRecord(logId: string, reply: unknown, removedAt: unknown): LogRecord {
  const [position, flat] = list(reply);
  const { kind = 'entry', post = '', uri = '', sort, arrived, late } = fieldsOf(flat);
  return {
    logId,
    position: text(position),
    kind: kind as LogRecord['kind'],
    postId: post,
    uri,
    sortAtMs: Number(sort),
    arrivedAtMs: Number(arrived),
    late: late === '1',
    ...(Buffer.isBuffer(removedAt) && { removedAt: text(removedAt) }),
  };
}

/** The JSON of the known-index; undefined for what it does not hold. */
export function readKnown(reply: unknown): KnownEntry | undefined {
  if (!Buffer.isBuffer(reply)) return undefined;
  const [upstreamId, orderKey, revision, sortAt, arrivedAt, removedAt] = JSON.parse(text(reply)) as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const entry = { upstreamId, orderKey, revision, sortAtMs: Number(sortAt), arrivedAtMs: Number(arrivedAt) };
  return removedAt === '' ? entry : { ...entry, removedAtMs: Number(removedAt) };
}
