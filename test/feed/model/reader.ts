import { randomUUID } from 'node:crypto';
import { BadCursorError, type Problem, RecommenderUnavailableError } from '../../../src/errors.ts';
import { createForYou, type ForYouRequest } from '../../../src/feed/for-you.ts';
import { createTurns } from '../../../src/feed/turns.ts';
import { createTokens } from '../../../src/ids/tokens.ts';
import type { Post } from '../../../src/post.ts';
import type { Recommender } from '../../../src/recommenders/recommender.ts';
import type { Store } from '../../../src/stores/store.ts';
import { candidatesOf, type manualClock, STORY_KEYS, watchStrictly } from '../fixture.ts';

export type ManualClock = ReturnType<typeof manualClock>;

/** What there is to show, and what of it is hidden now. */
export interface Catalogue {
  readonly posts: Post[];
  readonly hidden: Set<string>;
  /** Those that cannot be read now. */
  readonly unreadable: Set<string>;
  /** The recommender names posts that are no candidates: of what they show nothing is known beforehand. */
  isByName: boolean;
}

/** A page as a device sees it. */
export interface ReaderPage {
  readonly items: readonly { readonly post: Post; readonly position?: number; readonly token: string }[];
  readonly next?: string | undefined;
  readonly feedId?: string | undefined;
  readonly state: string;
  readonly problems?: readonly Problem[];
}

/** One gateway. */
export interface Reader {
  /** Without a token: the first page. Throws BadCursorError. */
  page(ask: { userId: string; limit: number; token?: string | undefined }): Promise<ReaderPage>;
  refresh(ask: { userId: string; limit: number }): Promise<ReaderPage>;
  /** Waits for what goes on although nobody waits for it. */
  drain(): Promise<void>;
}

const tokens = createTokens([Buffer.alloc(32, 1)]);

/** Where a token of ours stands. */
export function openToken(userId: string, token: string) {
  return tokens.openFeedCursor(userId, token);
}

/** An order that differs from seed to seed. */
export function rank(seed: string): (text: string) => number {
  return (text) => {
    let hash = 7;
    for (const char of seed + text) hash = (Math.imul(hash, 31) + (char.codePointAt(0) ?? 0)) | 0;
    return Math.imul(hash, 0x9e3779b1) >>> 0;
  };
}

/** Ours. */
export function ourReader(
  store: Pick<Store, 'feeds' | 'leases'>,
  clock: ManualClock,
  recommender: Recommender,
  catalogue: Catalogue,
): Reader {
  const forYou = createForYou({
    feeds: store.feeds,
    turns: createTurns({ leases: store.leases, clock, holder: randomUUID() }),
    recommender,
    local: recommender,
    storyKeys: STORY_KEYS,
    clock,
    watch: watchStrictly(),
    settings: { size: 30, instanceTtlSeconds: 3600, currentTtlSeconds: 600, whenGone: 'continue' },
  });
  const request = (userId: string, limit: number): ForYouRequest => ({
    userId,
    limit,
    candidates: async () => ({ candidates: catalogue.isByName ? [] : candidatesOf(catalogue.posts), problems: [] }),
    hydrate: async (ids) => {
      const unavailable = new Set(ids.filter((id) => catalogue.unreadable.has(id)));
      const visible = catalogue.posts.filter(
        ({ id }) => ids.includes(id) && !catalogue.hidden.has(id) && !unavailable.has(id),
      );
      if (visible.length === 0 && unavailable.size > 0) throw new RecommenderUnavailableError('none can be had now');
      return { posts: new Map(visible.map((post) => [post.id, post])), unavailable, problems: [] };
    },
  });
  const paged = async (userId: string, page: ReturnType<typeof forYou.page>): Promise<ReaderPage> => {
    const { items, next, feed, state, problems } = await page;
    return {
      items: items.map(({ post, position, cursor }) => ({
        post,
        position,
        token: tokens.sealFeedCursor(userId, cursor),
      })),
      next: next && tokens.sealFeedCursor(userId, next),
      feedId: feed?.feedId,
      state,
      problems,
    };
  };
  return {
    async page({ userId, limit, token }) {
      const cursor = token === undefined ? undefined : tokens.openFeedCursor(userId, token);
      return paged(userId, forYou.page({ ...request(userId, limit), cursor }));
    },
    refresh: ({ userId, limit }) => paged(userId, forYou.refresh(request(userId, limit))),
    drain: () => forYou.drain(),
  };
}

const FIRST_DESIGN_TTL_MS = 30 * 60_000;

/** The list of a user as the published first design keeps it: one key a user. */
export interface FirstDesignStore {
  readonly lists: Map<string, { readonly posts: readonly Post[]; readonly expiresAtMs: number }>;
}

/**
 * The published first design: one cached list a user, for 30 minutes; the cursor is an offset in whatever list is there.
 */
export function firstDesignReader(store: FirstDesignStore, clock: ManualClock, catalogue: Catalogue): Reader {
  let generations = 0;
  async function list(userId: string, isForced: boolean): Promise<readonly Post[]> {
    const kept = store.lists.get(userId);
    if (kept && kept.expiresAtMs > clock.now() && !isForced) return kept.posts;
    generations += 1;
    const order = rank(`${generations} ${clock.now()}`);
    const posts = catalogue.posts.toSorted((a, b) => order(a.id) - order(b.id)).slice(0, 30);
    store.lists.set(userId, { posts, expiresAtMs: clock.now() + FIRST_DESIGN_TTL_MS });
    return posts;
  }
  const cut = (posts: readonly Post[], from: number, limit: number): ReaderPage => ({
    items: posts
      .slice(from, from + limit)
      .filter(({ id }) => !catalogue.hidden.has(id))
      .map((post) => ({ post, token: String(posts.indexOf(post) + 1) })),
    next: from + limit < posts.length ? String(from + limit) : undefined,
    state: 'CACHED',
  });
  return {
    async page({ userId, limit, token }) {
      if (token !== undefined && !/^\d+$/.test(token)) throw new BadCursorError();
      return cut(await list(userId, false), Number(token ?? 0), limit);
    },
    refresh: async ({ userId, limit }) => cut(await list(userId, true), 0, limit),
    async drain() {},
  };
}
