import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type SipKey, sipHash, sipKey } from '../ids/sip-hash.ts';
import type { FeedCursor } from '../ids/tokens.ts';
import type { InstanceHeader } from '../stores/feed-store.ts';

/** Counts what must never happen: both stay 0. One a gateway, since it started. */
export interface FeedWatch {
  readonly pages: number;
  /** Items whose story stands twice on a page, or on one before it in the scroll, as far as this gateway remembers. */
  readonly repeats: number;
  /** Pages that ended a scroll which could have gone on. */
  readonly deadEnds: number;
  /** Looks at a page that is about to be served. */
  check(page: WatchedPage): void;
}

export interface WatchedPage {
  readonly feed: InstanceHeader;
  readonly start: FeedCursor;
  readonly next?: FeedCursor | undefined;
  /** What is shown: the story's uri, whatever the hashes and the cursor's set say of it. */
  readonly shown: readonly { readonly place: number; readonly story: string }[];
  /** True when there is a way on, or none is needed: the instance is read to its end, or the scroll has served all that it may. */
  readonly isEndTold: boolean;
}

/** Stories that are remembered, 8 bytes each: those before some hundred cursors deep in a scroll, or many thousand near its start. */
const MAX_STORIES = 1_000_000;

/** `log` gets a line for each finding: which feed, where, and why. */
export function createFeedWatch(log: (line: string) => void): FeedWatch {
  const counts = { pages: 0, repeats: 0, deadEnds: 0 };
  /** By a cursor that a page ended with, the stories shown before it: by a hash that has nothing to do with the cursor's set. */
  const shownBefore = new LRUCache<string, Float64Array>({
    maxSize: MAX_STORIES,
    sizeCalculation: ({ length }) => length + 1,
  });
  const key = sipKey(randomBytes(16));

  function findRepeats({ feed, start, next, shown }: WatchedPage): void {
    const before = shownBefore.get(placeOf(start)) ?? NONE;
    const stories = new Float64Array(before.length + shown.length);
    stories.set(before);
    for (const [index, { place, story }] of shown.entries()) {
      const hash = hash53(key, story);
      const at = before.length + index;
      const isRepeat = stories.subarray(0, at).includes(hash);
      stories[at] = hash;
      if (!isRepeat) continue;
      counts.repeats += 1;
      const page = `page from offset ${start.offset}`;
      log(`for you: REPEAT in feed ${feed.feedId}, ${page}: the item at ${place} was served before`);
    }
    if (next) shownBefore.set(placeOf(next), stories);
  }

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
    check(page) {
      counts.pages += 1;
      findRepeats(page);
      if (page.isEndTold) return;
      counts.deadEnds += 1;
      const { feed, start, shown } = page;
      const left = `${feed.size} items, ${shown.length} shown`;
      log(
        `for you: DEAD END in feed ${feed.feedId}, page from offset ${start.offset}: no next page, and the end was not reached (${left})`,
      );
    },
  };
}

const NONE = new Float64Array();

/** Names a place in a scroll, of an instance as of its successor: cursors with one served set have shown the same. */
function placeOf({ base, offset, served }: FeedCursor): string {
  let fold = 0;
  for (const value of served.first) fold = (Math.imul(fold, 31) + value) | 0;
  for (const value of served.later) fold = (Math.imul(fold, 37) + value) | 0;
  return `${base + offset}:${served.count}:${fold}`;
}

function hash53(key: SipKey, text: string): number {
  const [high, low] = sipHash(key, text);
  return (high >>> 11) * 2 ** 32 + (low >>> 0);
}
