import type { InstanceHeader } from '../stores/feed-store.ts';

/** Counts what must never happen: both stay 0. One a gateway, since it started. */
export interface FeedWatch {
  readonly pages: number;
  /** Items that their scroll had shown before. */
  readonly repeats: number;
  /** Pages that ended a scroll which could have gone on. */
  readonly deadEnds: number;
  /** Looks at a page that is about to be served. */
  check(page: WatchedPage): void;
}

export interface WatchedPage {
  readonly feed: InstanceHeader;
  /** Where the page starts in the instance. */
  readonly offset: number;
  /** One a shown item: true when the cursor's set, or what the instance showed before, holds its story. */
  readonly shown: readonly { readonly place: number; readonly wasServed: boolean }[];
  /** True when there is a way on, or none is needed: the instance is read to its end, or the scroll has served all that it may. */
  readonly isEndTold: boolean;
}

/** `log` gets a line for each finding: which feed, where, and why. */
export function createFeedWatch(log: (line: string) => void): FeedWatch {
  const counts = { pages: 0, repeats: 0, deadEnds: 0 };
  return {
    get pages() {
      return counts.pages;
    },
    get repeats() {
      return counts.repeats;
    },
    get deadEnds() {
      return counts.deadEnds;
    },
    check({ feed, offset, shown, isEndTold }) {
      counts.pages += 1;
      for (const { place, wasServed } of shown) {
        if (!wasServed) continue;
        counts.repeats += 1;
        log(
          `for you: REPEAT in feed ${feed.feedId}, page from offset ${offset}: the item at ${place} was served before`,
        );
      }
      if (isEndTold) return;
      counts.deadEnds += 1;
      const left = `${feed.size} items, ${shown.length} shown`;
      log(
        `for you: DEAD END in feed ${feed.feedId}, page from offset ${offset}: no next page, and the end was not reached (${left})`,
      );
    },
  };
}
