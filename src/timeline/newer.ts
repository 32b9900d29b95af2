import { comparePositions, ZERO_POSITION } from '../ids/position.ts';
import type { TokenSource } from '../ids/tokens.ts';
import type { LogRecord, TimelineStore } from '../stores/timeline-store.ts';
import { isSame, loadCopies } from './copies.ts';
import { type Cursor, movePast, tokenSources } from './cursor.ts';
import { byArrival, type Lane, larger, mergeLanes } from './merge.ts';
import { type AskedLog, type GivenEntry, type PagePart, type PageQuery, scanBound } from './page.ts';
import { createTally, type Tally } from './tally.ts';

/**
 * The oldest records after the cursor that make `limit` entries, edits and removals. Records that say nothing are
 * passed; after `scanBound(limit)` of them the page ends early, with `hasNewer`.
 */
export async function readNewer({ store, logs, cursor, homes, limit }: PageQuery): Promise<PagePart> {
  const lanes = logs.flatMap((log) => newerLane(log, cursor, store.timelines));
  const merged = mergeLanes(lanes, byArrival(cursor), limit + 1);
  const tally = createTally(cursor, homes);
  let room = scanBound(limit);
  let left = 0;
  for (let size = limit; room > 0 && tally.size() < limit; size = larger(size)) {
    const batch = await merged.take(Math.min(size, room));
    if (batch.length === 0) break;
    tally.learn(await loadCopies(store, [...cursor.keys()], batch));
    left = batch.length - tally.pass(batch, limit);
    room -= batch.length;
  }
  return present(tally, logs, cursor, left > 0 || (await merged.hasMore()));
}

function newerLane({ source, state }: AskedLog, cursor: Cursor, timelines: TimelineStore): Lane<LogRecord>[] {
  const passed = cursor.get(source.logId)?.passed ?? ZERO_POSITION;
  if (comparePositions(state.head ?? ZERO_POSITION, passed) <= 0) return [];
  return [(last, limit) => timelines.recordsAfter({ logId: source.logId, after: last?.position ?? passed, limit })];
}

function present(tally: Tally, logs: readonly AskedLog[], cursor: Cursor, hasNewer: boolean): PagePart {
  const sources = new Map(logs.map(({ source }) => [source.logId, source]));
  const asked = new Set(sources.keys());
  const states = new Map<string, TokenSource>(cursor);
  const entries: GivenEntry[] = [];
  for (const record of tally.passed()) {
    movePast(states, record);
    const source = sources.get(record.logId);
    const post = tally.post(record.postId);
    const entry = tally.outcome(record.uri)?.entry;
    if (source === undefined || post === undefined || entry === undefined || !isSame(record, entry)) continue;
    const at = { sortAtMs: record.sortAtMs, postId: record.postId };
    entries.push({ record, source, post, token: { sources: tokenSources(states, asked), at } });
  }
  return {
    entries: entries.reverse(),
    edited: tally.outcomes().flatMap(({ edited }) => (edited === undefined ? [] : (tally.post(edited) ?? []))),
    removed: tally.outcomes().flatMap(({ removed }) => removed),
    since: { sources: tokenSources(states, asked) },
    hasNewer,
  };
}
