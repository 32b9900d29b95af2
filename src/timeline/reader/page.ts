import type { Homes } from '../../home-copy.ts';
import type { TimelineToken } from '../../ids/tokens.ts';
import type { Post, PostId } from '../../post.ts';
import type { Source } from '../../source.ts';
import type { Store } from '../../stores/store.ts';
import type { LogRecord, LogState } from '../../stores/timeline-store.ts';
import type { Cursor } from './cursor.ts';
import type { Duplicates } from './duplicates.ts';

/** What reading one page takes. */
export interface PageQuery {
  readonly store: Pick<Store, 'timelines' | 'posts'>;
  /** The asked-for sources with their logs as they were before reading. */
  readonly logs: readonly AskedLog[];
  readonly cursor: Cursor;
  /** Of the cursor's logs, asked for or not, by log id. */
  readonly sources: ReadonlyMap<string, Source>;
  /** By the sources of the cursor's logs, asked for or not. */
  readonly homes: Homes;
  readonly limit: number;
  /** A page ends after the post with which its bodies reach so many bytes. */
  readonly maxBytes: number;
}

export interface AskedLog {
  readonly source: Source;
  readonly state: LogState;
}

/** The part of a page that comes out of the records. */
export interface PagePart {
  /** Newest first: by arrival on a `since` page, else by `sortAtMs` and post id. */
  readonly entries: readonly GivenEntry[];
  readonly edited: readonly Post[];
  readonly removed: readonly PostId[];
  readonly since?: TimelineToken;
  readonly until?: TimelineToken;
  /** True when records after `since` remain, even if they turn out to hold nothing to show. */
  readonly hasNewer: boolean;
}

export interface GivenEntry {
  readonly record: LogRecord;
  readonly source: Source;
  /** In its present form. */
  readonly post: Post;
  /** For the purpose `entry`: goes on after this entry as `since`, back from it as `until`. Made once, when it is asked for. */
  readonly token: TimelineToken;
}

/** What one page looks at before it ends early, so that no run of duplicates makes a request long. */
export interface Scan {
  /** How many records of `wanted` to look at next; 0: no more. */
  next(wanted: number): number;
  looked(records: readonly LogRecord[], { sizes }: Pick<Duplicates, 'sizes'>): void;
}

/** Records whose bodies are read before anything is known of their size. */
const FIRST = 60;
/** Records whose bodies are read at once: those of the largest page, and one to see whether there is more. */
const AT_ONCE = 201;

/** At most `20 * limit + 1000` records, and bodies of four pages' bytes; as many at once as are likely to fit into a page. */
export function createScan({ limit, maxBytes }: Pick<PageQuery, 'limit' | 'maxBytes'>): Scan {
  let records = 20 * limit + 1000;
  let bytes = 4 * maxBytes;
  let atOnce = FIRST;
  return {
    next: (wanted) => (bytes > 0 ? Math.min(wanted, records, atOnce) : 0),
    looked(batch, { sizes }) {
      let read = 0;
      for (const size of sizes.values()) read += size;
      records -= batch.length;
      bytes -= read;
      atOnce = Math.min(AT_ONCE, Math.ceil((maxBytes * batch.length) / Math.max(1, read)));
    },
  };
}
