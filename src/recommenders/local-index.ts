import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Post } from '../post.ts';
import type { Candidate, Reason, RecommendedItem } from './recommender.ts';

const WINDOW_MS = 48 * 3_600_000;
const HALF_LIFE_MS = 6 * 3_600_000;
/** A boost says more than a like: it was shown to others. */
const WEIGHTS = { reposts: 3, replies: 2, quotes: 2, likes: 1 } as const;
/** What a post weighs before anybody reacted, so that new posts have a chance. */
const BASE = 4;
/** Stories that share a hashtag before it is named as the reason. */
const TREND = 3;
/** Candidates or stories that are looked at in one turn of the event loop: a millisecond or two. */
const CHUNK = 500;
/** Ages are counted from when an index was made: the order of what is in it stays, but for what leaves the 48 h. */
const MAX_AGE_MS = 60_000;

/** One story as every feed has it: a post, its copies on other servers and its reposts together. */
export interface RankedStory {
  /** Names the original, never a repost. */
  readonly item: RecommendedItem;
  /** Equal for stories of one author; one without an author is equal to no other. */
  readonly by: unknown;
  /** Above 0, without a jitter. */
  readonly score: number;
  /** 32 bits of its uri. */
  readonly hash: number;
  readonly candidates: readonly Candidate[];
}

interface Story {
  /** The post that is shown: the original, never a repost. */
  readonly shown: Post;
  /** When it was last posted or reposted, Unix ms. */
  atMs: number;
  readonly counts: Record<keyof typeof WEIGHTS, number>;
  seenReposts: number;
  readonly candidates: Candidate[];
}

interface Index {
  readonly nowMs: number;
  readonly stories: Promise<readonly RankedStory[]>;
}

const known = new WeakMap<readonly Candidate[], Index>();

/**
 * The stories of the last 48 h in these candidates, the highest score first. Made once for all feeds of one list, in pieces that
 * leave turns to others, and kept for as long as the list is: it must not change.
 */
export function rankedStories(candidates: readonly Candidate[], nowMs: number): Promise<readonly RankedStory[]> {
  const index = known.get(candidates);
  if (index && Math.abs(nowMs - index.nowMs) < MAX_AGE_MS) return index.stories;
  const stories = rank(candidates, nowMs);
  known.set(candidates, { nowMs, stories });
  return stories;
}

async function rank(candidates: readonly Candidate[], nowMs: number): Promise<readonly RankedStory[]> {
  const byUri = new Map<string, Story>();
  for (const [n, candidate] of candidates.entries()) {
    if (n > 0 && n % CHUNK === 0) await nextTurn();
    if (nowMs - candidate.sortAtMs <= WINDOW_MS) add(byUri, candidate);
  }
  const tags = tagCounts([...byUri.values()]);
  const ranked: RankedStory[] = [];
  for (const story of byUri.values()) {
    if (ranked.length % CHUNK === 0) await nextTurn();
    const { shown } = story;
    ranked.push({
      item: { postId: shown.id, canonicalId: shown.uri, reason: reasonFor(story, tags) },
      by: shown.author?.id ?? story,
      score: score(story, nowMs),
      hash: hashOf(shown.uri),
      candidates: story.candidates,
    });
  }
  return ranked.sort((a, b) => b.score - a.score);
}

const kinds = Object.keys(WEIGHTS) as (keyof typeof WEIGHTS)[];

function add(stories: Map<string, Story>, candidate: Candidate): void {
  const { post, sortAtMs } = candidate;
  const shown = post.repostOf ?? post;
  const counts = { reposts: 0, replies: 0, quotes: 0, likes: 0 };
  const story = stories.get(shown.uri) ?? { shown, atMs: sortAtMs, counts, seenReposts: 0, candidates: [] };
  stories.set(shown.uri, story);
  story.candidates.push(candidate);
  story.atMs = Math.max(story.atMs, sortAtMs);
  if (post.repostOf) story.seenReposts += 1;
  for (const kind of kinds) story.counts[kind] = Math.max(story.counts[kind], count(shown.counts[kind]));
  story.counts.reposts = Math.max(story.counts.reposts, story.seenReposts);
}

/** Upstreams' numbers may be anything. */
function count(value: number | undefined): number {
  return value !== undefined && Number.isFinite(value) ? Math.max(0, value) : 0;
}

function score({ atMs, counts }: Story, nowMs: number): number {
  const weight = kinds.reduce((sum, kind) => sum + WEIGHTS[kind] * Math.log1p(counts[kind]), BASE);
  return weight * 0.5 ** (Math.max(0, nowMs - atMs) / HALF_LIFE_MS);
}

/** FNV-1a. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}

function tagCounts(stories: readonly Story[]): ReadonlyMap<string, number> {
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
