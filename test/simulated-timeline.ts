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
  page(
    query: { sinceId?: string | undefined; maxId?: string | undefined; limit?: number | undefined },
    nowMs: number,
  ): SimulatedPage;
}

export function createSimulatedTimeline(manners: Manners): SimulatedTimeline {
  const posts = new Map<string, SimulatedPost>();
  /** Newest first, by id; opaque ones in the order in which they were made. */
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
    return shown.slice(from + 1, to < 0 ? undefined : to);
  }

  return {
    posts,
    put(post) {
      posts.set(post.id, post);
      const older = manners.isOpaque ? order.findIndex((other) => other.atMs <= post.atMs) : firstBelow(post.id);
      order.splice(older < 0 ? order.length : older, 0, post);
    },
    change(id, change) {
      const post = posts.get(id);
      if (post === undefined) throw new Error(`no post ${id}`);
      const changed = { ...post, ...change };
      posts.set(id, changed);
      order = order.map((other) => (other.id === id ? changed : other));
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

/** Decimals by length, then text; others as ASCII. */
function compareIds(a: string, b: string): number {
  const areDecimals = a.length !== b.length && /^\d+$/.test(a) && /^\d+$/.test(b);
  return areDecimals ? a.length - b.length : a < b ? -1 : a > b ? 1 : 0;
}

/** Always the same: every third to the front. */
function shuffle<T>(items: readonly T[]): T[] {
  return [0, 1, 2].flatMap((part) => items.filter((_, at) => at % 3 === part));
}
