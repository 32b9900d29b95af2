import { type Problem, StoreUnavailableError } from '../errors.ts';
import { hasServed } from '../ids/served-set.ts';
import type { FeedCursor } from '../ids/tokens.ts';
import type { Post, PostId } from '../post.ts';
import { sizeOf } from '../post-size.ts';
import type { Reason } from '../recommenders/recommender.ts';
import type { InstanceCut, InstanceHeader } from '../stores/feed-store.ts';
import { canGoOnAfter, cursorAfter } from './cursor.ts';
import type { ReadableInstance } from './instance.ts';
import { isOutage, type Outage, problemOf } from './outage.ts';
import { nameHash, namesOf, servedHashes, storyUri } from './story.ts';
import type { FeedWatch } from './watch.ts';

/**
 * Ids into posts, in one batch. `posts` holds what the viewer may see; what is missing is gone or hidden. The post of an id
 * may be another copy of its story, which is shown in its place.
 * Throws RecommenderUnavailableError when nothing of these can be had now, StoreUnavailableError when the store is out.
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
  readonly watch: FeedWatch;
}

interface Found {
  readonly feed: InstanceHeader;
  /** Of the raw items, from `firstPlace` on. */
  readonly hashes: readonly string[];
  /** At most one more than the page shows, but for what came with it. */
  readonly visible: readonly { place: number; post: Post; reason?: Reason | undefined }[];
  /** The rest of the instance could not be had: whether it holds more to show is unknown. */
  readonly cutShort: boolean;
  readonly problems: readonly Problem[];
}

/** How many raw items the first read of a page takes: one more than it shows. */
export function firstCount(limit: number): number {
  return limit + 1;
}

/** A page ends after the post with which its bodies reach so many bytes. */
const MAX_PAGE_BYTES = 4_000_000;

/** The last refill takes all that is left, so that a page without items is always the end. */
const MAX_REFILLS = 3;

/**
 * One page of an instance from `start` on: hidden items are left out and the page refilled. It looks for one item more than
 * it shows, so that `next` is there exactly when there is something to go on with. Undefined when the instance is gone.
 * Throws what `hydrate` threw when there is nothing to show.
 */
export async function cutPage(request: PageRequest): Promise<CutPage | undefined> {
  const { start, limit } = request;
  const found = await findVisible(request);
  if (!found) return;
  const { feed, hashes, visible, cutShort, problems } = found;

  const upTo = (place: number) => hashes.slice(0, place + 1 - firstPlace(start));
  const after = (place: number) => cursorAfter(start, upTo(place));
  const shown = visible.slice(0, countThatFit(visible, limit));
  while (shown.length > 0 && !canGoOnAfter(start, upTo(shown.at(-1)?.place ?? 0))) shown.pop();
  const last = shown.at(-1);
  const more = visible[shown.length]?.place ?? (cutShort ? last?.place : undefined);
  const next =
    last !== undefined && more !== undefined && canGoOnAfter(start, upTo(more)) ? after(last.place) : undefined;
  request.watch.check({
    feed,
    offset: start.offset,
    shown: shown.map(({ place }) => ({ place, wasServed: wasShown(start, hashes, place) })),
    isEndTold:
      next !== undefined ||
      !canGoOnAfter(start, upTo(last?.place ?? firstPlace(start) - 1)) ||
      isReadToItsEnd(found, start),
  });
  const items = shown.map(({ place, post, reason }): PageItem => {
    let cursor: FeedCursor | undefined;
    return {
      post,
      reason,
      position: start.base + place,
      // Made when it is first asked for: most clients only take `next`.
      get cursor() {
        cursor ??= after(place);
        return cursor;
      },
    };
  });
  return { items, next, feed, problems };
}

/** How many of these make a page: never none, for the sake of their size. */
function countThatFit(visible: Found['visible'], limit: number): number {
  let bytes = 0;
  const end = visible.findIndex(({ post }, index) => {
    if (index === limit || bytes >= MAX_PAGE_BYTES) return true;
    bytes += sizeOf(post);
    return false;
  });
  return end < 0 ? visible.length : end;
}

