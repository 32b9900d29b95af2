import { arrivalOrderKey, type IdScheme } from '../../ids/id-scheme.ts';
import { placesBetween } from '../../ids/place-key.ts';
import type { Post, PostId } from '../../post.ts';
import type { KnownEntry, LogState, TimelineStore } from '../../stores/timeline-store.ts';

/** Where the posts of a listing stand in the log's order. */
export interface Places {
  /** Order keys of new posts, and of known ones. Absent: what lies below history's beginning. */
  readonly keys: ReadonlyMap<PostId, string>;
  /** Known posts that the server lists elsewhere than it did. */
  readonly moved: readonly { readonly postId: PostId; readonly orderKey: string }[];
  /** Of opaque ids: the lowest key, and that of the last post where it stands where it is known to. */
  readonly lowestKey?: string | undefined;
  readonly sureKey?: string | undefined;
}

/** What is placed. */
export interface Listing {
  /** As the server lists them, newest first. */
  readonly posts: readonly Post[];
  /** Those of them that the log knows and that are not removed. */
  readonly known: ReadonlyMap<PostId, KnownEntry>;
  /** All that the walk has listed, on the pages before, too; absent: `posts`. */
  readonly listed?: { has(postId: PostId): boolean; readonly size: number } | undefined;
  /** The lowest order key above the listing; absent: it begins at the top. */
  readonly topKey?: string | undefined;
  readonly state: LogState;
  readonly scheme: IdScheme;
  readonly timelines: Pick<TimelineStore, 'knownBetween'>;
  readonly logId: string;
  /** Local clock. */
  readonly nowMs: number;
}

/**
 * So many known posts in a row, as the log has them, tell where a listing stands, if what the log has above them is listed, too:
 * some may be listed again higher up.
 */
const LEAST_RUN = 3;
/** So many tell it in any case, or a whole page of them: above, thousands may have been deleted. */
const LONG_RUN = 10;
/** So many of the log's posts may be missing above a run, or between two of it: servers delete. */
const MOST_MISSING = 4;
const LOOKED_AT = 100;

/**
 * Gives each post its order key. Ids with an order have their own. All others are placed by their neighbours in the listing:
 * on top those that stand above everything known, by arrival; else between the known posts below and above.
 */
export async function placePosts(listing: Listing): Promise<Places> {
  const { posts, known, scheme } = listing;
  const sure = scheme.isOrdered ? undefined : await findSure(listing);
  const keyOf = (post: Post): string | undefined => {
    if (sure) return sure.get(post.id);
    return scheme.includes(post.upstreamId) ? scheme.orderKey(post.upstreamId) : known.get(post.id)?.orderKey;
  };
  // Where nothing is sure, nothing that is known is moved.
  const isPlaced = (post: Post) => sure === undefined || sure.size > 0 || !known.has(post.id);
  const fixed = posts.filter(isPlaced).map((post) => ({ post, key: keyOf(post) }));
  const keys = await fillIn(fixed, listing);
  const moved = [...known].flatMap(([postId, { orderKey }]) => {
    const now = keys.get(postId);
    return sure === undefined || now === undefined || now === orderKey ? [] : [{ postId, orderKey: now }];
  });
  if (sure === undefined) return { keys, moved };
  const lowestKey = [...keys.values()].reduce<string | undefined>(
    (low, key) => (low && low < key ? low : key),
    undefined,
  );
  return { keys, moved, lowestKey, sureKey: fixed.at(-1)?.key };
}

/** Those without a key get one between their neighbours. */
async function fillIn(
  fixed: readonly { readonly post: Post; readonly key: string | undefined }[],
  listing: Listing,
): Promise<ReadonlyMap<PostId, string>> {
  const keys = new Map<PostId, string>();
  let at = fixed.length - 1;
  let lower: string | undefined;
  while (at >= 0) {
    const own = fixed[at]?.key;
    if (own !== undefined) {
      keys.set(fixed[at]?.post.id ?? '', own);
      lower = own;
      at -= 1;
      continue;
    }
    const above = fixed.findLastIndex(({ key }, index) => index < at && key !== undefined);
    const group = fixed.slice(above + 1, at + 1);
    const places = await placesOf(group.length, lower, fixed[above]?.key ?? listing.topKey, listing);
    for (const [n, key] of places.entries()) keys.set(group[group.length - 1 - n]?.post.id ?? '', key);
    at = above;
  }
  return keys;
}

