import type { Clock } from '../clock.ts';
import type { IdScheme } from '../ids/id-scheme.ts';
import type { Post, PostId } from '../post.ts';
import type { PageRequest, Upstream, UpstreamPage } from '../upstreams/upstream.ts';
import { type BaselinePoller, createBaselinePollers } from './baseline-pollers.ts';
import { cut, listOrder } from './list-order.ts';

/** What one moment of the shared schedule showed: all ids above `sinceId`, newest first. */
export interface Observation {
  readonly atMs: number;
  /** A poll, or a page that Sluice's rescans and gap fills read. */
  readonly kind: 'poll' | 'rescan';
  readonly sinceId?: string | undefined;
  readonly ids: readonly string[];
}

/** A reply as evidence. */
export interface Evidence extends Observation {
  /** Where the leaked post stands among `ids`, or would; -1 where all of them are above it, or that cannot be told. */
  readonly at: number;
}

/** A post that some pollers will never see, with the two replies that prove it. */
export interface Leak {
  readonly id: string;
  readonly missedBy: readonly string[];
  /** A newer post, without this one: their since_id passed it then. Absent when that was too long ago to be remembered. */
  readonly passed?: Evidence | undefined;
  /** Where it was seen first. */
  readonly shown: Evidence;
  /** How far below the newest id known it showed, ms of id time; absent where ids have none. */
  readonly lateMs?: number | undefined;
}

/** Watches one source over the shoulder of Sluice's own poller. */
export interface Observer {
  /** To be given to the poller. At each of its polls the baselines poll, too. */
  readonly upstream: Upstream;
  readonly baselines: readonly BaselinePoller[];
  /** Every post that a reply showed, by the upstream id under which it showed first, from the first reply's lowest post up. */
  readonly seen: ReadonlyMap<string, PostId>;
  readonly leaks: readonly Leak[];
  readonly polls: number;
  /** Requests that really went to the server. */
  readonly requests: number;
}

/** A read that is longer is not shared: then the baselines sit out this poll. */
const MOST_PAGES = 25;
const REMEMBERED = 300;

/**
 * One read for all: from the lowest since_id of them up, at one moment, so that each poller's own reply is the part of it
 * above its since_id, cut into pages. Opaque ids are read from the top down to where the last of them ends, and a post is below
 * another where the reply lists it below. To the server that is one careful poller.
 */
