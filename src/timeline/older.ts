import { ZERO_POSITION } from '../ids/position.ts';
import type { LogRecord, TimelineStore } from '../stores/timeline-store.ts';
import { type Copies, loadCopies } from './copies.ts';
import { type Cursor, tokenSources } from './cursor.ts';
import { byDisplay, type DisplayKey, type Lane, larger, mergeLanes } from './merge.ts';
import { type AskedLog, type GivenEntry, type PagePart, type PageQuery, scanBound } from './page.ts';
import { isHighest } from './repeats.ts';

/**
 * The newest `limit` entries by display order that lie within the cursor's bounds, below `at` (from the top when it is
 * absent), each uri once. `until` is absent when there is nothing older. After `scanBound(limit)` records that show
 * nothing the page ends early, with `until`.
 */
export async function readOlder(query: PageQuery & { at: DisplayKey | undefined }): Promise<PagePart> {
  const { store, logs, cursor, homes, limit, at } = query;
  const lanes = logs.flatMap((log) => olderLane(log, cursor, at, store.timelines));
  const merged = mergeLanes(lanes, byDisplay(cursor), limit + 1);
  const sources = new Map(logs.map(({ source }) => [source.logId, source]));
  const asked = new Set(sources.keys());
  const bounds = tokenSources(cursor, asked);
  const entries: GivenEntry[] = [];
  let room = scanBound(limit);
  let last: DisplayKey | undefined;
  for (let size = limit + 1; room > 0 && entries.length <= limit; size = larger(size)) {
    const batch = await merged.take(Math.min(size, room));
    const { byUri, posts }: Copies = await loadCopies(store, [...cursor.keys()], batch);
    for (const record of batch) {
      const source = sources.get(record.logId);
      const post = posts.get(record.postId);
      if (source === undefined || post === undefined) continue;
      if (!isHighest(record, byUri.get(record.uri) ?? [], { posts, cursor, asked, at, homes })) continue;
      entries.push({ record, source, post, token: { sources: bounds, at: placeOf(record) } });
    }
    room -= batch.length;
    last = batch.at(-1);
    if (last === undefined) break;
  }
  const shown = entries.slice(0, limit);
  const next = entries.length > limit ? shown.at(-1)?.record : last;
  return {
    entries: shown,
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
