import type { Post, PostId } from '../post.ts';
import type { Candidate, Reason, RecommendedItem, Recommender } from './recommender.ts';

const WINDOW_MS = 48 * 3_600_000;
const HALF_LIFE_MS = 6 * 3_600_000;
/** A boost says more than a like: it was shown to others. */
const WEIGHTS = { reposts: 3, replies: 2, quotes: 2, likes: 1 } as const;
/** What a post weighs before anybody reacted, so that new posts have a chance. */
const BASE = 4;
/** The jitter moves a score by at most this part up or down. */
const JITTER = 0.15;
/** An author comes again after this many others, where there are others. */
const AUTHOR_GAP = 3;
/** Stories that share a hashtag before it is named as the reason. */
const TREND = 3;

/** What is known of one story: a post, its copies on other servers and its reposts together. */
interface Story {
  /** The post that is shown: the original, never a repost. */
  readonly shown: Post;
  /** When it was last posted or reposted, Unix ms. */
  readonly atMs: number;
  readonly counts: Record<keyof typeof WEIGHTS, number>;
  readonly score: number;
}

/**
 * Ranks the candidates of the last 48 h by reposts, replies, quotes and likes (each damped by its logarithm) with a half-life
 * of 6 h, spaces authors, and gives every canonical story once, a repost as its original. Needs nothing but the candidates.
 */
export const localRecommender: Recommender = {
  async recommend({ candidates, exclude, limit, seed, nowMs }) {
    const excluded = new Set(exclude);
    const fresh = candidates.filter(({ post, sortAtMs }) => nowMs - sortAtMs <= WINDOW_MS && !excluded.has(post.id));
    const stories = storiesOf(fresh, excluded)
      .map((story) => ({ ...story, score: score(story, seed, nowMs) }))
      .sort((a, b) => b.score - a.score || (a.shown.uri < b.shown.uri ? -1 : 1));
    const tags = tagCounts(stories);
    return spaceAuthors(stories, limit).map(
      (story): RecommendedItem => ({
        postId: story.shown.id,
        canonicalId: story.shown.uri,
        reason: reasonFor(story, tags),
      }),
    );
  },
};

function storiesOf(candidates: readonly Candidate[], excluded: ReadonlySet<PostId>): Omit<Story, 'score'>[] {
  const stories = new Map<string, Omit<Story, 'score'> & { seenReposts: number }>();
  for (const { post, sortAtMs } of candidates) {
    const shown = post.repostOf ?? post;
    if (excluded.has(shown.id)) continue;
    const known = stories.get(shown.uri);
    const seenReposts = (known?.seenReposts ?? 0) + (post.repostOf ? 1 : 0);
    const counts = { ...known?.counts } as Story['counts'];
    for (const kind of kinds) counts[kind] = Math.max(counts[kind] ?? 0, count(shown.counts[kind]));
    counts.reposts = Math.max(counts.reposts, seenReposts);
    const atMs = Math.max(known?.atMs ?? sortAtMs, sortAtMs);
    stories.set(shown.uri, { shown: known?.shown ?? shown, atMs, counts, seenReposts });
  }
  return [...stories.values()];
}

const kinds = Object.keys(WEIGHTS) as (keyof typeof WEIGHTS)[];

/** Upstreams' numbers may be anything. */
function count(value: number | undefined): number {
  return value !== undefined && Number.isFinite(value) ? Math.max(0, value) : 0;
}

function score({ shown, atMs, counts }: Omit<Story, 'score'>, seed: string, nowMs: number): number {
  const weight = kinds.reduce((sum, kind) => sum + WEIGHTS[kind] * Math.log1p(counts[kind]), BASE);
  const ageMs = Math.max(0, nowMs - atMs);
  return weight * 0.5 ** (ageMs / HALF_LIFE_MS) * (1 + JITTER * (2 * random(seed, shown.uri) - 1));
}

/** 0 to 1, the same for the same words: FNV-1a with a last mix, because its high bits alone are poor. */
function random(seed: string, text: string): number {
  let hash = 0x811c9dc5;
  for (const char of `${seed}\0${text}`) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32;
}

/** Takes the best story whose author is farthest back, as far as AUTHOR_GAP. */
function spaceAuthors(sorted: readonly Story[], limit: number): readonly Story[] {
  const ranked = sorted.map((story, rank) => ({ story, rank, by: story.shown.author?.id ?? story }));
  const byAuthor = Map.groupBy(ranked, ({ by }) => by);
  // Each author's best that is left, best first: only those who came last are passed over.
  const heads = [...byAuthor.values()].flatMap((own) => own.splice(0, 1));
  const placed: typeof heads = [];
  while (heads.length > 0 && placed.length < limit) {
    let at = -1;
    for (let gap = AUTHOR_GAP; gap > 0 && at < 0; gap--) {
      const recent = placed.slice(-gap);
      at = heads.findIndex(({ by }) => !recent.some((one) => one.by === by));
    }
    const [taken] = heads.splice(Math.max(0, at), 1);
    if (!taken) break;
    placed.push(taken);
    const next = byAuthor.get(taken.by)?.shift();
    if (!next) continue;
    const place = heads.findIndex(({ rank }) => rank > next.rank);
    heads.splice(place < 0 ? heads.length : place, 0, next);
  }
  return placed.map(({ story }) => story);
}

function tagCounts(stories: readonly Pick<Story, 'shown'>[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { shown } of stories) {
    for (const tag of new Set(shown.hashtags.map((one) => one.toLowerCase())))
      counts.set(tag, (counts.get(tag) ?? 0) + 1);
  }
  return counts;
}

function reasonFor({ shown, counts }: Story, tags: ReadonlyMap<string, number>): Reason {
  if (counts.reposts >= 2) return { kind: 'POPULAR', text: `Boosted ${rounded(counts.reposts)} times` };
  if (counts.replies >= 2) return { kind: 'POPULAR', text: `${rounded(counts.replies)} replies` };
  if (counts.quotes >= 2) return { kind: 'POPULAR', text: `Quoted ${rounded(counts.quotes)} times` };
  if (counts.likes >= 5) return { kind: 'POPULAR', text: `Liked ${rounded(counts.likes)} times` };
  const trend = shown.hashtags.find((tag) => tag.length < 80 && (tags.get(tag.toLowerCase()) ?? 0) >= TREND);
  return trend === undefined ? { kind: 'RECENT', text: 'New' } : { kind: 'TOPIC', text: `#${trend}` };
}

/** Two digits tell enough, and an instance keeps each text once. */
function rounded(value: number): string {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(value)) - 1);
  return String(Math.floor(Math.floor(value) / unit) * unit);
}
