import { comparePositions } from '../ids/position.ts';
import type { Post, PostId } from '../post.ts';
import type { LogRecord } from '../stores/timeline-store.ts';
import { isShown } from './copies.ts';
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
  /** Post ids of the edit records that the page passed, and whether it passed a removal. */
  readonly edits: ReadonlySet<PostId>;
  readonly removal: boolean;
}

/**
 * What the records of one uri that a page passed amount to; undefined when there is nothing to say.
 * While the client holds a copy, others are repeats and only that copy's edits count. Which copy it holds is not written
 * down: it is the first of those that can still be shown. So when none can, every copy that may be on the screen is
 * told as removed, be it because the post is gone or because another copy takes its place.
 */
export function outcomeOf({ copies, posts, before, now, edits, removal }: Change): Outcome | undefined {
  const given = copies.filter((copy) => isGiven(now, copy)).sort(byFirstGiven(now));
  const earlier = given.filter((copy) => isGiven(before, copy));
  const held = earlier.find((copy) => isShown(copy, posts));
  if (held !== undefined) return edits.has(held.postId) ? { edited: held.postId, removed: [] } : undefined;

  const entry = given.find((copy) => isShown(copy, posts));
  if (entry !== undefined) return { entry, removed: idsOf(earlier).filter((id) => id !== entry.postId) };

  const stands = copies.some((copy) => isPassed(now, copy) && isShown(copy, posts));
  return removal && !stands && given.length > 0 ? { removed: idsOf(given) } : undefined;
}

/** What decides whether an entry is shown on a page by display order. */
export interface DisplayScope {
  readonly posts: ReadonlyMap<PostId, Post>;
  readonly cursor: Cursor;
  /** Log ids of the asked-for sources. */
  readonly asked: ReadonlySet<string>;
  /** Where the page starts; what stands there or above was on the pages before. */
  readonly at: DisplayKey | undefined;
}

/**
 * True when an entry is the one of its copies that pages by display order show: the highest within the cursor's bounds.
 * A copy of a source that is left out now only counts where an earlier page may have shown it.
 */
export function isHighest(entry: LogRecord, copies: readonly LogRecord[], scope: DisplayScope): boolean {
  const { posts, cursor, asked, at } = scope;
  const order = byDisplay(cursor);
  return (
    isShown(entry, posts) &&
    !copies.some(
      (copy) =>
        order(copy, entry) < 0 &&
        isPassed(cursor, copy) &&
        isShown(copy, posts) &&
        (asked.has(copy.logId) || (at !== undefined && compareDisplay(copy, at) <= 0)),
    )
  );
}

/** History in display order first, then what came by `since` in the order of its arrival. */
function byFirstGiven(cursor: Cursor): (a: LogRecord, b: LogRecord) => number {
  const isHistory = (copy: LogRecord) => {
    const state = cursor.get(copy.logId);
    return state?.history === true && comparePositions(copy.position, state.joined) <= 0;
  };
  const arrival = byArrival(cursor);
  const display = byDisplay(cursor);
  return (a, b) => {
    const [first, second] = [isHistory(a), isHistory(b)];
    if (first !== second) return first ? -1 : 1;
    return first ? display(a, b) : arrival(a, b);
  };
}

function idsOf(copies: readonly LogRecord[]): readonly PostId[] {
  return [...new Set(copies.map((copy) => copy.postId))];
}
