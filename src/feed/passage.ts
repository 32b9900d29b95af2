import { hasServed, laterPart } from '../ids/served-set.ts';
import type { FeedCursor } from '../ids/tokens.ts';
import type { Passed } from './cursor.ts';
import { servedHashes, servedHashesIn } from './story.ts';

/** What a page passes on its way through an instance, item by item, and what its scroll has served before. */
export interface Passage {
  /** The next raw item, by its hash; `story`: what its post shows, absent when it shows none. True when that is to be shown. */
  pass(hash: string, story?: number): boolean;
  /** What lies between the page's start and the place after the item at `place`. */
  upTo(place: number): Passed;
}

/** `earlierHashes`: of the items before the start, in a lineage's first instance, 8 bytes each. */
export function createPassage(start: FeedCursor, earlierHashes: Uint8Array): Passage {
  const earlier = servedHashesIn(earlierHashes);
  // Names of one instance are exact: what its first has passed is known without the set, but for what is in the later part.
  const before = start.successor ? start.served : laterPart(start.served);
  const names: number[] = [];
  const shownAs: number[] = [];
  const ends: { names: number; shownAs: number }[] = [];

  /**
   * Items of one instance differ by their names. But one of which the names do not tell what it shows (its uri was not known, or
   * another copy is shown) may be what any other shows.
   */
  const isServed = (own: readonly number[], story: number): boolean => {
    const isAlike = (name: number) => hasServed(before, name) || shownAs.includes(name);
    if (isAlike(story) || own.some(isAlike)) return true;
    return !own.includes(story) && (earlier.includes(story) || names.includes(story));
  };

  return {
    pass(hash, story) {
      const own = servedHashes(hash);
      const isShown = story !== undefined && !isServed(own, story);
      names.push(...own);
      if (isShown && !own.includes(story)) shownAs.push(story);
      ends.push({ names: names.length, shownAs: shownAs.length });
      return isShown;
    },
    upTo(place) {
      const end = ends[place - start.offset] ?? { names: 0, shownAs: 0 };
      return {
        offset: place + 1,
        count: earlier.length + end.names + end.shownAs,
        shownAs: shownAs.slice(0, end.shownAs),
        // Mostly the count is all that is asked for.
        get names() {
          const all = new Uint32Array(earlier.length + end.names);
          all.set(earlier);
          for (let at = 0; at < end.names; at += 1) all[earlier.length + at] = names[at] ?? 0;
          return all;
        },
      };
    },
  };
}
