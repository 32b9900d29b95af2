import type { Problem } from '../errors.ts';
import type { PostId } from '../post.ts';
import type { RateLimit } from '../upstreams/upstream.ts';
import type { LogRegistry } from './log-registry.ts';
import type { PostWrite } from './post-store.ts';
import type { RepairState } from './repair-state.ts';

/** `<ms>-<n>`, chosen by the store as max(last + 1, now): one total order a log. Compare with ids/position.ts. */
export type Position = string;

/**
 * Entry records of one uri that a log finds by it: the first, which clients hold, and the newest. An honest log has a single
 * live one, the newest, and before that those of a post that was removed and came back.
 */
export const COPIES_PER_URI = 8;

/**
 * One append-only log a source, with its state. A log that was never committed has version 0.
 * Logs and their state have no TTL.
 */
export interface TimelineStore extends LogRegistry {
  readLog(logId: string): Promise<LogState>;
  /**
   * All of the commit, or nothing when the version is not `expectedVersion` any more.
   * A caller's mistake throws a plain Error, and keeps nothing: an `entry` of a post that is known and not removed,
   * an `edit` or `remove` of any other. An `entry` of a removed post is a new entry; the old one stays removed where it was.
   */
  commit(commit: LogCommit): Promise<CommitResult>;
  /** Those of `postIds` which the log knows (entries, removed ones included), for dropping repeats and finding edits. */
  known(logId: string, postIds: readonly PostId[]): Promise<ReadonlyMap<PostId, KnownEntry>>;
  /** The known entry, not removed, with the highest order key at or under `orderKey`. */
  anchor(logId: string, orderKey: string): Promise<KnownPost | undefined>;
  /** The known entries, not removed, with order keys above `above` and at or under `upTo` (each absent: no bound), highest first, at most `limit`. */
  knownBetween(query: { logId: string; above?: string; upTo?: string; limit: number }): Promise<readonly KnownPost[]>;
  /** What the last commit that had one left; undefined before, and where an earlier release wrote it. */
  readRepair(logId: string): Promise<RepairState | undefined>;
  /** Records after a position (all when it is absent), oldest first, at most `limit`. */
  recordsAfter(query: { logId: string; after?: Position; limit: number }): Promise<readonly LogRecord[]>;
  /**
   * Entries that are not removed, at or before position `upTo`, ordered by (sortAtMs, postId) descending,
   * strictly below `before`, at most `limit`.
   */
  entriesBefore(query: {
    logId: string;
    upTo: Position;
    before?: { sortAtMs: number; postId: PostId };
    limit: number;
  }): Promise<readonly LogRecord[]>;
  /** Of each of these uris COPIES_PER_URI entry records of this log (removed ones included), the first and the newest, oldest first. */
  entriesByUri(logId: string, uris: readonly string[]): Promise<readonly LogRecord[]>;
  /** Makes the head at least `position`, so that nothing new is ever put at or before what a client has passed. */
  liftHead(logId: string, position: Position): Promise<void>;
  /**
   * Drops records older than `beforeMs` (by arrival), beyond the newest `keepEntries` entries, or while the bodies that the log
   * shows come to more than `keepBytes` as JSON in UTF-8 (absent: no bound); moves `trimmedTo`.
   * Always the oldest by position: a record stays while an older one does. Outside the version.
   * The known-index is bounded by its own count, `keepKnown`: the lowest order keys leave it, which raises `floorKey`
   * and the version, so that no commit that looked before takes them for new.
   * May come in steps, each of them atomic: what others see meanwhile is a trim with looser bounds.
   */
  trim(query: {
    logId: string;
    beforeMs: number;
    keepEntries: number;
    keepBytes?: number | undefined;
    keepKnown: number;
  }): Promise<void>;
  /** How the loop that holds the source sees it now. Overwritten, outside the version. */
  writeStatus(logId: string, status: SourceStatus): Promise<void>;
  readStatus(logId: string): Promise<SourceStatus | undefined>;
}

export interface LogState {
  /** 0 before the first commit. */
  readonly version: number;
  /** Absent while no record was ever written and the head never lifted. */
  readonly head?: Position | undefined;
  /** Records at or before this position were trimmed. Absent while nothing was. */
  readonly trimmedTo?: Position | undefined;
  /** The highest order key ever seen that was not of the server's future. */
  readonly watermark?: { readonly upstreamId: string; readonly orderKey: string } | undefined;
  /** An id at or below this order key is never appended: where this source's history begins, raised when the known-index is trimmed. */
  readonly floorKey?: string | undefined;
  /** Open and final gaps, oldest first. */
  readonly gaps: readonly Gap[];
  readonly counts: LogCounts;
  /** How far below the watermark (in id time) late posts first showed. Absent while none was late. */
  readonly lateness?: LatenessHistogram | undefined;
  /** Small things that the poller remembers over restarts, such as a walk under way. JSON. */
  readonly memory?: Readonly<Record<string, string>> | undefined;
}

export interface LogCounts {
  readonly posts: number;
  readonly requests: number;
  readonly duplicatesDropped: number;
  readonly leaksPrevented: number;
  readonly backfilled: number;
  readonly gaps: number;
}

