import type { Homes } from '../home-copy.ts';
import { comparePositions } from '../ids/position.ts';
import type { Post, PostId } from '../post.ts';
import type { LogRecord } from '../stores/timeline-store.ts';
import { isSame, isShown } from './copies.ts';
import { type Cursor, isGiven, isPassed } from './cursor.ts';
import { byArrival, byDisplay, compareDisplay, type DisplayKey } from './merge.ts';

/** What a `since` page says about one uri. */
export interface Outcome {
  /** Given for the first time. */
  readonly entry?: LogRecord | undefined;
  readonly edited?: PostId | undefined;
  readonly removed: readonly PostId[];
}

/** One uri on a `since` page. */
export interface Change {
  readonly copies: readonly LogRecord[];
  readonly posts: ReadonlyMap<PostId, Post>;
  /** Where the cursor stood before the page, and where it stands now. */
  readonly before: Cursor;
  readonly now: Cursor;
  /** Post ids of the edit records that the page passed, and of each log the last removal that it passed. */
  readonly edits: ReadonlySet<PostId>;
  readonly removals: ReadonlyMap<string, LogRecord>;
  readonly homes: Homes;
}

/**
 * What the records of one uri that a page passed amount to; undefined when there is nothing to say.
 * While the client holds a copy, others are repeats and only that copy's edits count. Which copy it holds is not written
 * down: it is the first of those that can still be shown. So when none can, every copy that may be on the screen is
 * told as removed, be it because the post is gone or because another copy takes its place, such as the one of its home.
 */
export function outcomeOf(change: Change): Outcome | undefined {
  const { copies, posts, before, now, edits, removals, homes } = change;
  const given = copies.filter((copy) => isGiven(now, copy)).sort(byFirstGiven(now));
  const counts = whatCounts(given, now, homes);
  const canBeShown = (copy: LogRecord) => counts(copy) && isShown(copy, posts);
  const earlier = given.filter((copy) => isGiven(before, copy));
  const held = earlier.find(canBeShown);
  if (held !== undefined) return edits.has(held.postId) ? { edited: held.postId, removed: [] } : undefined;

  const entry = given.find(canBeShown);
  if (entry !== undefined) return { entry, removed: idsOf(earlier).filter((id) => id !== entry.postId) };

  const stands = copies.some((copy) => isPassed(now, copy) && canBeShown(copy));
  const isRemoved = [...removals.values()].some(counts) && !stands;
  return isRemoved && given.length > 0 ? { removed: idsOf(given) } : undefined;
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
 * True when an entry is the one of its copies that pages by display order show: the highest within the cursor's bounds.
 * A copy of a source that is left out now only counts where an earlier page may have shown it; a home copy of one that is
 * asked for always does, also beyond the bounds, for what lies there comes by `since`. So every page decides alike, wherever it starts.
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
        isShown(copy, posts) &&
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

function idsOf(copies: readonly LogRecord[]): readonly PostId[] {
  return [...new Set(copies.map((copy) => copy.postId))];
}
