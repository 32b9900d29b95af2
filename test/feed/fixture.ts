import type { Clock } from '../../src/clock.ts';
import {
  createForYou,
  type ForYou,
  type ForYouDeps,
  type ForYouRequest,
  type Hydrate,
} from '../../src/feed/for-you.ts';
import { createFeedWatch, type FeedWatch } from '../../src/feed/watch.ts';
import { createStoryKeys } from '../../src/ids/story-key.ts';
import type { Post, PostId } from '../../src/post.ts';
import type { Candidate, RecommendedItem, Recommender, RecommendRequest } from '../../src/recommenders/recommender.ts';
import type { FeedStore } from '../../src/stores/feed-store.ts';

export const STORY_KEYS = createStoryKeys([Buffer.alloc(32, 7)]);
export const START_MS = 1_700_000_000_000;

/** A clock that only moves when told to; its sleepers wait until then. */
export function manualClock(startMs = START_MS): Clock & { advance(ms: number): void } {
  let nowMs = startMs;
  const sleepers = new Set<{ atMs: number; wake: () => void }>();
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const sleeper = { atMs: nowMs + ms, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper);
          resolve();
        });
      }),
    advance(ms) {
      nowMs += ms;
      for (const sleeper of [...sleepers].filter(({ atMs }) => atMs <= nowMs)) {
        sleepers.delete(sleeper);
        sleeper.wake();
      }
    },
  };
}

/** A public post, `1@town.example` by default. */
export function post(overrides: Partial<Post> = {}): Post {
  const id = overrides.id ?? '1@town.example';
  const upstreamId = id.slice(0, id.lastIndexOf('@'));
  return {
    id,
    upstreamId,
    network: 'mastodon',
    idScheme: 'mastodon',
    uri: `https://town.example/posts/${id}`,
    text: `Post ${id}`,
    html: `<p>Post ${id}</p>`,
    createdAtMs: START_MS,
    visibility: 'PUBLIC',
    sensitive: false,
    media: [],
    hashtags: [],
    mentions: [],
    emojis: [],
    counts: {},
    ...overrides,
  };
}

/** `count` posts, 1@town.example first. */
export function posts(count: number): readonly Post[] {
  return Array.from({ length: count }, (_, index) => post({ id: `${index + 1}@town.example` }));
}

export function candidatesOf(all: readonly Post[]): readonly Candidate[] {
  return all.map((one) => ({ post: one, sortAtMs: one.createdAtMs }));
}

/** Answers with what `order` gives, and remembers what it was asked. */
export function scriptedRecommender(
  order: (request: RecommendRequest) => readonly RecommendedItem[] | Promise<readonly RecommendedItem[]>,
): Recommender & { readonly asked: RecommendRequest[] } {
  const asked: RecommendRequest[] = [];
  return {
    asked,
    async recommend(request) {
      asked.push(request);
      return order(request);
    },
  };
}

/** Names the candidates in their own order. */
export function inOrder(): ReturnType<typeof scriptedRecommender> {
  return scriptedRecommender(({ candidates, limit }) =>
    candidates.slice(0, limit).map((candidate) => ({ postId: candidate.post.id })),
  );
}

/** What it finds fails the page, and so the test. */
export function watchStrictly(): FeedWatch {
  return createFeedWatch((line) => {
    throw new Error(line);
  });
}

/** Everything a scroll needs, over a store that is handed in. */
export function world(options: {
  feeds: FeedStore;
  posts: readonly Post[];
  recommender?: Recommender;
  local?: Recommender;
  clock?: ReturnType<typeof manualClock>;
  settings?: Partial<ForYouDeps['settings']>;
  hasHost?: ForYouDeps['hasHost'];
  log?: ForYouDeps['log'];
}) {
  const clock = options.clock ?? manualClock();
  const hidden = new Set<PostId>();
  const hydrations: (readonly PostId[])[] = [];
  const catalogue = [...options.posts];
  const recommender = options.recommender ?? inOrder();
  const hydrate: Hydrate = async (ids) => {
    hydrations.push(ids);
    const visible = catalogue.filter(({ id }) => ids.includes(id) && !hidden.has(id));
    return { posts: new Map(visible.map((one) => [one.id, one])), problems: [] };
  };
  const forYou: ForYou = createForYou({
    feeds: options.feeds,
    recommender,
    local: options.local ?? inOrder(),
    storyKeys: STORY_KEYS,
    clock,
    hasHost: options.hasHost,
    watch: watchStrictly(),
    log: options.log,
    settings: {
      size: 500,
      instanceTtlSeconds: 3600,
      currentTtlSeconds: 600,
      whenGone: 'continue',
      ...options.settings,
    },
  });
  const request = (overrides: Partial<ForYouRequest> = {}): ForYouRequest => ({
    userId: 'ann',
    limit: 20,
    candidates: async () => ({ candidates: candidatesOf(catalogue), problems: [] }),
    hydrate,
    ...overrides,
  });
  return { clock, hidden, hydrations, catalogue, recommender, forYou, request };
}

export const idsOf = (view: { items: readonly { post: Post }[] }) => view.items.map((item) => item.post.id);
