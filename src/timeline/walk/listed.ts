import type { Post, PostId } from '../../post.ts';
import { sizeOf } from '../../post-size.ts';
import type { KnownEntry, KnownPost } from '../../stores/timeline-store.ts';
import type { UpstreamPage } from '../../upstreams/upstream.ts';
import { pageFloor } from './page-floor.ts';
import { type Places, placePosts } from './place-posts.ts';
import type { SourceContext } from './source-context.ts';
import type { Read, StretchPlan, WalkedLog } from './stretch.ts';

/** A walk under way: what its pages amount to so far. */
export interface Walk {
  readonly context: SourceContext;
  readonly log: WalkedLog;
  readonly plan: StretchPlan;
  readonly reads: Map<PostId, Read>;
  readonly ids: Set<string>;
  readonly known: Map<PostId, KnownEntry>;
  readonly pages: UpstreamPage[];
  sinceId: string | undefined;
  next: string | undefined;
  /** An id below which the next page begins instead. */
  before: string | undefined;
  /** How often `before` took the place of an opaque `next` that named nothing any more. */
  detours: number;
  /** The since_id that was left out to see what it hides. */
  doubted: string | undefined;
  bytes: number;
  emptyPages: number;
  /** True where a page showed nothing but what others had shown. */
  isRepeated: boolean;
  /** True when it came down to what earlier polls had read: whatever is missing below is overlap. */
  isJoined: boolean;
  /** The order key down to which the last page came for sure. */
  depth: string | undefined;
  /** Of the last page, where ids have no order. */
  places: Places | undefined;
  /** The lowest of all pages, where ids have an order. */
  floor: string | undefined;
}

/** Pages in a row without posts which may have more behind them, such as posts that are left out (Twitter 2); then it is the end. */
export const MOST_EMPTY_PAGES = 5;

/** Two ids beside each other are rarely gone at once. */
const MOST_DETOURS = 3;

export function beginWalk(
  context: SourceContext,
  log: WalkedLog,
  plan: StretchPlan,
  sinceId: string | undefined,
): Walk {
  return {
    ...{ context, log, plan, sinceId, reads: new Map(), ids: new Set(), known: new Map(), pages: [] },
    ...{ next: plan.next, before: plan.before, detours: 0, doubted: undefined, bytes: 0, emptyPages: 0 },
    ...{ isRepeated: false, isJoined: false, depth: undefined, places: undefined, floor: undefined },
  };
}

/** Takes a page in: posts that come twice are one. */
export async function addPage(walk: Walk, page: UpstreamPage): Promise<void> {
  const { context, log, reads, ids, known } = walk;
  const { scheme, state } = log;
  walk.pages.push(page);
  walk.before = undefined;
  const before = ids.size;
  for (const id of page.ids) ids.add(id);
  walk.isRepeated = page.ids.length > 0 && ids.size === before;
  walk.emptyPages = page.ids.length === 0 ? walk.emptyPages + 1 : 0;
  for (const post of page.posts) {
    reads.set(post.id, { post, readAtMs: page.sentAtMs });
    walk.bytes += sizeOf(post);
  }
  const postIds = [...new Set(page.posts.map(({ id }) => id))];
  const found = await context.store.timelines.known(context.source.logId, postIds);
  for (const [id, entry] of found) known.set(id, entry);
  walk.next = scheme.isOrdered ? page.next : nextOnce(walk, page);
  if (scheme.isOrdered) {
    walk.depth = pageFloor(page.ids, scheme);
    if (walk.depth !== undefined && walk.depth < (walk.floor ?? '2')) walk.floor = walk.depth;
    walk.isJoined ||= walk.depth !== undefined && walk.depth <= (state.watermark?.orderKey ?? '');
  } else {
    walk.places = await place(walk, postIds);
    walk.depth = walk.places.sureKey;
    walk.isJoined ||= walk.depth !== undefined;
  }
}

/**
 * Where the next page begins: below the last post that is not listed higher up, too. A server that lists a post twice begins
 * below its upper place, and pages would go round in circles.
 */
function nextOnce({ plan, known, pages }: Walk, { ids, posts, next }: UpstreamPage): string | undefined {
  const { topKey } = plan;
  if (next === undefined || next !== ids.at(-1)) return next;
  const above = pages.slice(0, -1);
  const postIds = new Map(posts.map(({ upstreamId, id }) => [upstreamId, id]));
  const isAbove = (id: string) => {
    const entry = known.get(postIds.get(id) ?? '');
    if (above.some((page) => page.ids.includes(id))) return true;
    return topKey !== undefined && isLive(entry) && (entry?.orderKey ?? '') >= topKey;
  };
  return ids.findLast((id) => !isAbove(id)) ?? next;
}

