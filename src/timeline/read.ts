import type { Clock } from '../clock.ts';
import type { Problem } from '../errors.ts';
import { homesOf } from '../home-copy.ts';
import { comparePositions, parsePosition, ZERO_POSITION } from '../ids/position.ts';
import type { TimelineToken, TokenSource } from '../ids/tokens.ts';
import type { Source } from '../source.ts';
import type { Store } from '../stores/store.ts';
import type { Gap, LogState, SourceStatus } from '../stores/timeline-store.ts';
import { type Cursor, joinSource, openCursor, tokenSources } from './cursor.ts';
import { readNewer } from './newer.ts';
import { readOlder } from './older.ts';
import type { PagePart, PageQuery } from './page.ts';

/** Reads pages of the merged timeline. Throws StoreUnavailableError; tokens stay valid then. */
export interface TimelineReader {
  read(request: TimelineRequest): Promise<TimelineView>;
}

/** What the edge has checked: at most one of `since` and `until`. */
export interface TimelineRequest {
  /** Asked for and readable, 1 to 50. */
  readonly sources: readonly Source[];
  /** All that the viewer may read; the token's other sources are dropped. */
  readonly configured: readonly Source[];
  readonly since?: TimelineToken;
  readonly until?: TimelineToken;
  /** 1 to 200 entries, edits and removals. */
  readonly limit: number;
}

/** One page. @see design.md section 1, "Three kinds of timeline page" */
export interface TimelineView extends PagePart {
  /** All open and final gaps of the asked-for sources. */
  readonly gaps: readonly SourceGap[];
  /** About the last attempt of each asked-for source; STALE for those that did not answer in time. */
  readonly problems: readonly Problem[];
  /** Unix ms of the earliest poll ahead. */
  readonly askAgainAtMs?: number;
}

export interface SourceGap {
  readonly gap: Gap;
  readonly source: Source;
}

export interface TimelineReaderDeps {
  readonly store: Pick<Store, 'timelines' | 'posts'>;
  /** @see Pollers.refresh in pollers.ts */
  readonly refresh: (logIds: readonly string[], maxWaitMs: number) => Promise<ReadonlySet<string>>;
  readonly clock: Clock;
  /** How long a page may wait for its sources' polls. */
  readonly maxWaitMs: number;
  /** A page ends early when its posts reach so many bytes; 4 MB. */
  readonly maxPageBytes?: number | undefined;
}

const MAX_PAGE_BYTES = 4_000_000;

/** The read side of the timeline: wakes the sources, waits a little, reads each log after its position, merges. */
export function createTimelineReader(deps: TimelineReaderDeps): TimelineReader {
  const { store, refresh, maxWaitMs, maxPageBytes = MAX_PAGE_BYTES } = deps;
  return {
    async read(request) {
      const asked = [...new Map(request.sources.map((source) => [source.logId, source])).values()];
      const logIds = asked.map((source) => source.logId);
      const stale = request.until === undefined ? await refresh(logIds, maxWaitMs) : new Set<string>();
      const logs = await Promise.all(asked.map((source) => openLog(source, store)));
      const { page, trimmed } = await readPage(request, logs, { store, maxBytes: maxPageBytes });
      const worthAsking = page.hasNewer ? [] : logs.flatMap((log) => worthAskingAtMs(log) ?? []);
      return {
        ...page,
        gaps: [...logs.flatMap(({ source, state }) => state.gaps.map((gap) => ({ gap, source }))), ...trimmed],
        problems: logs.flatMap((log) => problemsOf(log, stale)),
        ...(worthAsking.length === 0 ? {} : { askAgainAtMs: Math.min(...worthAsking) }),
      };
    },
  };
}

interface OpenLog {
  readonly source: Source;
  readonly state: LogState;
  readonly status: SourceStatus | undefined;
}

