import type { Clock } from '../clock.ts';
import type { IdScheme } from '../ids/id-scheme.ts';
import type { Post, PostId } from '../post.ts';
import type { PageRequest, Upstream, UpstreamPage } from '../upstreams/upstream.ts';
import { compareDecimals } from './decimals.ts';
import { createRivals, type Rival } from './rivals.ts';

/** What one moment of the shared schedule showed: all ids above `sinceId`, newest first. */
export interface Observation {
  readonly atMs: number;
  /** A poll, or a page that Sluice's sweeps and gap fills read. */
  readonly kind: 'poll' | 'sweep';
  readonly sinceId?: string | undefined;
  readonly ids: readonly string[];
}

/** A post that some pollers will never see, with the two replies that prove it. */
export interface Leak {
  readonly id: string;
  readonly missedBy: readonly string[];
  /** A newer post, without this one: their since_id passed it then. Absent when that was too long ago to be remembered. */
  readonly passed?: Observation | undefined;
  /** Where it was seen first. */
  readonly shown: Observation;
  /** How far below the newest id known it showed, ms of id time. */
  readonly lateMs: number;
}

/** Watches one source over the shoulder of Sluice's own poller. */
export interface Observer {
  /** To be given to the poller. At each of its polls the rivals poll, too. */
  readonly upstream: Upstream;
  readonly rivals: readonly Rival[];
  /** Every post that a reply showed, by its upstream id, from the first reply's lowest id up. */
  readonly seen: ReadonlyMap<string, PostId>;
  readonly leaks: readonly Leak[];
  readonly polls: number;
  /** Requests that really went to the server. */
  readonly requests: number;
}

/** A read that is longer is not shared: then the rivals sit out this poll. */
const MOST_PAGES = 25;
const REMEMBERED = 300;

/**
 * One read for all: from the lowest since_id of them up, at one moment, so that each poller's own reply is the part of it
 * above its since_id, cut into pages. To the server that is one careful poller. Ids must be decimals.
 */
export function createObserver(deps: {
  upstream: Upstream;
  scheme: IdScheme;
  network: 'mastodon' | 'twitter';
  pageSize: number;
  clock: Pick<Clock, 'now'>;
  onLeak: (leak: Leak) => void;
}): Observer {
  const { upstream, scheme, network, pageSize, clock, onLeak } = deps;
  const seen = new Map<string, PostId>();
  const leaks: Leak[] = [];
  const remembered: Observation[] = [];
  let shared: readonly string[] = [];
  let newest: string | undefined;
  let lowest: string | undefined;
  let polls = 0;
  let requests = 0;

  const readFor = () => async (request: { sinceId?: string | undefined; next?: string | undefined }) => {
    const { sinceId, next } = request;
    const ids = shared.filter(
      (id) =>
        (sinceId === undefined || compareDecimals(id, sinceId) > 0) &&
        (next === undefined || compareDecimals(id, next) < 0),
    );
    const page = ids.slice(0, pageSize);
    return { ids: page, next: page.at(-1) };
  };
  const rivals = createRivals({ network, pageSize, now: clock.now, readFor });

  /** Which rivals' since_ids lie above an id that was never shown before. */
  function observe(observation: Observation, posts: readonly Post[]): void {
    for (const { upstreamId: id, id: postId } of posts) {
      if (seen.has(id) || compareDecimals(id, lowest ?? id) < 0) continue;
      seen.set(id, postId);
      const missedBy = rivals.filter((rival) => isPassed(id, rival.sinceId())).map(({ name }) => name);
      if (newest === undefined || missedBy.length === 0) continue;
      const passed = remembered.find(({ ids }) => ids.some((other) => compareDecimals(other, id) > 0));
      const lateMs = (scheme.timeMs(newest) ?? 0) - (scheme.timeMs(id) ?? 0);
      const leak = { id, missedBy, passed, shown: observation, lateMs };
      leaks.push(leak);
      onLeak(leak);
    }
    for (const id of observation.ids) if (newest === undefined || compareDecimals(id, newest) > 0) newest = id;
    remembered.push(observation);
    if (remembered.length > REMEMBERED) remembered.shift();
  }

  async function ask(request: PageRequest): Promise<UpstreamPage> {
    requests += 1;
    return upstream.readPage(request);
  }

  /** Everything above the lowest since_id; undefined where that is more than is worth it. Throws as the first request does. */
  async function readAll(sinceId: string | undefined, signal: AbortSignal | undefined) {
    const first = await ask({ sinceId, signal });
    const pages = [first];
    for (let last = first; sinceId !== undefined; ) {
      const isEnd = last.next === undefined || last.ids.length < pageSize || isBelow(last.ids, sinceId);
      if (isEnd) break;
      if (pages.length >= MOST_PAGES) return { first, pages: undefined };
      const next = await ask({ sinceId, next: last.next, signal }).catch(() => undefined);
      if (next === undefined) return { first, pages: undefined };
      pages.push(next);
      last = next;
    }
    return { first, pages };
  }

  async function poll(request: PageRequest): Promise<UpstreamPage> {
    const sinceIds = [request.sinceId, ...rivals.map((rival) => rival.sinceId())];
    const isFirst = sinceIds.includes(undefined);
    const sinceId = isFirst ? undefined : sinceIds.filter((id) => id !== undefined).sort(compareDecimals)[0];
    const { first, pages } = await readAll(sinceId, request.signal);
    if (pages === undefined) return first;

    const atMs = clock.now();
    const all = new Map(pages.flatMap(({ posts }) => posts.map((post) => [post.upstreamId, post] as const)));
    const ids = [...new Set(pages.flatMap((page) => page.ids))].sort((a, b) => compareDecimals(b, a));
    lowest ??= ids.at(-1);
    observe({ atMs, kind: 'poll', sinceId, ids }, [...all.values()]);
    shared = ids;
    polls += 1;
    for (const rival of rivals) await rival.poll();

    const ours = ids.filter((id) => request.sinceId === undefined || compareDecimals(id, request.sinceId) > 0);
    const page = ours.slice(0, pageSize);
    return {
      ...first,
      posts: page.flatMap((id) => all.get(id) ?? []),
      ids: page,
      next: page.at(-1) ?? first.next,
      partial: pages.some(({ partial }) => partial),
      problems: pages.flatMap(({ problems }) => problems),
      rateLimit: pages.at(-1)?.rateLimit,
    };
  }

  return {
    rivals,
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
        const isPoll = request.next === undefined && request.before === undefined;
        if (isPoll && (request.sinceId !== undefined || polls === 0)) return poll(request);
        const page = await ask(request);
        observe({ atMs: clock.now(), kind: 'sweep', ids: page.ids }, page.posts);
        return page;
      },
    },
  };
}

function isPassed(id: string, sinceId: string | undefined): boolean {
  return sinceId !== undefined && compareDecimals(id, sinceId) <= 0;
}

function isBelow(ids: readonly string[], sinceId: string): boolean {
  return ids.some((id) => compareDecimals(id, sinceId) <= 0);
}
