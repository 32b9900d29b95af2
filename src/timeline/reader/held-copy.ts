import type { Homes } from '../../home-copy.ts';
import { comparePositions } from '../../ids/position.ts';
import type { Post, PostId } from '../../post.ts';
import type { LogRecord } from '../../stores/timeline-store.ts';
import { type Cursor, hasFallen, isGiven, isPassed } from './cursor.ts';
import { isLost, isSame, isShown } from './duplicates.ts';
import { byArrival, byDisplay, compareDisplay, type DisplayKey } from './merge.ts';

/** What a `since` page says about one uri. */
export interface Outcome {
  /** The copy that the client holds from now on, in the place of those in `removed`. */
  readonly entry?: LogRecord | undefined;
  /** Only where there is no entry. */
  readonly edited: readonly PostId[];
  readonly removed: readonly PostId[];
}

/** One uri on a `since` page. */
export interface Change {
  readonly copies: readonly LogRecord[];
  readonly posts: ReadonlyMap<PostId, Post>;
  /** Where the cursor stood before the page, and where it stands now. */
  readonly before: Cursor;
  readonly now: Cursor;
  /** Post ids of the edit records that the page passed. */
  readonly edits: ReadonlySet<PostId>;
  readonly homes: Homes;
}

/**
 * What the records of one uri that a page passed amount to. Undefined when there is nothing to say. It follows from the
 * cursor alone, which tells the copies that stood and that stand, but not always which of them the client was given: one
 * of a late clock, or of a source that was left out, is passed after another that arrived later. So while the first that
 * stood still stands, nothing is given; edits and removals are told of each copy that the client may have. When it falls,
 * or its home takes over, the first that stands then is given. A copy that was removed further on still stands, and is not
 * shown any more.
 */
export function outcomeOf({ copies, posts, before, now, edits, homes }: Change): Outcome | undefined {
  const isThere = (copy: LogRecord) => !isLost(copy, posts);
  const earlier = standing(copies, before, homes);
  const present = standing(copies, now, homes);
  const old = earlier.find(isThere);
  const first = present.find(isThere);
  const isKept = old !== undefined && present.includes(old);
  const entry = first && !isKept && isShown(first, posts) ? first : undefined;
  const may = new Set(idsOf(mayBeHeld(earlier, old, before)));
  // Its edits were not told while the record by which it stood was removed further on.
  const isRelisted = (copy: LogRecord) =>
    !earlier.includes(copy) && earlier.some((other) => other.postId === copy.postId && !isShown(other, posts));
  const isChanged = (copy: LogRecord) => edits.has(copy.postId) || isRelisted(copy);
  const changed = isKept ? present.filter((copy) => isChanged(copy) && isShown(copy, posts)) : [];
  const edited = idsOf(changed).filter((id) => may.has(id));
  const staying = new Set(idsOf(isKept || !first ? present : present.filter((copy) => copy === entry)));
  const removed = [...may].filter((id) => !staying.has(id));
  return entry || edited.length > 0 || removed.length > 0 ? { entry, edited, removed } : undefined;
}

/**
 * Of the copies that stood, those of which the client may have been given one: of a history the highest, and those above
 * it whose bodies were lost meanwhile; else any.
 */
function mayBeHeld(earlier: readonly LogRecord[], old: LogRecord | undefined, before: Cursor): readonly LogRecord[] {
  return old && isHistory(before, old) ? earlier.slice(0, earlier.indexOf(old) + 1) : earlier;
}

function idsOf(copies: readonly LogRecord[]): readonly PostId[] {
  return [...new Set(copies.map(({ postId }) => postId))];
}

/** The copies that stand for a cursor, in the order in which a client that is given them in order of arrival meets them. */
function standing(copies: readonly LogRecord[], cursor: Cursor, homes: Homes): readonly LogRecord[] {
  const given = copies.filter((copy) => isGiven(cursor, copy));
  const counts = whatCounts(given, cursor, homes);
  return given.filter((copy) => counts(copy) && !hasFallen(cursor, copy)).sort(byFirstGiven(cursor));
}

/** What decides whether an entry is shown on a page by display order. */
export interface DisplayScope {
  readonly posts: ReadonlyMap<PostId, Post>;
  readonly cursor: Cursor;
  /** Log ids of the asked-for sources. */
  readonly asked: ReadonlySet<string>;
  /** Where the page starts; what stands there or above was on the pages before. */
  readonly at: DisplayKey | undefined;
  readonly homes: Homes;
}

/**
 * True when an entry is the one of its copies that pages by display order show: the highest that stands for the cursor.
 * A copy of a source that is left out now only counts where an earlier page may have shown it; a home copy of one that is
 * asked for always does, also beyond the cursor, for what lies there comes by `since`. So every page decides alike, wherever it starts.
 */
export function isHighest(entry: LogRecord, copies: readonly LogRecord[], scope: DisplayScope): boolean {
  const { posts, cursor, asked, at, homes } = scope;
  const [only, ...more] = copies;
  if (only && more.length === 0) return isShown(entry, posts) && isSame(only, entry);
  const order = byDisplay(cursor);
  const within = copies.filter((copy) => asked.has(copy.logId) || isPassed(cursor, copy));
  const counts = whatCounts(within, cursor, homes);
  return (
    counts(entry) &&
    isShown(entry, posts) &&
    copies.some((copy) => isSame(copy, entry)) &&
    !copies.some(
      (copy) =>
        counts(copy) &&
        order(copy, entry) < 0 &&
        isPassed(cursor, copy) &&
        !hasFallen(cursor, copy) &&
        !isLost(copy, posts) &&
        (asked.has(copy.logId) || (at !== undefined && compareDisplay(copy, at) <= 0)),
    )
  );
}

/**
 * Where there is a home copy, shown or removed, home copies alone count: no other hides the post, edits it, removes it or
 * brings it back. But not one of a source that joined later than a history which holds a copy: the `until` of that
 * history knows nothing of the source, and may still bring the other.
 */
function whatCounts(copies: readonly LogRecord[], cursor: Cursor, { isHome }: Homes): (copy: LogRecord) => boolean {
  const atHome = copies.filter(isHome);
  if (atHome.length === 0) return () => true;
  const isLate = copies.some((copy) => isHistory(cursor, copy));
  const isSettled = !isLate || atHome.some(({ logId }) => cursor.get(logId)?.history === true);
  return isSettled ? isHome : () => true;
}

/** True for what was in the log before the cursor's first page. */
function isHistory(cursor: Cursor, copy: LogRecord): boolean {
  const state = cursor.get(copy.logId);
  return state?.history === true && comparePositions(copy.position, state.joined) <= 0;
}

/** History in display order first, then what came by `since` in the order of its arrival. */
function byFirstGiven(cursor: Cursor): (a: LogRecord, b: LogRecord) => number {
  const arrival = byArrival(cursor);
  const display = byDisplay(cursor);
  return (a, b) => {
    const [first, second] = [isHistory(cursor, a), isHistory(cursor, b)];
    if (first !== second) return first ? -1 : 1;
    return first ? display(a, b) : arrival(a, b);
  };
}
