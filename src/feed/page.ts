import { type Problem, RecommenderUnavailableError, StoreUnavailableError } from '../errors.ts';
import type { StoryKey } from '../ids/story-key.ts';
import type { FeedCursor } from '../ids/tokens.ts';
import type { Post, PostId } from '../post.ts';
import { sizeOf } from '../post-size.ts';
import type { Reason } from '../recommenders/recommender.ts';
import type { InstanceCut, InstanceHeader } from '../stores/feed-store.ts';
import { canGoOnAfter, cursorAfter } from './cursor.ts';
import type { ReadableInstance } from './instance.ts';
import { isOutage, type Outage, problemOf, soonest } from './outage.ts';
import { createPassage, type Passage } from './passage.ts';
import { nameHash, storyUri } from './story.ts';
import type { FeedWatch } from './watch.ts';

/**
 * Ids into posts, in one batch. `posts` holds what the viewer may see; what is missing is gone or hidden, but for the
 * `unavailable`, of which nothing is known now. The post of an id may be another copy of its story, which is shown in its place.
 * Throws RecommenderUnavailableError when nothing of these can be had now, StoreUnavailableError when the store is out.
 */
export type Hydrate = (ids: readonly PostId[]) => Promise<Hydrated>;

export interface Hydrated {
  readonly posts: ReadonlyMap<PostId, Post>;
  readonly unavailable?: ReadonlySet<PostId> | undefined;
  readonly problems: readonly Problem[];
}

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
  /** Of the instance. */
  readonly key: StoryKey;
  readonly watch: FeedWatch;
}

interface Found {
  readonly feed: InstanceHeader;
  readonly passage: Passage;
  /** At most one more than the page shows. */
  readonly visible: readonly { place: number; post: Post; reason?: Reason | undefined }[];
  /** The first raw place that was not looked at. Before the instance's end: whether there is more to show is unknown. */
  readonly end: number;
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
 * it shows, so that `next` is there exactly when there is something to go on with. It ends before posts that cannot be had now:
 * the next page begins with these, and passes over them where they still cannot be had and others can. Undefined when the
 * instance is gone. Throws what `hydrate` threw when there is nothing to show.
 */
export async function cutPage(request: PageRequest): Promise<CutPage | undefined> {
  const { start, limit } = request;
  const found = await findVisible(request);
  if (!found) return;
  const { feed, passage, visible, end, problems } = found;

  const canGoOn = (place: number) => canGoOnAfter(start, passage.upTo(place));
  const after = (place: number) => cursorAfter(start, passage.upTo(place));
  const shown = visible.slice(0, countThatFit(visible, limit));
  while (shown.length > 0 && !canGoOn(shown.at(-1)?.place ?? 0)) shown.pop();
  const last = shown.at(-1);
  const more = visible[shown.length]?.place ?? (end < feed.size ? last?.place : undefined);
  const next = last !== undefined && more !== undefined && canGoOn(more) ? after(last.place) : undefined;
  request.watch.check({
    feed,
    start,
    next,
    shown: shown.map(({ place, post }) => ({ place, story: storyUri(post) })),
    isEndTold: next !== undefined || end >= feed.size || !canGoOn(more ?? end - 1),
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
  const { instance, start, limit } = request;
  const visible: Found['visible'][number][] = [];
  const problems: Problem[] = [];
  let feed: InstanceHeader | undefined;
  let passage: Passage | undefined;
  let end = start.offset;
  let outage: Outage | undefined;
  let isPassingOver = false;

  for (let round = 0; round <= MAX_REFILLS && visible.length <= limit && (!feed || end < feed.size); round++) {
    const count = feed && round === MAX_REFILLS ? feed.size - end : (firstCount(limit) - visible.length) * 2 ** round;
    const cut = await instance.cut(end, count, start.successor || passage ? undefined : 0);
    feed = cut ? headerOf(cut) : feed;
    passage ??= cut && createPassage(start, cut.earlierHashes);
    if (!cut || cut.items.length === 0 || !passage) break;

    const hydrated = await hydrateAll(request, cut.items);
    outage ??= hydrated.outage;
    problems.push(...hydrated.problems);
    if (hydrated.outage instanceof StoreUnavailableError) break;
    let isCut = false;
    for (const { hash, postId, reason } of cut.items) {
      if (visible.length > limit) break;
      if (hydrated.unavailable.has(postId)) {
        isCut = visible.length > 0 && !isPassingOver;
        if (visible.length < limit) outage ??= cannotBeHad(hydrated.problems);
        if (isCut) break;
        isPassingOver = true;
      }
      const post = hydrated.posts.get(postId);
      if (passage.pass(hash, post && nameHash(request.key, storyUri(post))) && post)
        visible.push({ place: end, post, reason });
      end += 1;
    }
    if (isCut) break;
  }
  if (!feed || !passage) return;
  if (visible.length > 0) {
    if (outage && problems.length === 0) problems.push(problemOf(outage));
    return { feed, passage, visible, end, problems };
  }
  if (outage && (end >= feed.size || outage instanceof StoreUnavailableError)) throw outage;
  return end < feed.size ? undefined : { feed, passage, visible, end, problems };
}

/** An outage makes all of these unavailable. */
async function hydrateAll(
  { hydrate }: PageRequest,
  items: InstanceCut['items'],
): Promise<Hydrated & { readonly unavailable: ReadonlySet<PostId>; readonly outage?: Outage | undefined }> {
  const ids = items.map(({ postId }) => postId);
  try {
    const hydrated = await hydrate(ids);
    return { ...hydrated, unavailable: hydrated.unavailable ?? new Set() };
  } catch (error) {
    if (!isOutage(error)) throw error;
    return { posts: new Map(), unavailable: new Set(ids), problems: [problemOf(error)], outage: error };
  }
}

/** @see Hydrated.unavailable */
function cannotBeHad(problems: readonly Problem[]): RecommenderUnavailableError {
  const why = problems[0] ? `: ${problems[0].message}` : '';
  const message = `posts that the recommender named cannot be had now${why}`;
  return new RecommenderUnavailableError(message, soonest(problems));
}

function headerOf({ feedId, generatedAtMs, size }: InstanceCut): InstanceHeader {
  return { feedId, generatedAtMs, size };
}
