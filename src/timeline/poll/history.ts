import { type IdScheme, idScheme } from '../../ids/id-scheme.ts';
import type { IdSchemeName } from '../../post.ts';
import type { LogState } from '../../stores/timeline-store.ts';

/** A log keeps the scheme of its order keys, whatever a restarted server says of itself. */
export function schemeOf({ counts, memory }: LogState, described: IdSchemeName): IdScheme {
  const kept = counts.posts > 0 ? (memory?.scheme as IdSchemeName | undefined) : undefined;
  return idScheme(kept ?? described);
}

/** True for the poll that brings history: the first, and once more if an empty log turns out to have other ids. */
export function isFirstPoll({ version, counts, memory }: LogState, scheme: IdScheme): boolean {
  return version === 0 || (counts.posts === 0 && memory?.scheme !== scheme.name);
}

/** What goes into the commit of a poll that tells where history begins. */
export interface HistoryBegin {
  /** Absent while nothing was ever shown. */
  readonly floorKey?: string | undefined;
  readonly memory?: Readonly<Record<string, string>> | undefined;
}

/**
 * Where a log's history begins: at the lowest order key of its first poll. After an empty timeline whatever shows is new, so
 * that it begins at the lowest key of the poll that first reads something, and at the latest at `emptyKey`, that of the empty
 * poll's overlap. Undefined where that is known already, or still is not.
 */
export function historyBegin(
  { floorKey, memory, counts }: LogState,
  poll: { isFirst: boolean; lowestKey: string | undefined; scheme: IdScheme; emptyKey: string },
): HistoryBegin | undefined {
  const { isFirst, lowestKey, scheme, emptyKey } = poll;
  if (isFirst && lowestKey === undefined) return { memory: { scheme: scheme.name, emptyKey } };
  if (isFirst) return { floorKey: lowestKey, memory: { scheme: scheme.name } };
  // Opaque logs of an earlier release have posts and no floor: then the lowest of them is known, and nothing else tells.
  if (floorKey !== undefined || lowestKey === undefined || counts.posts > 0) return undefined;
  return { floorKey: [lowestKey, memory?.emptyKey ?? lowestKey].toSorted()[0] };
}

/** The lowest order key that polls read down to; '' where nothing tells. */
export function historyBottom({ floorKey, memory }: LogState): string {
  return floorKey ?? memory?.emptyKey ?? '';
}
