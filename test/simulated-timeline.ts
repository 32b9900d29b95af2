/** A post as a simulated server holds it. Times are Unix ms in the server's time. */
export interface SimulatedPost {
  readonly id: string;
  /** When its id was made. */
  readonly atMs: number;
  /** When its transaction commits: readers see it from then on. */
  readonly visibleAtMs: number;
  readonly text: string;
  readonly editedAtMs?: number;
  readonly likes?: number;
  /** Takes a row of a page and is then left out: why pages are short. */
  readonly isHidden?: boolean;
  readonly isDeleted?: boolean;
  /** Among opaque ids: above all that were made before it stands; `atMs` where absent. Set anew, it is listed again higher up (snac). */
  readonly listedAtMs?: number;
  /** The id of the post that this one boosts. */
  readonly boostOf?: string;
}

/** How a server answers, oddities included. */
export interface Manners {
  /** Rows of a page. */
  readonly pageSize: number;
  /** The newest page each time (account pages of Hollo, snac and GoToSocial). */
  readonly ignoresSinceId?: boolean;
  /** Nothing above any since_id, for ever (GoToSocial with one of another scheme). */
  readonly answersSinceIdWithNothing?: boolean;
  /** Home and list of Mastodon keep ids as doubles. */
  readonly comparesDoubles?: boolean;
  /** Only so many posts are kept. */
  readonly feedDepth?: number;
  /** Ids without an order: a page lies between the posts named. Of one that is gone, nothing lies below it, all above. */
  readonly isOpaque?: boolean;
  /** The rows of a page come in another order (Twitter 1.1 search). */
  readonly shuffles?: boolean;
  /** Pinned posts come first. */
  readonly pinned?: readonly string[];
  /** What is listed again higher up stays listed at its old place, too; one reply shows it once (snac's public timeline). */
  readonly keepsOldLines?: boolean;
  /** By id, a deleted post is answered as if it were there (snac, where somebody else holds it). */
  readonly showsDeleted?: boolean;
  /** By id, every post is refused with 401, although pages answer (snac and GoToSocial without a token). */
  readonly refusesById?: boolean;
  /** All requests that come within `forMs` of each multiple of `everyMs` wait for its end (snac while it delivers). */
  readonly stalls?: { readonly everyMs: number; readonly forMs: number };
}

export interface SimulatedPage {
  readonly posts: readonly SimulatedPost[];
  /** A max_id. */
  readonly next?: string | undefined;
}

/** What a page lies between, both bounds left out. */
interface Bounds {
  readonly sinceId?: string | undefined;
  readonly maxId?: string | undefined;
}

/** One timeline with its posts, the model behind both forms of the simulated server. */
export interface SimulatedTimeline {
  readonly posts: ReadonlyMap<string, SimulatedPost>;
  put(post: SimulatedPost): void;
  change(id: string, change: Partial<SimulatedPost>): void;
  /** Deletes the newest posts that readers see, as when an account is removed; returns their ids. */
  deleteNewest(count: number, nowMs: number): readonly string[];
  /** The boost takes the place of its original, under the same id in upper case, as snac has it; returns that id. */
  boost(id: string): string;
  byId(id: string): SimulatedPost | 'gone' | 'unauthorized';
  /** How long a request that comes now waits, ms. */
  stallMs(nowMs: number): number;
  page(
    query: { sinceId?: string | undefined; maxId?: string | undefined; limit?: number | undefined },
    nowMs: number,
  ): SimulatedPage;
}