/** A query wakes a source that is well as soon as its least interval is over; one that fails or waits has its own time. */
function worthAskingAtMs({ source, status }: OpenLog): number | undefined {
  if (status?.state !== 'OK') return status?.nextPollAtMs;
  return status.lastPolledAtMs === undefined ? undefined : status.lastPolledAtMs + source.polling.minIntervalMs;
}

async function openLog(source: Source, { timelines }: Pick<Store, 'timelines'>): Promise<OpenLog> {
  const [state, status] = await Promise.all([timelines.readLog(source.logId), timelines.readStatus(source.logId)]);
  return { source, state, status };
}

async function readPage(
  { sources, configured, since, until, limit }: TimelineRequest,
  logs: readonly OpenLog[],
  { store, maxBytes }: Pick<PageQuery, 'store' | 'maxBytes'>,
): Promise<{ page: PagePart; trimmed: readonly SourceGap[] }> {
  const token = since ?? until;
  const homes = homesOf([...configured, ...sources]);
  const query = { store, logs, homes, limit, maxBytes };
  if (token === undefined) {
    const cursor = new Map(
      logs.map(({ source: { logId }, state }) => [logId, joinSource(logId, headOf(state), true)] as const),
    );
    const page = await readOlder({ ...query, cursor, at: undefined });
    return { page: { ...page, since: { sources: tokenSources(cursor, new Set(cursor.keys())) } }, trimmed: [] };
  }
  const cursor = openCursor(token, [...configured, ...sources]);
  await liftHeads(logs, cursor, store);
  if (since === undefined) return { page: await readOlder({ ...query, cursor, at: token.at }), trimmed: [] };
  const { moved, trimmed } = moveToTails(logs, cursor);
  return { page: await readNewer({ ...query, cursor: moved }), trimmed };
}

/** A position above the head is the trace of writes that the store lost: nothing new may be put at or below it. */
async function liftHeads(logs: readonly OpenLog[], cursor: Cursor, { timelines }: Pick<Store, 'timelines'>) {
  await Promise.all(
    logs.map(async ({ source: { logId }, state }) => {
      const passed = cursor.get(logId)?.passed ?? ZERO_POSITION;
      if (comparePositions(passed, headOf(state)) > 0) await timelines.liftHead(logId, passed);
    }),
  );
}

/** The cursor with new sources joined at their heads, and those whose next records were trimmed moved to the tail. */
function moveToTails(logs: readonly OpenLog[], cursor: Cursor): { moved: Cursor; trimmed: readonly SourceGap[] } {
  const moved = new Map<string, TokenSource>(cursor);
  const trimmed: SourceGap[] = [];
  for (const { source, state } of logs) {
    const at = cursor.get(source.logId) ?? joinSource(source.logId, headOf(state), false);
    const tail = state.trimmedTo ?? ZERO_POSITION;
    const isBelow = comparePositions(at.passed, tail) < 0;
    moved.set(source.logId, isBelow ? { ...at, passed: tail } : at);
    if (isBelow) trimmed.push({ gap: trimmedGap(at, tail), source });
  }
  return { moved, trimmed };
}

function trimmedGap({ tag, passed }: TokenSource, tail: string): Gap {
  return {
    id: `trimmed-${tag}-${passed}`,
    fromMs: passed === ZERO_POSITION ? undefined : parsePosition(passed).ms,
    toMs: parsePosition(tail).ms,
    reason: 'LOG_TRIMMED',
    final: true,
  };
}

function problemsOf({ source, status }: OpenLog, stale: ReadonlySet<string>): readonly Problem[] {
  const problems = (status?.problems ?? []).map((problem) => ({ ...problem, sourceKey: source.key }));
  if (!stale.has(source.logId)) return problems;
  const message = `${source.key} could not be read anew for this page: this is what it showed before`;
  return [...problems, { code: 'STALE', message, sourceKey: source.key, retryAtMs: status?.nextPollAtMs }];
}

function headOf(state: LogState): string {
  return state.head ?? ZERO_POSITION;
}