export function createObserver(deps: {
  upstream: Upstream;
  scheme: IdScheme;
  pageSize: number;
  clock: Pick<Clock, 'now'>;
  onLeak: (leak: Leak) => void;
}): Observer {
  const { upstream, scheme, pageSize, clock, onLeak } = deps;
  const isOpaque = scheme.name === 'opaque';
  const order = listOrder(scheme);
  const seen = new Map<string, PostId>();
  const seenPosts = new Set<PostId>();
  const leaks: Leak[] = [];
  const remembered: Observation[] = [];
  let shared: readonly string[] = [];
  let newest: string | undefined;
  let lowest: string | undefined;
  let polls = 0;
  let requests = 0;

  const baselines = createBaselinePollers({
    scheme,
    pageSize,
    now: clock.now,
    readFor: () => async (request) => {
      const ids = cut(order, shared, request).slice(0, pageSize);
      return { ids, next: ids.at(-1) };
    },
  });

  /** How many of a reply's ids are not of the time before the first reply. Of opaque ids, those above a post that was seen. */
  function countedOf(ids: readonly string[]): number {
    if (lowest === undefined) return ids.length;
    if (isOpaque) return ids.findLastIndex((id) => seen.has(id)) + 1;
    const at = ids.findIndex(order.isFrom(lowest));
    return at < 0 ? ids.length : ids[at] === lowest ? at + 1 : at;
  }

  /** Finds the ids that were never shown before, and among them those below where a baseline's next poll would end. */
  function observe(observation: Observation, posts: readonly Post[], isBelowEnds = false): void {
    const { ids } = observation;
    const passedFrom = baselines.map(({ name, end }) => ({ name, from: isBelowEnds ? 0 : ids.findIndex(end()) }));
    const byId = new Map(posts.map((post) => [post.upstreamId, post.id]));
    for (const [at, id] of ids.slice(0, countedOf(ids)).entries()) {
      const postId = byId.get(id);
      if (postId === undefined || seenPosts.has(postId)) continue;
      seen.set(id, postId);
      seenPosts.add(postId);
      const missedBy = passedFrom.filter(({ from }) => from >= 0 && at >= from).map(({ name }) => name);
      if (newest === undefined || missedBy.length === 0) continue;
      const leak = leakOf(id, missedBy, observation);
      leaks.push(leak);
      onLeak(leak);
    }
    const [highest] = order.sort([ids[0], newest].filter((id) => id !== undefined));
    newest = highest;
    remembered.push(observation);
    if (remembered.length > REMEMBERED) remembered.shift();
  }

  function leakOf(id: string, missedBy: readonly string[], shown: Observation): Leak {
    const isAbove = order.isAbove(shown.ids, id);
    const passed = remembered.find(({ ids }) => ids.some(isAbove));
    const evidence = (observation: Observation) => ({
      ...observation,
      at: observation.ids.findIndex(order.isFrom(id)),
    });
    const timeMs = scheme.timeMs(id);
    const newestMs = newest === undefined ? undefined : scheme.timeMs(newest);
    return {
      id,
      missedBy,
      passed: passed && evidence(passed),
      shown: evidence(shown),
      lateMs: isOpaque ? undefined : (newestMs ?? 0) - (timeMs ?? 0),
    };
  }

  async function ask(request: PageRequest): Promise<UpstreamPage> {
    requests += 1;
    return upstream.readPage(request);
  }

  /** Everything above `sinceId`, or down to where every baseline ends; undefined where that is more than is worth it. Throws as the first request does. */
  async function readAll(sinceId: string | undefined, isFirst: boolean, signal: AbortSignal | undefined) {
    const first = await ask({ sinceId, signal });
    const pages = [first];
    const ends = sinceId === undefined ? baselines.map(({ end }) => end()) : [order.isFrom(sinceId)];
    const isDeep = () => ends.every((isEnd) => pages.some(({ ids }) => ids.some(isEnd)));
    for (let last = first; !isFirst; ) {
      if (last.next === undefined || last.ids.length < pageSize || isDeep()) break;
      if (pages.length >= MOST_PAGES) return { first, pages: undefined };
      const next = await ask({ sinceId, next: last.next, signal }).catch(() => undefined);
      if (next === undefined) return { first, pages: undefined };
      pages.push(next);
      last = next;
    }
    return { first, pages };
  }

  async function poll(request: PageRequest): Promise<UpstreamPage> {
    const sinceIds = [...(isOpaque ? [] : [request.sinceId]), ...baselines.map((baseline) => baseline.sinceId())];
    const isFirst = sinceIds.includes(undefined);
    const lowestAsked = order.sort(sinceIds.filter((id) => id !== undefined)).at(-1);
    const sinceId = isFirst || isOpaque ? undefined : lowestAsked;
    const { first, pages } = await readAll(sinceId, isFirst, request.signal);
    if (pages === undefined) return first;

    const atMs = clock.now();
    const posts = pages.flatMap((page) => page.posts);
    const ids = order.sort(new Set(pages.flatMap((page) => page.ids)));
    observe({ atMs, kind: 'poll', sinceId, ids }, posts);
    lowest ??= ids.at(-1);
    shared = ids;
    polls += 1;
    for (const baseline of baselines) await baseline.poll();

    const byId = new Map(posts.map((post) => [post.upstreamId, post] as const));
    const page = cut(order, ids, { sinceId: request.sinceId }).slice(0, pageSize);
    return {
      ...first,
      posts: page.flatMap((id) => byId.get(id) ?? []),
      ids: page,
      next: page.at(-1) ?? first.next,
      partial: pages.some(({ partial }) => partial),
      problems: pages.flatMap(({ problems }) => problems),
      rateLimit: pages.at(-1)?.rateLimit,
    };
  }

  return {
    baselines,
    seen,
    leaks,
    get polls() {
      return polls;
    },
    get requests() {
      return requests;
    },
    upstream: {
      describe: upstream.describe,
      fetchPosts: upstream.fetchPosts,
      async readPage(request) {
        const isTop = request.next === undefined && request.before === undefined;
        // Rescans from the top have no since_id; of opaque ids polls may have none, too.
        if (isTop && (request.sinceId !== undefined || polls === 0 || isOpaque)) return poll(request);
        const page = await ask(request);
        const observation = { atMs: clock.now(), kind: 'rescan', ids: order.sort(page.ids) } as const;
        // Walks down opaque ids come from the top, where all baselines polled down to their ends.
        observe(observation, page.posts, isOpaque && request.next !== undefined);
        return page;
      },
    },
  };
}
