import { type IdScheme, idScheme } from '../ids/id-scheme.ts';
import type { IdSchemeName } from '../post.ts';
import type { LogState } from '../stores/timeline-store.ts';
import { pageFloor } from './page-floor.ts';

/** A log keeps the scheme of its order keys, whatever a restarted server says of itself. */
export function schemeOf({ counts, memory }: LogState, described: IdSchemeName): IdScheme {
  const kept = counts.posts > 0 ? (memory?.scheme as IdSchemeName | undefined) : undefined;
  return idScheme(kept ?? described);
}

/** True for the poll that brings history: the first, and once more if an empty log turns out to have other ids. */
export function isFirstPoll({ version, counts, memory }: LogState, scheme: IdScheme): boolean {
  return version === 0 || (counts.posts === 0 && memory?.scheme !== scheme.name);
}

/**
 * Where a log's history begins: just below what its first poll read, in an empty timeline at `emptyBeginMs`. Goes into the
 * commit; `historyKey` is the highest order key that the poll gave.
 */
export function historyBegin(query: {
  ids: readonly string[];
  scheme: IdScheme;
  historyKey: string | undefined;
  emptyBeginMs: number;
}): { floorKey?: string | undefined; memory: Readonly<Record<string, string>> } {
  const { ids, scheme, historyKey, emptyBeginMs } = query;
  const beginId = pageFloor(ids, scheme);
  if (beginId !== undefined) {
    const below = scheme.justBelow(beginId);
    const memory = { scheme: scheme.name, beginId, ...(historyKey !== undefined && { historyKey }) };
    return { floorKey: below && scheme.orderKey(below), memory };
  }
  const floor = scheme.floor(emptyBeginMs);
  return { floorKey: floor && scheme.orderKey(floor), memory: { scheme: scheme.name, beginMs: String(emptyBeginMs) } };
}
