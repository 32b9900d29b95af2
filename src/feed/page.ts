import type { Problem } from '../errors.ts';
import { hasServed } from '../ids/served-set.ts';
import type { FeedCursor } from '../ids/tokens.ts';
import type { Post, PostId } from '../post.ts';
import type { Reason } from '../recommenders/recommender.ts';
import type { InstanceCut, InstanceHeader } from '../stores/feed-store.ts';
import { canGoOn, cursorAfter } from './cursor.ts';
import type { ReadableInstance } from './instance.ts';
import { nameHash } from './story.ts';

/**
 * Ids into posts, in one batch. `posts` holds what the viewer may see; what is missing is gone or hidden.
 * Throws when nothing at all can be had.
 */
export type Hydrate = (
  ids: readonly PostId[],
) => Promise<{ posts: ReadonlyMap<PostId, Post>; problems: readonly Problem[] }>;

/** A post as it stands in the scroll. */
export interface PageItem {
  readonly post: Post;
  readonly reason?: Reason | undefined;
  /** Raw place in the scroll, from 0, counted on over successors. */
  readonly position: number;
  /** Goes on after this item. */
  readonly cursor: FeedCursor;
}

/** What one page shows, and where the next starts. */
export interface CutPage {
  readonly items: readonly PageItem[];
  /** Absent when the scroll ends here; else there is another item to show, as far as is known now. */
  readonly next?: FeedCursor | undefined;
  readonly feed: InstanceHeader;
  readonly problems: readonly Problem[];
}

interface PageRequest {
  readonly instance: ReadableInstance;
  readonly start: FeedCursor;
  readonly limit: number;
  readonly hydrate: Hydrate;
  readonly hashKey: Buffer;
}

interface Found {
  readonly feed: InstanceHeader;
  /** Of the raw items, from `firstPlace` on. */
  readonly hashes: readonly string[];
  /** At most one more than the page shows, but for what came with it. */
  readonly visible: readonly { place: number; post: Post; reason?: Reason | undefined }[];
  /** The instance went away while it was read: what it held beyond is unknown. */
  readonly wentAway: boolean;
  readonly problems: readonly Problem[];
}

/** The last refill takes all that is left, so that a page without items is always the end. */
const MAX_REFILLS = 3;

/**
 * One page of an instance from `start` on: hidden items are left out and the page refilled. It looks for one item more than
 * it shows, so that `next` is there exactly when there is something to go on with. Undefined when the instance is gone.
 */
export async function cutPage(request: PageRequest): Promise<CutPage | undefined> {
  const { start, limit } = request;
  const found = await findVisible(request);
  if (!found) return;
  const { feed, hashes, visible, wentAway, problems } = found;

  const after = (place: number) => cursorAfter(start, hashes.slice(0, place + 1 - firstPlace(start)));
  const shown = visible.slice(0, limit);
  while (shown.length > 0 && !canGoOn(after(shown.at(-1)?.place ?? 0))) shown.pop();
  const last = shown.at(-1);
  const more = visible[shown.length]?.place ?? (wentAway ? last?.place : undefined);
  const next = last !== undefined && more !== undefined && canGoOn(after(more)) ? after(last.place) : undefined;
  const items = shown.map(({ place, post, reason }) => ({
    post,
    reason,
    position: start.base + place,
    // Made when it is asked for: most clients only take `next`.
    get cursor() {
      return after(place);
    },
  }));
  return { items, next, feed, problems };
}

async function findVisible(request: PageRequest): Promise<Found | undefined> {
  const { instance, start, limit, hydrate } = request;
  const hashes: string[] = [];
  const visible: Found['visible'][number][] = [];
  const problems: Problem[] = [];
  const seen = new Set<PostId>();
  let feed: InstanceHeader | undefined;
  let end = start.offset;

  for (let round = 0; round <= MAX_REFILLS && visible.length <= limit && (!feed || end < feed.size); round++) {
    const first = feed ? end : firstPlace(start);
    const count = feed && round === MAX_REFILLS ? feed.size - end : (limit + 1 - visible.length) * 2 ** round;
    const cut = await instance.cut(first, end + count - first);
    if (!cut) return feed && visible.length > 0 ? { feed, hashes, visible, wentAway: true, problems } : undefined;
    feed = headerOf(cut);
    hashes.push(...cut.items.map((item) => item.hash));
    const raw = cut.items.slice(end - first).map((item, index) => ({ ...item, place: end + index }));
    if (raw.length === 0) break;
    end += raw.length;

    const ids = new Set(raw.flatMap(({ postId }) => (postId === undefined || seen.has(postId) ? [] : [postId])));
    const hydrated = ids.size > 0 ? await hydrate([...ids]) : undefined;
    problems.push(...(hydrated?.problems ?? []));
    for (const { postId, place, reason } of raw) {
      const post = postId === undefined || seen.has(postId) ? undefined : hydrated?.posts.get(postId);
      if (!postId || !post || wasServed(request, post)) continue;
      seen.add(postId);
      visible.push({ place, post, reason });
    }
  }
  return feed && { feed, hashes, visible, wentAway: false, problems };
}

/** The first raw place to read: a lineage's first instance is read from its beginning, for its exact hashes. */
function firstPlace(start: FeedCursor): number {
  return start.successor ? start.offset : 0;
}

/** A post that an earlier instance of this scroll showed under another name of its story. */
function wasServed({ start, hashKey }: PageRequest, post: Post): boolean {
  return start.successor && hasServed(start.served, nameHash(hashKey, post.uri));
}

function headerOf({ feedId, generatedAtMs, size }: InstanceCut): InstanceHeader {
  return { feedId, generatedAtMs, size };
}
