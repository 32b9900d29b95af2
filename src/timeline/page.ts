import type { Homes } from '../home-copy.ts';
import type { TimelineToken } from '../ids/tokens.ts';
import type { Post, PostId } from '../post.ts';
import type { Source } from '../source.ts';
import type { Store } from '../stores/store.ts';
import type { LogRecord, LogState } from '../stores/timeline-store.ts';
import type { Cursor } from './cursor.ts';

/** What reading one page takes. */
export interface PageQuery {
  readonly store: Pick<Store, 'timelines' | 'posts'>;
  /** The asked-for sources with their logs as they were before reading. */
  readonly logs: readonly AskedLog[];
  readonly cursor: Cursor;
  /** By the sources of the cursor's logs, asked for or not. */
  readonly homes: Homes;
  readonly limit: number;
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
  /** For the purpose `entry`: goes on after this entry as `since`, back from it as `until`. */
  readonly token: TimelineToken;
}

/** The most records that one page looks at, so that no run of repeats makes a request long. */
export function scanBound(limit: number): number {
  return 20 * limit + 1000;
}
