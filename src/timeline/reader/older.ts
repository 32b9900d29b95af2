import { ZERO_POSITION } from '../../ids/position.ts';
import type { TokenSource } from '../../ids/tokens.ts';
import type { LogRecord, TimelineStore } from '../../stores/timeline-store.ts';
import { type Cursor, tokenSources } from './cursor.ts';
import { loadDuplicates } from './duplicates.ts';
import { isHighest } from './held-copy.ts';
import { byDisplay, type DisplayKey, type Lane, larger, mergeLanes } from './merge.ts';
import { type AskedLog, createScan, type GivenEntry, type PagePart, type PageQuery } from './page.ts';

/**
 * The newest `limit` entries by display order that lie within the cursor's bounds, below `at` (from the top when it is
 * absent), each uri once; fewer where their posts reach `maxBytes`. `until` is absent when there is nothing older. After
 * too many records that show nothing the page ends early, with `until`.
 */
export async function readOlder(query: PageQuery & { at: DisplayKey | undefined }): Promise<PagePart> {
  const { store, logs, sources, cursor, homes, limit, maxBytes, at } = query;
  const lanes = logs.flatMap((log) => olderLane(log, cursor, at, store.timelines));
  const merged = mergeLanes(lanes, byDisplay(cursor), limit + 1);
  const asked = new Set(logs.map(({ source }) => source.logId));
  const bounds = tokenSources(cursor);
  const entries: GivenEntry[] = [];
  const scan = createScan(query);
  let bytes = 0;
  let next: DisplayKey | undefined;
  for (let size = limit + 1; scan.next(size) > 0; size = larger(size)) {
    const batch = await merged.take(scan.next(size));
    const duplicates = await loadDuplicates(store, [...cursor.keys()], batch);
    const { byUri, posts, sizes } = duplicates;
    for (const record of batch) {
      const source = sources.get(record.logId);
      const post = posts.get(record.postId);
      if (source === undefined || post === undefined) continue;
      if (!isHighest(record, byUri.get(record.uri) ?? [], { posts, cursor, asked, at, homes })) continue;
      if (entries.length === limit || bytes >= maxBytes) return present(entries, bounds, entries.at(-1)?.record);
      entries.push({ record, source, post, token: { sources: bounds, at: placeOf(record) } });
      bytes += sizes.get(record.postId) ?? 0;
    }
    scan.looked(batch, duplicates);
    next = batch.at(-1);
    if (next === undefined) break;
  }
  return present(entries, bounds, next);
}

function present(
  entries: readonly GivenEntry[],
  bounds: readonly TokenSource[],
  next: DisplayKey | undefined,
): PagePart {
  return {
    entries,
    edited: [],
    removed: [],
    ...(next === undefined ? {} : { until: { sources: bounds, at: placeOf(next) } }),
    hasNewer: false,
  };
}

function olderLane(
  { source: { logId } }: AskedLog,
  cursor: Cursor,
  at: DisplayKey | undefined,
  timelines: TimelineStore,
): Lane<LogRecord>[] {
  const upTo = cursor.get(logId)?.passed ?? ZERO_POSITION;
  if (upTo === ZERO_POSITION) return [];
  return [
    (last, limit) => {
      const before = last === undefined ? at : placeOf(last);
      return timelines.entriesBefore({ logId, upTo, limit, ...(before === undefined ? {} : { before }) });
    },
  ];
}

function placeOf({ sortAtMs, postId }: DisplayKey): DisplayKey {
  return { sortAtMs, postId };
}
