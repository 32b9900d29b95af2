import { comparePositions } from '../../ids/position.ts';
import type { LogRecord } from '../../stores/timeline-store.ts';
import { type Cursor, compareText } from './cursor.ts';

/** Reads at most `limit` items of one log that come after `last` in the merge's order; fewer only at its end. */
export type Lane<T> = (last: T | undefined, limit: number) => Promise<readonly T[]>;

/** Records. */
const MAX_CHUNK = 400;

/** How much to read next when the last read was not enough. */
export function larger(chunk: number): number {
  return Math.max(chunk, Math.min(2 * chunk, MAX_CHUNK));
}

/** Several logs as one. */
export interface Merged<T> {
  /** The next items, fewer than `count` only at the end of all lanes. */
  take(count: number): Promise<readonly T[]>;
  hasMore(): Promise<boolean>;
}

/**
 * Merges lanes that are each in `order`. A lane is read only when it is needed, first `chunk` items, then twice as many
 * each time up to MAX_CHUNK: most pages need one read, and a long run of duplicates only a few.
 */
export function mergeLanes<T>(lanes: readonly Lane<T>[], order: (a: T, b: T) => number, chunk: number): Merged<T> {
  const queues = lanes.map((read) => ({ read, items: [] as readonly T[], next: 0, size: chunk, done: false }));

  async function fill() {
    const empty = queues.filter((queue) => !queue.done && queue.next === queue.items.length);
    await Promise.all(
      empty.map(async (queue) => {
        queue.items = await queue.read(queue.items.at(-1), queue.size);
        queue.next = 0;
        queue.done = queue.items.length < queue.size;
        queue.size = larger(queue.size);
      }),
    );
  }

  function first(): T | undefined {
    let best: { queue: (typeof queues)[number]; item: T } | undefined;
    for (const queue of queues) {
      const item = queue.items[queue.next];
      if (item !== undefined && (best === undefined || order(item, best.item) < 0)) best = { queue, item };
    }
    if (best !== undefined) best.queue.next += 1;
    return best?.item;
  }

  return {
    async take(count) {
      const taken: T[] = [];
      while (taken.length < count) {
        await fill();
        const item = first();
        if (item === undefined) break;
        taken.push(item);
      }
      return taken;
    },
    async hasMore() {
      await fill();
      return queues.some((queue) => queue.next < queue.items.length);
    },
  };
}

/** The order in which a cursor is handed records: by position, then by the log's tag. Oldest first. */
export function byArrival(cursor: Cursor): (a: LogRecord, b: LogRecord) => number {
  return (a, b) => comparePositions(a.position, b.position) || compareText(tag(cursor, a), tag(cursor, b));
}

/** The order in which a timeline is shown: by `sortAtMs`, then by post id, both descending; copies of one post by tag. */
export function byDisplay(cursor: Cursor): (a: LogRecord, b: LogRecord) => number {
  return (a, b) => compareDisplay(a, b) || compareText(tag(cursor, a), tag(cursor, b));
}

/** Negative when `a` is shown above `b`, 0 when they are one place. */
export function compareDisplay(a: DisplayKey, b: DisplayKey): number {
  return b.sortAtMs - a.sortAtMs || compareText(b.postId, a.postId);
}

/** A place in a timeline. */
export interface DisplayKey {
  readonly sortAtMs: number;
  readonly postId: string;
}

function tag(cursor: Cursor, record: LogRecord): string {
  return cursor.get(record.logId)?.tag ?? '';
}
