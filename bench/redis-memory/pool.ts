import { createRandom } from '../../experiment/random.ts';
import type { Post, PostId } from '../../src/post.ts';
import type { Candidate, Reason, Recommender } from '../../src/recommenders/recommender.ts';
import { createPost, createSource, NOW_MS } from '../../test/edge-fixture.ts';

const HOUR_MS = 3_600_000;
/** Candidates are the posts of 48 h, and half as many come in the day of the bench. */
const CANDIDATES = 1000;
const STEP_MS = (48 * HOUR_MS) / CANDIDATES;
const HALF_LIFE_MS = 6 * HOUR_MS;
/** As the local recommender's: two generations differ by design. */
const JITTER = 0.15;

export const FEED_SIZE = 500;

const REASONS: readonly Reason[] = [
  { kind: 'POPULAR', text: 'Popular today' },
  { kind: 'POPULAR', text: 'Popular this week' },
  { kind: 'POPULAR', text: 'Popular on town.example' },
  { kind: 'RECENT', text: 'New' },
  { kind: 'FOLLOWED_AUTHOR', text: 'You follow the author' },
  { kind: 'FOLLOWED_AUTHOR', text: 'Boosted by one you follow' },
  { kind: 'TOPIC', text: 'In #photography' },
  { kind: 'TOPIC', text: 'In #cycling' },
  { kind: 'TOPIC', text: 'In #opensource' },
  { kind: 'SIMILAR', text: 'Like what you read' },
  { kind: 'SIMILAR', text: 'Like what you liked' },
  { kind: 'EXPLORE', text: 'Something else' },
];

/** What all feeds are made of. Times are ms of the bench's day. */
export interface Pool {
  readonly posts: readonly Post[];
  reasonOf(index: number): Reason;
  /** Indexes of the 500 best of the last 48 h, best first: new for each call. */
  order(atMs: number): readonly number[];
  /** Ranks its candidates as `order` does. */
  readonly recommender: Recommender;
  candidates(atMs: number): readonly Candidate[];
  read(ids: readonly PostId[]): ReadonlyMap<PostId, Post>;
}

/** A pool of 1,500 posts; one order after the other they are the same for a seed. */
export function createPool(seed: number): Pool {
  const random = createRandom(seed);
  const town = createSource('town');
  const count = CANDIDATES + Math.ceil((24 * HOUR_MS) / STEP_MS);
  const atMs = (index: number) => (index + 1 - CANDIDATES) * STEP_MS;
  const posts = Array.from({ length: count }, (_, index) =>
    createPost(town, -atMs(index) / 1000, { text: 'x'.repeat(300), html: `<p>${'x'.repeat(300)}</p>` }),
  );
  // All age alike: which of two posts is above the other does not change as time passes.
  const strengths = posts.map((_, index) => (4 - 6 * Math.log(1 - random())) * 2 ** (atMs(index) / HALF_LIFE_MS));
  const byId = new Map(posts.map((post) => [post.id, post]));
  const indexes = new Map(posts.map(({ id }, index) => [id, index]));
  const newest = (nowMs: number) => Math.min(count - 1, CANDIDATES - 1 + Math.floor(nowMs / STEP_MS));
  const reasonOf = (index: number) => REASONS[index % REASONS.length] ?? { kind: 'OTHER', text: '' };

  function rank(among: readonly number[]): readonly number[] {
    const scores = new Float64Array(count);
    for (const index of among) scores[index] = (strengths[index] ?? 0) * (1 + JITTER * (2 * random() - 1));
    return among.toSorted((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0));
  }

  function windowAt(nowMs: number): readonly number[] {
    const first = newest(nowMs);
    return Array.from({ length: CANDIDATES }, (_, n) => first - n);
  }

  return {
    posts,
    reasonOf,
    order: (nowMs) => rank(windowAt(nowMs)).slice(0, FEED_SIZE),
    recommender: {
      async recommend({ candidates, limit }) {
        const among = candidates.map(({ post }) => indexes.get(post.id) ?? 0);
        return rank(among)
          .slice(0, limit)
          .map((index) => ({ postId: posts[index]?.id ?? '', reason: reasonOf(index) }));
      },
    },
    candidates: (nowMs) =>
      windowAt(nowMs).flatMap((index) => {
        const post = posts[index];
        return post ? [{ post, sortAtMs: NOW_MS + atMs(index) }] : [];
      }),
    read: (ids) =>
      new Map(
        ids.flatMap((id) => {
          const post = byId.get(id);
          return post ? [[id, post] as const] : [];
        }),
      ),
  };
}
