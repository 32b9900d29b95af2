/** What merging needs of an entry; yours may hold whatever else you query. */
export interface MergeableEntry {
  readonly sortAt: string;
  readonly post: { readonly id: string };
}

/** What merging needs of a `timeline` page. Query all of these fields. */
export interface MergeablePage<Entry extends MergeableEntry, Gap> {
  readonly entries: readonly Entry[];
  readonly edited: readonly Entry['post'][];
  readonly removed: readonly string[];
  readonly since?: string | null | undefined;
  readonly until?: string | null | undefined;
  readonly gaps: readonly Gap[];
}

/** A client's timeline: its entries by `sortAt` and post id, newest first, and the tokens to ask with next. */
export interface MergedTimeline<Entry extends MergeableEntry, Gap> {
  readonly entries: readonly Entry[];
  /** Null only before the first page. */
  readonly since: string | null;
  /** Null when there is nothing older. */
  readonly until: string | null;
  /** Those that `since` tells: a page by `until` knows nothing of what that cursor missed. */
  readonly gaps: readonly Gap[];
}

/**
 * The timeline after one more page of any of the three kinds. Give `undefined` as the state with a page that was asked
 * without a token: it replaces what was there. The same page twice changes nothing.
 */
export function mergeTimeline<Entry extends MergeableEntry, Gap>(
  state: MergedTimeline<Entry, Gap> | undefined,
  page: MergeablePage<Entry, Gap>,
): MergedTimeline<Entry, Gap> {
  const isNewer = page.since != null && page.until == null;
  const old = state === undefined || (page.since != null && page.until != null) ? undefined : state;
  const edited = new Map(page.edited.map((post) => [post.id, post]));
  const entries = new Map(
    old?.entries.map((entry) => [entry.post.id, { ...entry, post: edited.get(entry.post.id) ?? entry.post }]),
  );
  for (const id of page.removed) entries.delete(id);
  for (const entry of page.entries) entries.set(entry.post.id, entry);
  return {
    entries: [...entries.values()].sort(newestFirst),
    since: page.since ?? old?.since ?? null,
    until: (isNewer ? old?.until : page.until) ?? null,
    gaps: page.since == null && old !== undefined ? old.gaps : page.gaps,
  };
}

function newestFirst(a: MergeableEntry, b: MergeableEntry): number {
  if (a.sortAt !== b.sortAt) return a.sortAt < b.sortAt ? 1 : -1;
  return a.post.id < b.post.id ? 1 : -1;
}
