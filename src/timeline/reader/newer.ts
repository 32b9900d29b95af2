import { comparePositions, ZERO_POSITION } from '../../ids/position.ts';
import type { TimelineToken, TokenSource } from '../../ids/tokens.ts';
import type { LogRecord, TimelineStore } from '../../stores/timeline-store.ts';
import { type Cursor, movePast, tokenSources } from './cursor.ts';
import { loadDuplicates } from './duplicates.ts';
import { byArrival, type Lane, larger, mergeLanes } from './merge.ts';
import { type AskedLog, createScan, type GivenEntry, type PagePart, type PageQuery } from './page.ts';
import { createPageAccumulator, type PageAccumulator } from './page-accumulator.ts';

/**
 * The oldest records after the cursor that make `limit` entries, edits and removals, or `maxBytes` of posts. Records that
 * say nothing are passed; after too many of them the page ends early, with `hasNewer`.
 */
export async function readNewer(query: PageQuery): Promise<PagePart> {
  const { store, logs, cursor, homes, limit, maxBytes } = query;
  const lanes = logs.flatMap((log) => newerLane(log, cursor, store.timelines));
  const merged = mergeLanes(lanes, byArrival(cursor), limit + 1);
  const page = createPageAccumulator({ before: cursor, homes, limit, maxBytes });
  const scan = createScan(query);
  let left = 0;
  for (let size = limit; scan.next(size) > 0 && !page.isFull(); size = larger(size)) {
    const batch = await merged.take(scan.next(size));
    if (batch.length === 0) break;
    const duplicates = await loadDuplicates(store, [...cursor.keys()], batch);
    page.learn(duplicates);
    left = batch.length - page.pass(batch);
    scan.looked(batch, duplicates);
  }
  return present(page, query, left > 0 || (await merged.hasMore()));
}

function newerLane({ source, state }: AskedLog, cursor: Cursor, timelines: TimelineStore): Lane<LogRecord>[] {
  const passed = cursor.get(source.logId)?.passed ?? ZERO_POSITION;
  if (comparePositions(state.head ?? ZERO_POSITION, passed) <= 0) return [];
  return [(last, limit) => timelines.recordsAfter({ logId: source.logId, after: last?.position ?? passed, limit })];
}

function present(page: PageAccumulator, { sources, cursor }: PageQuery, hasNewer: boolean): PagePart {
  const passed = page.passed();
  const outcomes = page.outcomes();
  const after = (index: number) => tokenSources(standAfter(cursor, passed, index));
  const entries: GivenEntry[] = [];
  for (const { entry: record, at } of outcomes.toSorted((a, b) => b.at - a.at)) {
    const source = record && sources.get(record.logId);
    const post = record && page.post(record.postId);
    if (!source || !post) continue;
    const { sortAtMs, postId } = record;
    let token: TimelineToken | undefined;
    entries.push({
      record,
      source,
      post,
      // It costs as much as there are sources, and most clients take `since` alone.
      get token() {
        token ??= { sources: after(at), at: { sortAtMs, postId } };
        return token;
      },
    });
  }
  return {
    entries,
    edited: outcomes.flatMap(({ edited }) => edited.flatMap((id) => page.post(id) ?? [])),
    removed: outcomes.flatMap(({ removed }) => removed),
    since: { sources: after(passed.length - 1) },
    hasNewer,
  };
}

/** Where the cursor stands after the record at `index`: the last of each log tells. */
function standAfter(cursor: Cursor, passed: readonly LogRecord[], index: number): Cursor {
  const states = new Map<string, TokenSource>(cursor);
  const seen = new Set<string>();
  for (let at = index; at >= 0 && seen.size < states.size; at -= 1) {
    const record = passed[at];
    if (record === undefined || seen.has(record.logId)) continue;
    seen.add(record.logId);
    movePast(states, record);
  }
  return states;
}