/** Lowest first; none for what lies below everything that is known. */
async function placesOf(
  count: number,
  lower: string | undefined,
  upper: string | undefined,
  listing: Listing,
): Promise<readonly string[]> {
  const { scheme, state, nowMs } = listing;
  const { watermark, floorKey } = state;
  if (upper === undefined && !scheme.isOrdered) {
    const arrivalMs = Math.max(nowMs, (watermark ? (scheme.keyTimeMs(watermark.orderKey) ?? 0) : 0) + 1);
    return Array.from({ length: count }, (_, n) => arrivalOrderKey(arrivalMs, n));
  }
  const base =
    lower ?? (upper === undefined ? (watermark?.orderKey ?? floorKey ?? '1') : await knownBelow(upper, listing));
  return base === undefined ? [] : placesBetween(base, upper, count);
}

async function knownBelow(upper: string, { timelines, logId }: Listing): Promise<string | undefined> {
  const found = await timelines.knownBetween({ logId, upTo: upper, limit: LOOKED_AT });
  return found.find(({ orderKey }) => orderKey < upper)?.orderKey;
}

/** The known posts that stand where the log has them, with their keys: runs in its order without much missing between them. */
async function findSure(listing: Listing): Promise<ReadonlyMap<PostId, string>> {
  const { posts, known, topKey, timelines, logId } = listing;
  const below = posts.flatMap(({ id }) => {
    const orderKey = known.get(id)?.orderKey;
    return orderKey === undefined || (topKey !== undefined && orderKey >= topKey) ? [] : [{ id, orderKey }];
  });
  const sure = new Map<PostId, string>();
  let rest = longestDescent(below);
  for (let [first] = rest; first !== undefined; [first] = rest) {
    const there = await timelines.knownBetween({ logId, upTo: first.orderKey, limit: LOOKED_AT });
    let from = 0;
    const end = rest.findIndex(({ id }) => {
      const index = there.findIndex(({ postId }) => postId === id);
      if (index < 0 || index > from + MOST_MISSING) return true;
      from = index;
      return false;
    });
    const run = rest.slice(0, Math.max(1, end < 0 ? rest.length : end));
    const isRun = run.length >= Math.min(LEAST_RUN, there.length);
    const isLong = run.length >= Math.min(LONG_RUN, posts.length);
    if (isRun && (isLong || (await isBelowListed(first, listing)))) {
      for (const { id, orderKey } of run) sure.set(id, orderKey);
    }
    rest = rest.slice(run.length);
  }
  return sure;
}

/** True where the walk has listed what the log has above that post. */
async function isBelowListed(
  { orderKey }: Listed,
  { posts, listed, topKey, timelines, logId }: Listing,
): Promise<boolean> {
  const there = listed ?? new Set(posts.map(({ id }) => id));
  const limit = there.size + MOST_MISSING + 1;
  const above = await timelines.knownBetween({
    logId,
    above: orderKey,
    ...(topKey !== undefined && { upTo: topKey }),
    limit,
  });
  return above.filter((post) => post.orderKey !== topKey && !there.has(post.postId)).length <= MOST_MISSING;
}

interface Listed {
  readonly id: PostId;
  readonly orderKey: string;
}

/** The longest part of the list whose order keys fall all the way. @see patience sorting */
function longestDescent(listed: readonly Listed[]): readonly Listed[] {
  const ends: number[] = [];
  const before = new Map<number, number>();
  for (const [at, { orderKey }] of listed.entries()) {
    let [length, high] = [0, ends.length];
    while (length < high) {
      const middle = (length + high) >> 1;
      if ((listed[ends[middle] ?? 0]?.orderKey ?? '') > orderKey) length = middle + 1;
      else high = middle;
    }
    const previous = ends[length - 1];
    if (previous !== undefined) before.set(at, previous);
    ends[length] = at;
  }
  const chain: Listed[] = [];
  for (let at = ends.at(-1); at !== undefined; at = before.get(at)) {
    const item = listed[at];
    if (item) chain.unshift(item);
  }
  return chain;
}