export function createSimulatedTimeline(manners: Manners): SimulatedTimeline {
  const posts = new Map<string, SimulatedPost>();
  /** Boosts by their originals' ids. */
  const boosts = new Map<string, SimulatedPost>();
  /** Newest first, by id; opaque ones in the order in which they were made, or listed again. */
  let order: SimulatedPost[] = [];

  const above = (a: string, b: string) => (manners.comparesDoubles ? Number(a) > Number(b) : compareIds(a, b) > 0);

  /** Exact ids in a timeline that is not cut: found without looking at all of them. */
  function rowsFrom({ sinceId, maxId }: Bounds, limit: number, nowMs: number): SimulatedPost[] {
    const found: SimulatedPost[] = [];
    for (let at = maxId === undefined ? 0 : firstBelow(maxId); at < order.length && found.length < limit; at += 1) {
      const post = order[at];
      if (post === undefined || (sinceId !== undefined && compareIds(post.id, sinceId) <= 0)) break;
      if (post.visibleAtMs <= nowMs && !post.isDeleted) found.push(post);
    }
    return found;
  }

  /** Where the first post with an id below this one stands. */
  function firstBelow(id: string): number {
    let low = 0;
    let high = order.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compareIds(order[middle]?.id ?? '', id) < 0) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  function rows(query: Bounds, limit: number, nowMs: number): SimulatedPost[] {
    const isExact = !manners.isOpaque && !manners.comparesDoubles && manners.feedDepth === undefined;
    if (isExact) return rowsFrom(manners.ignoresSinceId ? { maxId: query.maxId } : query, limit, nowMs);
    const shown = order.filter((post) => post.visibleAtMs <= nowMs && !post.isDeleted).slice(0, manners.feedDepth);
    const sinceId = manners.ignoresSinceId ? undefined : query.sinceId;
    const { maxId } = query;
    if (!manners.isOpaque) {
      return shown.filter(
        ({ id }) => (sinceId === undefined || above(id, sinceId)) && (maxId === undefined || above(maxId, id)),
      );
    }
    const from = maxId === undefined ? -1 : shown.findIndex(({ id }) => id === maxId);
    if (maxId !== undefined && from < 0) return [];
    const to = shown.findIndex(({ id }) => id === sinceId);
    const between = shown.slice(from + 1, to < 0 ? undefined : to);
    return manners.keepsOldLines ? [...new Map(between.map((post) => [post.id, post])).values()] : between;
  }

  function list(post: SimulatedPost): void {
    const older = manners.isOpaque
      ? order.findIndex((other) => listedAt(other) <= listedAt(post))
      : firstBelow(post.id);
    order.splice(older < 0 ? order.length : older, 0, post);
  }

  return {
    posts,
    put(post) {
      posts.set(post.id, post);
      list(post);
    },
    change(id, change) {
      const post = posts.get(id);
      if (post === undefined) throw new Error(`no post ${id}`);
      const changed = { ...post, ...change };
      posts.set(id, changed);
      const isListedAgain = change.listedAtMs !== undefined;
      if (isListedAgain && !manners.keepsOldLines) order = order.filter((other) => other.id !== id);
      // A line keeps its own place.
      order = order.map((line) => (line.id === id ? { ...changed, listedAtMs: listedAt(line) } : line));
      if (isListedAgain) list(changed);
    },
    deleteNewest(count, nowMs) {
      const newest = order.filter((post) => post.visibleAtMs <= nowMs && !post.isDeleted).slice(0, count);
      const ids = new Set(newest.map(({ id }) => id));
      const deleted = (post: SimulatedPost) => (ids.has(post.id) ? { ...post, isDeleted: true } : post);
      for (const post of newest) posts.set(post.id, deleted(post));
      order = order.map(deleted);
      return [...ids];
    },
    boost(id) {
      const post = posts.get(id);
      if (post === undefined) throw new Error(`no post ${id}`);
      const boost = { ...post, id: id.toUpperCase(), boostOf: id };
      boosts.set(id, boost);
      posts.set(boost.id, boost);
      order = order.map((line) => (line.id === id ? { ...boost, listedAtMs: listedAt(line) } : line));
      return boost.id;
    },
    byId(id) {
      if (manners.refusesById) return 'unauthorized';
      const post = posts.get(boosts.get(id)?.id ?? id);
      return post === undefined || (post.isDeleted && !manners.showsDeleted) ? 'gone' : post;
    },
    stallMs(nowMs) {
      if (manners.stalls === undefined) return 0;
      return Math.max(0, manners.stalls.forMs - (nowMs % manners.stalls.everyMs));
    },
    page(query, nowMs) {
      if (manners.answersSinceIdWithNothing && query.sinceId !== undefined) return { posts: [] };
      const limit = Math.min(query.limit ?? manners.pageSize, manners.pageSize);
      const page = rows(query, limit, nowMs).slice(0, limit);
      const pinned = query.maxId === undefined ? (manners.pinned ?? []).flatMap((id) => posts.get(id) ?? []) : [];
      const shown = page.filter((post) => !post.isHidden);
      return {
        posts: manners.shuffles ? shuffle(shown) : [...pinned, ...shown],
        next: page.at(-1)?.id,
      };
    },
  };
}

function listedAt({ listedAtMs, atMs }: SimulatedPost): number {
  return listedAtMs ?? atMs;
}

/** Decimals by length, then text; others as ASCII. */
function compareIds(a: string, b: string): number {
  const areDecimals = a.length !== b.length && /^\d+$/.test(a) && /^\d+$/.test(b);
  return areDecimals ? a.length - b.length : a < b ? -1 : a > b ? 1 : 0;
}

/** Always the same: every third to the front. */
function shuffle<T>(items: readonly T[]): T[] {
  return [0, 1, 2].flatMap((part) => items.filter((_, at) => at % 3 === part));
}