export interface Gap {
  /** Without the `gap:` prefix; unique over all logs. */
  readonly id: string;
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  readonly reason: 'RATE_LIMITED' | 'FEED_TRUNCATED' | 'LOG_TRIMMED' | 'PARTIAL' | 'PAGE_CAP' | 'UPSTREAM_ERROR';
  /** True when nothing will fill it any more. */
  readonly final: boolean;
  /** When it became final, Unix ms; absent on open gaps. */
  readonly finalAtMs?: number | undefined;
  /** Where filling goes on: `next` of the last page read, and the anchor that closes it. Absent on final gaps. */
  readonly fill?: GapFill | undefined;
}

export interface GapFill {
  readonly next: string;
  readonly anchorKey: string;
  /** The lowest order key read so far above the gap: polls read down to it, what lies below is the filling's. */
  readonly lowestKey?: string | undefined;
  /** How often in a row `next` was refused or brought nothing. */
  readonly tries?: number | undefined;
}

export interface LogCommit {
  readonly logId: string;
  readonly expectedVersion: number;
  readonly nowMs: number;
  /** In the order in which they get their positions: entries lowest id first. */
  readonly append: readonly NewRecord[];
  /** Known entries that get another order key, without a record; what is not known, or removed, is passed over. */
  readonly places?: readonly { readonly postId: PostId; readonly orderKey: string }[] | undefined;
  /** Bodies of new, edited and re-counted posts (nested posts are taken out of them): shown by this log from now on. */
  readonly posts: readonly PostWrite[];
  /** Replaces it; what a commit leaves out stays as it is. */
  readonly watermark?: LogState['watermark'];
  /** Only ever raises it. */
  readonly floorKey?: string | undefined;
  /** Replaces the list. */
  readonly gaps?: readonly Gap[] | undefined;
  /** Added to the counts. */
  readonly counts?: Partial<LogCounts> | undefined;
  /** Replaces it. */
  readonly lateness?: LatenessHistogram | undefined;
  /** Replaces it; kept apart from the state, so that polls need not read it. */
  readonly repair?: RepairState | undefined;
  /** Replaces all of it. */
  readonly memory?: LogState['memory'];
}

export type CommitResult = { readonly committed: true; readonly state: LogState } | { readonly committed: false };

export interface NewRecord {
  readonly kind: 'entry' | 'edit' | 'remove';
  readonly postId: PostId;
  readonly uri: string;
  /** The upstream's present id. */
  readonly upstreamId: string;
  /** Sorts as ids do, by ASCII: hex digits, at most 300; a longer key comes after its beginning. @see ids/id-scheme.ts */
  readonly orderKey: string;
  /** Digest of what an edit changes; kept in the known-index. */
  readonly revision: string;
  /** The id's time, or first arrival; never after `arrivedAtMs`. Kept from the entry by edits and removals. */
  readonly sortAtMs: number;
  readonly arrivedAtMs: number;
  readonly late: boolean;
}

export interface LogRecord {
  readonly logId: string;
  readonly position: Position;
  readonly kind: 'entry' | 'edit' | 'remove';
  readonly postId: PostId;
  readonly uri: string;
  readonly sortAtMs: number;
  readonly arrivedAtMs: number;
  readonly late: boolean;
  /** Of an entry that a later record removed, the position of that record; `0-0` where that is not known. */
  readonly removedAt?: Position;
}

export interface KnownEntry {
  readonly upstreamId: string;
  readonly orderKey: string;
  readonly revision: string;
  readonly sortAtMs: number;
  readonly arrivedAtMs: number;
  /** When it was removed, Unix ms: a read that was sent later and shows the post brings it back. */
  readonly removedAtMs?: number | undefined;
}

/** A known entry by its place in the order. */
export interface KnownPost {
  readonly postId: PostId;
  readonly upstreamId: string;
  readonly orderKey: string;
}

/** Samples in buckets a quarter of a power of two wide; old ones fade, so that counts are no whole numbers. */
export interface LatenessHistogram {
  /** `counts[i]`: samples from 2^(i/4) ms on, below 2^((i+1)/4) ms. Without zeros at its end. */
  readonly counts: readonly number[];
  /** How many samples there ever were. */
  readonly samples: number;
  /** The highest ever, ms. */
  readonly maxMs: number;
  /** Up to when `counts` have faded, Unix ms. */
  readonly fadedAtMs: number;
}

export interface SourceStatus {
  readonly state: 'STARTING' | 'OK' | 'WAITING' | 'FAILING' | 'STOPPED';
  readonly lastPolledAtMs?: number | undefined;
  readonly nextPollAtMs?: number | undefined;
  readonly overlapMs: number;
  readonly software?: string | undefined;
  readonly rateLimit?: RateLimit | undefined;
  /** Counted since the last commit, which takes them along: to be added to the log's own counts. */
  readonly uncommitted?: Pick<LogCounts, 'requests' | 'duplicatesDropped'> | undefined;
  /** Where the settings bound it: the day (`2026-11-21`, UTC) and how many posts were read on it. */
  readonly readToday?: { readonly day: string; readonly posts: number } | undefined;
  /** About the last attempt. */
  readonly problems: readonly Problem[];
}
