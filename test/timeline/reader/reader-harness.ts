import { createTokens, type TimelineToken } from '../../../src/ids/tokens.ts';
import type { Post } from '../../../src/post.ts';
import type { Source } from '../../../src/source.ts';
import { openSqliteStore } from '../../../src/stores/sqlite.ts';
import type { Store } from '../../../src/stores/store.ts';
import type { LogCommit, LogRecord, NewRecord } from '../../../src/stores/timeline-store.ts';
import { createTimelineReader, type TimelineRequest, type TimelineView } from '../../../src/timeline/reader/read.ts';

export const START_MS = 1_790_000_000_000;
/** For how long a cursor tells what it missed. */
export const KEEP_MS = 3_600_000;

/** What one record is about; a log's records get their positions from `atMs`. */
export interface Change {
  readonly kind?: NewRecord['kind'];
  /** The story's number: its uri is the same on all hosts. */
  readonly n: number;
  /** Default: `uriOf(n)`, on a host that no source has. */
  readonly uri?: string;
  readonly host?: string;
  readonly text?: string;
  readonly sortAtMs?: number;
}

/** Logs on the real store, written by hand, and a reader over them. */
export interface ReaderHarness {
  readonly store: Store;
  readonly refreshed: { readonly logIds: readonly string[]; readonly maxWaitMs: number }[];
  /** The reader's clock, from START_MS. */
  readonly time: { nowMs: number };
  /** Sources that do not answer in time. */
  readonly stale: Set<string>;
  write(key: string, atMs: number, changes: readonly Change[], more?: Partial<LogCommit>): Promise<void>;
  read(request: Asked): Promise<TimelineView>;
  records(key: string): Promise<readonly LogRecord[]>;
  head(key: string): Promise<string>;
}

export interface Asked extends Partial<Pick<TimelineRequest, 'since' | 'until' | 'limit'>> {
  readonly keys: readonly string[];
  /** Default: `keys`. */
  readonly configured?: readonly string[];
}

/** `maxPageBytes`: as the reader's; a story is about 300. */
export async function createReaderHarness(over: Partial<Store> = {}, maxPageBytes?: number): Promise<ReaderHarness> {
  const store = { ...(await openSqliteStore({ file: ':memory:' })), ...over };
  const refreshed: ReaderHarness['refreshed'] = [];
  const stale = new Set<string>();
  let reads = 0;
  const refresh = async (logIds: readonly string[], maxWaitMs: number) => {
    refreshed.push({ logIds, maxWaitMs });
    return stale;
  };
  const time = { nowMs: START_MS };
  const clock = { now: () => time.nowMs, monotonic: () => 0, sleep: async () => {} };
  const reader = createTimelineReader({ store, refresh, clock, maxWaitMs: 1500, keepMs: KEEP_MS, maxPageBytes });
  return {
    store,
    refreshed,
    time,
    stale,
    async write(key, atMs, changes, more = {}) {
      // What is written later was read later, however far the commit's clock lies behind.
      reads += 1;
      const readAtMs = START_MS + reads;
      const { version } = await store.timelines.readLog(logIdOf(key));
      const commit: LogCommit = {
        logId: logIdOf(key),
        expectedVersion: version,
        nowMs: atMs,
        append: changes.map((change) => newRecord(change, atMs)),
        posts: changes
          .filter((change) => change.kind !== 'remove')
          .map((change) => ({ post: postOf(change), readAtMs })),
        ...more,
      };
      const { committed } = await store.timelines.commit(commit);
      if (!committed) throw new Error(`the commit to ${key} lost`);
    },
    read: ({ keys, configured = keys, limit = 40, ...token }) =>
      reader.read({ sources: keys.map(sourceOf), configured: configured.map(sourceOf), limit, ...token }),
    records: (key) => store.timelines.recordsAfter({ logId: logIdOf(key), limit: 100_000 }),
    head: async (key) => (await store.timelines.readLog(logIdOf(key))).head ?? '0-0',
  };
}

export function logIdOf(key: string): string {
  return `mastodon ${key}.example public`;
}

export function uriOf(n: number): string {
  return `https://origin.example/${n}`;
}

export function postIdOf(n: number, host = 'a.example'): string {
  return `${1000 + n}@${host}`;
}

export function sourceOf(key: string): Source {
  const host = `${key}.example`;
  return {
    key,
    logId: logIdOf(key),
    network: 'mastodon',
    host,
    url: `https://${host}`,
    timeline: 'public',
    audience: 'anyone',
    upstream: { describe: unused, readPage: unused, fetchPosts: unused },
    credentialId: host,
    polling: {
      minIntervalMs: 5000,
      idleIntervalMs: 60_000,
      sweepIntervalMs: 300_000,
      overlapMs: 60_000,
      overlap: 'latest',
      pollWhen: 'always',
      ownInterval: false,
      ownOverlap: false,
    },
  };
}

/** Seals and opens, as a client's token goes through the edge. */
export function throughEdge(purpose: 'since' | 'until' | 'entry', token: TimelineToken): TimelineToken {
  return TOKENS.openTimeline([purpose], TOKENS.sealTimeline(purpose, token));
}

const unused = async () => {
  throw new Error('the read side must not ask an upstream');
};

const TOKENS = createTokens([Buffer.from('a key of these tests')]);

function newRecord(change: Change, atMs: number): NewRecord {
  const { kind = 'entry', n, uri = uriOf(n), host, text = '', sortAtMs = START_MS + n } = change;
  return {
    kind,
    postId: postIdOf(n, host),
    uri,
    upstreamId: String(1000 + n),
    orderKey: String(1000 + n).padStart(20, '0'),
    revision: text,
    sortAtMs,
    arrivedAtMs: atMs,
    late: false,
  };
}

function postOf({ n, uri = uriOf(n), host, text = `story ${n}` }: Change): Post {
  return {
    id: postIdOf(n, host),
    upstreamId: String(1000 + n),
    network: 'mastodon',
    idScheme: 'opaque',
    uri,
    text,
    html: `<p>${text}</p>`,
    createdAtMs: START_MS + n,
    visibility: 'PUBLIC',
    sensitive: false,
    media: [],
    hashtags: [],
    mentions: [],
    emojis: [],
    counts: {},
  };
}
