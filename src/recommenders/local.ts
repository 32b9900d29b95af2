import { hashOf, type RankedStory, rankedStories } from './local-index.ts';
import type { Recommender } from './recommender.ts';

/** The jitter moves a score by at most this part up or down. */
const JITTER = 0.15;
/** An author comes again after this many others, where there are others. */
const AUTHOR_GAP = 3;

/**
 * Ranks the candidates of the last 48 h by reposts, replies, quotes and likes (each damped by its logarithm) with a half-life
 * of 6 h, spaces authors, and gives every canonical story once, a repost as its original. Needs nothing but the candidates.
 * What all feeds of one list have in common is computed once for it: a feed of its own takes no more than its seed's jitter.
 */
export const localRecommender: Recommender = {
  async recommend({ candidates, pool = candidates, exclude, limit, seed, nowMs }) {
    const stories = await rankedStories(pool, nowMs);
    const isAllowed = allowing(candidates === pool ? undefined : new Set(candidates), new Set(exclude));
    const left = isAllowed ? stories.filter(isAllowed) : stories;
    return spaceAuthors(jittered(left, seed, limit), limit).map(({ item }) => item);
  },
};

/** Undefined: all are. */
function allowing(
  candidates: ReadonlySet<unknown> | undefined,
  excluded: ReadonlySet<string>,
): ((story: RankedStory) => boolean) | undefined {
  if (!candidates && excluded.size === 0) return;
  return ({ item, candidates: own }) =>
    !excluded.has(item.postId) && own.some((one) => !excluded.has(one.post.id) && (candidates?.has(one) ?? true));
}

interface Placed {
  readonly story: RankedStory;
  readonly score: number;
}

/** In the order of their scores with this seed's jitter, no further than is asked for: about `first` are. */
function* jittered(stories: readonly RankedStory[], seed: string, first: number): Generator<RankedStory, void> {
  const seedHash = hashOf(seed);
  let waiting: Placed[] = [];
  for (let from = 0, count = Math.max(1, first); from < stories.length; from += count, count *= 2) {
    for (const story of stories.slice(from, from + count)) {
      waiting.push({ story, score: story.score * (1 + JITTER * (2 * random(seedHash ^ story.hash) - 1)) });
    }
    waiting.sort((a, b) => b.score - a.score || (uriOf(a) < uriOf(b) ? -1 : 1));
    // None that follows can come above this.
    const bound = (stories[from + count]?.score ?? -1) * (1 + JITTER);
    const settled = waiting.findIndex(({ score }) => score <= bound);
    const ready = settled < 0 ? waiting : waiting.slice(0, settled);
    waiting = settled < 0 ? [] : waiting.slice(settled);
    for (const { story } of ready) yield story;
  }
}

function uriOf({ story }: Placed): string {
  return story.item.canonicalId ?? '';
}

/** 0 to 1, the same for the same number: neighbours and single bits are spread over all of it. */
function random(number: number): number {
  let hash = number;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** Takes the best story whose author is farthest back, as far as AUTHOR_GAP. */
function spaceAuthors(ranked: Iterator<RankedStory, void>, limit: number): readonly RankedStory[] {
  const placed: RankedStory[] = [];
  const isRecent = ({ by }: RankedStory, gap: number) => placed.slice(-gap).some((one) => one.by === by);
  /** By author, best first: what was passed over. All of it is better than what `ranked` still holds. */
  const passed = new Map<unknown, { rank: number; story: RankedStory }[]>();
  let rank = 0;

  function takePassed(gap: number): RankedStory | undefined {
    let best: { rank: number; story: RankedStory } | undefined;
    for (const [head] of passed.values()) {
      if (head && (best === undefined || head.rank < best.rank) && !(gap > 0 && isRecent(head.story, gap))) best = head;
    }
    if (!best) return;
    const own = passed.get(best.story.by);
    own?.shift();
    if (own?.length === 0) passed.delete(best.story.by);
    return best.story;
  }

  function takeRanked(): RankedStory | undefined {
    for (let next = ranked.next(); !next.done; next = ranked.next(), rank += 1) {
      const story = next.value;
      if (!isRecent(story, AUTHOR_GAP)) return story;
      const own = passed.get(story.by) ?? [];
      passed.set(story.by, own);
      own.push({ rank, story });
    }
  }

  while (placed.length < limit) {
    let story = takePassed(AUTHOR_GAP) ?? takeRanked();
    for (let gap = AUTHOR_GAP - 1; gap >= 0 && !story; gap -= 1) story = takePassed(gap);
    if (!story) break;
    placed.push(story);
  }
  return placed;
}