async function findVisible(request: PageRequest): Promise<Found | undefined> {
  const { instance, start, limit, hydrate } = request;
  const hashes: string[] = [];
  const visible: Found['visible'][number][] = [];
  const problems: Problem[] = [];
  const seen = new Set<PostId>();
  const names = new Set<string>();
  let feed: InstanceHeader | undefined;
  let end = start.offset;
  let outage: Outage | undefined;
  let cutShort = false;

  for (let round = 0; round <= MAX_REFILLS && visible.length <= limit && (!feed || end < feed.size); round++) {
    const count = feed && round === MAX_REFILLS ? feed.size - end : (firstCount(limit) - visible.length) * 2 ** round;
    const cut = await instance.cut(end, count, feed ? undefined : firstPlace(start));
    if (!cut) return feed && visible.length > 0 ? { feed, hashes, visible, cutShort: true, problems } : undefined;
    feed = headerOf(cut);
    for (const name of cut.earlierHashes.flatMap(servedHashes)) names.add(name);
    hashes.push(...cut.earlierHashes, ...cut.items.map((item) => item.hash));
    const raw = cut.items.map((item, index) => ({ ...item, place: end + index }));
    if (raw.length === 0) break;
    end += raw.length;

    const ids = new Set(raw.flatMap(({ postId }) => (postId === undefined || seen.has(postId) ? [] : [postId])));
    const hydrated = ids.size > 0 ? await hydrate([...ids]).catch(onlyOutage) : undefined;
    if (isOutage(hydrated)) {
      outage ??= hydrated;
      problems.push(problemOf(hydrated));
      // What there is already is shown, and the next page asks for these again. Where there is nothing yet others may be had.
      cutShort = visible.length > 0 || hydrated instanceof StoreUnavailableError;
      if (cutShort) break;
      continue;
    }
    problems.push(...(hydrated?.problems ?? []));
    for (const { hash, postId, place, reason } of raw) {
      const post = postId === undefined ? undefined : hydrated?.posts.get(postId);
      const isRepeat = !postId || !post || seen.has(post.id) || wasServed(request, { hash, postId, names }, post);
      for (const name of servedHashes(hash)) names.add(name);
      if (isRepeat) continue;
      seen.add(postId).add(post.id);
      visible.push({ place, post, reason });
    }
  }
  if (outage && visible.length === 0) throw outage;
  return feed && { feed, hashes, visible, cutShort, problems };
}

/** True when the scroll has shown this place's item before: its successors by the cursor's set, the first by the item itself. */
function wasShown(start: FeedCursor, hashes: readonly string[], place: number): boolean {
  const at = place - firstPlace(start);
  const hash = hashes[at] ?? '';
  if (hashes.indexOf(hash) < at) return true;
  return start.successor ? servedHashes(hash).some((name) => hasServed(start.served, name)) : place < start.offset;
}

function isReadToItsEnd({ feed, hashes, cutShort }: Found, start: FeedCursor): boolean {
  return !cutShort && firstPlace(start) + hashes.length >= feed.size;
}

/** The first raw place whose hash is read: of a lineage's first instance all of them, for they are exact. */
function firstPlace(start: FeedCursor): number {
  return start.successor ? start.offset : 0;
}

/**
 * An item that this scroll has shown before, under whatever name of its story. Those of one instance differ by their
 * names; but one that is shown as another copy, or whose uri was not known, may be what an earlier one shows.
 */
function wasServed(
  { start, hashKey }: PageRequest,
  { hash, postId, names }: { hash: string; postId: PostId; names: ReadonlySet<string> },
  post: Post,
): boolean {
  const own = servedHashes(hash);
  const shownAs = () => namesOf(post).map((name) => nameHash(hashKey, name));
  if (start.successor && [...own, ...shownAs()].some((name) => hasServed(start.served, name))) return true;
  const isNamed = own.includes(nameHash(hashKey, storyUri(post)));
  if (isNamed && post.id === postId) return false;
  // By its own names alone no later page would know what this one shows.
  return (!isNamed && post.id !== postId) || shownAs().some((name) => names.has(name));
}

function onlyOutage(error: unknown): Outage {
  if (isOutage(error)) return error;
  throw error;
}

function headerOf({ feedId, generatedAtMs, size }: InstanceCut): InstanceHeader {
  return { feedId, generatedAtMs, size };
}