export function isAtBottom({ plan, log, context, depth, known, sinceId }: Walk, page: UpstreamPage): boolean {
  if (plan.bottomKey === undefined) return page.ids.length > 0;
  if (log.scheme.isOrdered && depth === undefined) {
    // No id has the scheme's form: the server has become another one.
    return page.posts.length > 0 && page.posts.every(({ id }) => known.has(id));
  }
  if (depth !== undefined && (depth <= plan.bottomKey || depth <= (plan.enoughKey ?? ''))) return true;
  const { end } = context.notes;
  // The anchor was deleted, and an earlier poll saw that nothing older follows this id: no need to ask again each time.
  const isEnd = end !== undefined && end.sinceId === sinceId && end.id === page.ids.at(-1);
  return isEnd && page.ids.length * 2 <= log.description.pageSize;
}

/**
 * True where an empty page may come of an opaque id that was edited or deleted meanwhile and names nothing any more: then the
 * page is asked for below another id of the one above.
 */
export function takeDetour(walk: Walk): boolean {
  const { log, pages, detours } = walk;
  const last = pages.findLast(({ ids }) => ids.length > 0);
  if (log.scheme.isOrdered || !log.description.before || pages.at(-1)?.ids.length !== 0) return false;
  const id = last?.ids.at(-2 - detours);
  if (id === undefined || detours >= MOST_DETOURS) return false;
  walk.detours += 1;
  walk.next = undefined;
  walk.before = id;
  return true;
}

export function isAtEnd({ next, emptyPages, isRepeated }: Walk): boolean {
  return next === undefined || emptyPages > MOST_EMPTY_PAGES || isRepeated;
}

/** True where what lies above the end is not known: something new was shown, or the walk goes on below what was. */
export function isBelowNew({ reads, known, plan }: Walk): boolean {
  return plan.joinKey !== undefined || [...reads.keys()].some((id) => !known.has(id));
}

/** True where something was shown that the log has. Pinned posts, above what they are older than, do not count. */
export function isMet(walk: Walk): boolean {
  const { log, plan, reads, known, floor = '', isJoined } = walk;
  const { joinKey = '2' } = plan;
  const isThere = (entry: KnownEntry | undefined) => isLive(entry) && (entry?.orderKey ?? '2') <= joinKey;
  if (log.scheme.isOrdered) return [...known.values()].some((entry) => isThere(entry) && entry.orderKey >= floor);
  const last = [...reads.keys()].at(-1);
  return (isJoined && plan.joinKey === undefined) || (last !== undefined && isThere(known.get(last)));
}

/** Of what the log has and the upstream should show there, the newest. */
export async function liveThere({ context, log, plan }: Walk, limit: number): Promise<readonly KnownPost[]> {
  const { scheme, description } = log;
  const { feedMs } = description;
  const above = feedMs === undefined ? '' : scheme.floorKey(context.serverClock.now() - feedMs);
  const { logId } = context.source;
  const between = { logId, above, ...(plan.joinKey !== undefined && { upTo: plan.joinKey }), limit };
  return context.store.timelines.knownBetween(between);
}

/** All that was read, by its place in the log's order. */
export async function placeAll(walk: Walk): Promise<Places> {
  return walk.pages.length === 1 && walk.places !== undefined ? walk.places : place(walk, [...walk.reads.keys()]);
}

function place({ context, log, plan, reads, known }: Walk, postIds: readonly PostId[]): Promise<Places> {
  const listed: Post[] = [];
  const live = new Map<PostId, KnownEntry>();
  for (const id of postIds) {
    const read = reads.get(id);
    const entry = known.get(id);
    if (read === undefined) continue;
    if (entry !== undefined && isLive(entry)) live.set(id, entry);
    // What was removed after it was read has no place.
    if (entry === undefined || isLive(entry) || isBack(entry, read)) listed.push(read.post);
  }
  const { timelines } = context.store;
  const { logId } = context.source;
  return placePosts({
    ...log,
    posts: listed,
    known: live,
    listed: reads,
    topKey: plan.topKey,
    timelines,
    logId,
    nowMs: context.clock.now(),
  });
}

function isLive(entry: KnownEntry | undefined): boolean {
  return entry !== undefined && entry.removedAtMs === undefined;
}

/** True for a removed post that was read after its removal: it is there again. */
export function isBack(entry: KnownEntry | undefined, { readAtMs }: Read): boolean {
  return readAtMs > (entry?.removedAtMs ?? Number.POSITIVE_INFINITY);
}
