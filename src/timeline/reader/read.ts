import type { Clock } from '../../clock.ts';
import { BadUserInputError, type Problem } from '../../errors.ts';
import { homesOf } from '../../home-copy.ts';
import { comparePositions, ZERO_POSITION } from '../../ids/position.ts';
import type { TimelineToken } from '../../ids/tokens.ts';
import type { Source } from '../../source.ts';
import type { Store } from '../../stores/store.ts';
import type { Gap, LogState, SourceStatus } from '../../stores/timeline-store.ts';
import { type Cursor, joinSource, missedGap, openCursor, resumeSource, tokenSources } from './cursor.ts';
import { readNewer } from './newer.ts';
import { readOlder } from './older.ts';
import type { PagePart } from './page.ts';

/** The most sources that one query asks for, and that one token holds. @see design.md section 4, "since" */
export const MAX_SOURCES = 50;

/**
 * Reads pages of the merged timeline. Throws BadUserInputError where a page would need a token of more than MAX_SOURCES,
 * and StoreUnavailableError; tokens stay valid then.
 */
export interface TimelineReader {
  read(request: TimelineRequest): Promise<TimelineView>;
}

/** What the edge has checked: at most one of `since` and `until`. */
export interface TimelineRequest {
  /** Asked for and readable, 1 to MAX_SOURCES. */
  readonly sources: readonly Source[];
  /** All that the viewer may read; the token's other sources are dropped. An entry may be of one that is not asked for. */
  readonly configured: readonly Source[];
  readonly since?: TimelineToken;
  readonly until?: TimelineToken;
  /** 1 to 200 entries, edits and removals. */
  readonly limit: number;
}

/** One page. @see design.md section 1, "Three kinds of timeline page" */
export interface TimelineView extends PagePart {
  /** All open and final gaps of the asked-for sources, and on a `since` page what its cursor missed of them. */
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
  /** For how long a cursor tells what it missed, as long as final gaps are kept; absent: for ever. */
  readonly keepMs?: number | undefined;
  /** A page ends early when its posts reach so many bytes; 4 MB. */
  readonly maxPageBytes?: number | undefined;
}

const MAX_PAGE_BYTES = 4_000_000;

/** The read side of the timeline: wakes the sources, waits a little, reads each log after its position, merges. */
export function createTimelineReader(deps: TimelineReaderDeps): TimelineReader {
  const { store, refresh, clock, maxWaitMs, keepMs = Number.POSITIVE_INFINITY, maxPageBytes = MAX_PAGE_BYTES } = deps;
  return {
    async read({ sources: asked, configured, since, until, limit }) {
      const sources = byLog([...configured, ...asked]);
      const logIds = [...byLog(asked).keys()];
      const token = since ?? until;
      const opened = token && openCursor(token, sources.values());
      if (since && opened) requireOneToken(opened, logIds);
      const stale = until === undefined ? await refresh(logIds, maxWaitMs) : new Set<string>();
      const logs = await Promise.all([...byLog(asked).values()].map((source) => openLog(source, store)));
      if (opened) await liftHeads(logs, opened, store);
      const cursor = until && opened ? opened : startCursor(logs, opened, { nowMs: clock.now(), keepMs });
      const homes = homesOf([...sources.values()]);
      const query = { store, logs, sources, cursor, homes, limit, maxBytes: maxPageBytes };
      const page = since ? await readNewer(query) : await readOlder({ ...query, at: until?.at });
      const worthAsking = page.hasNewer ? [] : logs.flatMap((log) => worthAskingAtMs(log) ?? []);
      return {
        ...page,
        ...(token ? {} : { since: { sources: tokenSources(cursor) } }),
        gaps: logs.flatMap((log) => gapsOf(log, until ? undefined : cursor)),
        problems: logs.flatMap((log) => problemsOf(log, stale)),
        ...(worthAsking.length === 0 ? {} : { askAgainAtMs: Math.min(...worthAsking) }),
      };
    },
  };
}

/** Two keys of one log are one source. */
function byLog(sources: readonly Source[]): ReadonlyMap<string, Source> {
  return new Map(sources.map((source) => [source.logId, source]));
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

/** What a token dropped in silence would be lost to its client. */
function requireOneToken(opened: Cursor, logIds: readonly string[]): void {
  const { size } = new Set([...opened.keys(), ...logIds]);
  if (size <= MAX_SOURCES) return;
  throw new BadUserInputError(
    'sources',
    `sources and the other sources of this token must be at most ${MAX_SOURCES} together, got ${size}: ` +
      'name those of the token, or ask for others with a token of their own, begun without one',
  );
}

/** A first page's cursor; that of a `since` page, with new sources joined at their heads. */
function startCursor(
  logs: readonly OpenLog[],
  opened: Cursor | undefined,
  clock: { nowMs: number; keepMs: number },
): Cursor {
  const cursor = new Map(opened);
  for (const { source, state } of logs) {
    const at = cursor.get(source.logId) ?? joinSource(source, state, opened === undefined);
    cursor.set(source.logId, resumeSource(at, state, clock));
  }
  return cursor;
}

/** A position above the head is the trace of writes that the store lost: nothing new may be put at or below it. */
async function liftHeads(logs: readonly OpenLog[], cursor: Cursor, { timelines }: Pick<Store, 'timelines'>) {
  await Promise.all(
    logs.map(async ({ source: { logId }, state: { head = ZERO_POSITION } }) => {
      const passed = cursor.get(logId)?.passed ?? ZERO_POSITION;
      if (comparePositions(passed, head) > 0) await timelines.liftHead(logId, passed);
    }),
  );
}

/** The log's own, and what this cursor missed of it. */
function gapsOf({ source, state }: OpenLog, cursor: Cursor | undefined): readonly SourceGap[] {
  const at = cursor?.get(source.logId);
  const missed = at && missedGap(at);
  return [...state.gaps, ...(missed ? [missed] : [])].map((gap) => ({ gap, source }));
}

function problemsOf({ source, status }: OpenLog, stale: ReadonlySet<string>): readonly Problem[] {
  const problems = (status?.problems ?? []).map((problem) => ({ ...problem, sourceKey: source.key }));
  if (!stale.has(source.logId)) return problems;
  const message = `${source.key} could not be read anew for this page: this is what it showed before`;
  return [...problems, { code: 'STALE', message, sourceKey: source.key, retryAtMs: status?.nextPollAtMs }];
}
