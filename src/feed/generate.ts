import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { RecommenderUnavailableError } from '../errors.ts';
import { hasServed, MAX_SERVED, type ServedSet } from '../ids/served-set.ts';
import { createFeedId, type StoryKey } from '../ids/story-key.ts';
import type { Post, PostId } from '../post.ts';
import type { Candidate, Reason, Recommender } from '../recommenders/recommender.ts';
import type { FeedStore } from '../stores/feed-store.ts';
import { readAnswer } from './answer.ts';
import { ask } from './ask.ts';
import type { MadeInstance } from './instance.ts';
import { itemHash, nameHash, namesOf, type Story, storyUri } from './story.ts';

/** An instance whose hashes are not settled yet. */
export interface Draft {
  readonly feedId: string;
  readonly generatedAtMs: number;
  readonly items: readonly (Story & { readonly reason?: Reason | undefined })[];
}

/** Tries to find hashes that stand for nothing else yet, before an item is given up. */
const MAX_SALT = 4;

/** Candidates that are looked at in one turn of the event loop: some milliseconds of hashing. */
const CHUNK = 500;

/**
 * Asks the recommender, and takes what this scroll has not served yet: at most `size` items.
 * Whatever a recommender throws or answers, there is a draft or RecommenderUnavailableError.
 */
export async function generate(request: {
  recommender: Recommender;
  userId: string;
  candidates: readonly Candidate[];
  served: ServedSet;
  size: number;
  /** Of the feed, and of what was served. */
  key: StoryKey;
  clock: Clock;
  hasHost?: ((host: string) => boolean) | undefined;
  log?: ((line: string) => void) | undefined;
}): Promise<Draft> {
  const { recommender, userId, candidates, served, size, key, clock } = request;
  const feedId = createFeedId(key);
  const nowMs = clock.now();
  const stories = new Map(candidates.flatMap(({ post, copies }) => storiesIn(post, copies)));
  const isServed = (names: readonly (string | undefined)[]) =>
    names.some((name) => name !== undefined && hasServed(served, nameHash(key, name)));
  const { fresh, old } = await withoutServed(candidates, served.count === 0 ? () => false : isServed);

  const said = await ask(
    recommender,
    {
      userId,
      // A recommender may not heed `exclude`: what the scroll has served must not crowd out the rest.
      limit: size + served.count,
      candidates: fresh,
      exclude: old.slice(0, MAX_SERVED).map(({ post }) => post.id),
      seed: feedId,
      nowMs,
    },
    clock,
  );
  const answer = readAnswer(said, stories, request.hasHost);
  if (!answer) throw new RecommenderUnavailableError('the recommender must answer a list of items');
  if (answer.dropped > 0)
    request.log?.(`recommender: dropped ${answer.dropped} items without a post id of a configured host`);

  const items = answer.items
    .filter(({ postId, canonicalId }) => served.count === 0 || !isServed([postId, canonicalId, stories.get(postId)]))
    .slice(0, size)
    .map(({ postId, canonicalId, reason }) => ({
      postId,
      names: storyNames(postId, canonicalId, stories.get(postId)),
      reason,
    }));
  return { feedId, generatedAtMs: nowMs, items };
}

/** Hashes the draft, keeping nothing: for while the store is out. */
export function hashed(draft: Draft, key: StoryKey): MadeInstance {
  return made(
    draft,
    draft.items.map((story) => itemHash(key, story)),
  );
}

/** Hashes the draft and remembers what the hashes name. A hash that stands for another post is salted. */
export async function referenced(
  draft: Draft,
  { feeds, key, expiresAtMs }: { feeds: Pick<FeedStore, 'putReferences'>; key: StoryKey; expiresAtMs: number },
): Promise<MadeInstance> {
  const hashes: (string | undefined)[] = draft.items.map((story) => itemHash(key, story));
  let open = [...draft.items.keys()];
  for (let salt = 0; open.length > 0; salt++) {
    const references = open.flatMap((index) => {
      const hash = hashes[index];
      const postId = draft.items[index]?.postId;
      return hash === undefined || postId === undefined ? [] : [{ hash, key: postId, postId }];
    });
    const taken = new Set(await feeds.putReferences(references, expiresAtMs));
    open = open.filter((index) => taken.has(hashes[index] ?? ''));
    for (const index of open) {
      const story = draft.items[index];
      hashes[index] = story && salt < MAX_SALT ? itemHash(key, story, salt + 1) : undefined;
    }
    if (salt === MAX_SALT) break;
  }
  return made(draft, hashes);
}

function made(draft: Draft, hashes: readonly (string | undefined)[]): MadeInstance {
  const postIds = new Map<string, PostId>();
  const items = draft.items.flatMap(({ postId, reason }, index) => {
    const hash = hashes[index];
    if (hash === undefined || postIds.has(hash)) return [];
    postIds.set(hash, postId);
    return [reason === undefined ? { hash } : { hash, reason }];
  });
  return { feedId: draft.feedId, generatedAtMs: draft.generatedAtMs, items, postIds };
}

function storyNames(postId: PostId, canonicalId: string | undefined, uri: string | undefined): Story['names'] {
  const own = uri ?? postId;
  return canonicalId === undefined || canonicalId === postId || canonicalId === own ? [own] : [canonicalId, own];
}

/** The post, what it reposts, and its copies, with the story of all. */
function storiesIn(post: Post, copies: readonly PostId[] = []): (readonly [PostId, string])[] {
  const story = storyUri(post);
  const inside = post.repostOf ? storiesIn(post.repostOf) : [];
  return [[post.id, story], ...copies.map((id) => [id, story] as const), ...inside];
}

async function withoutServed(candidates: readonly Candidate[], isServed: (names: readonly string[]) => boolean) {
  const fresh: Candidate[] = [];
  const old: Candidate[] = [];
  for (const [index, candidate] of candidates.entries()) {
    if (index > 0 && index % CHUNK === 0) await nextTurn();
    (isServed(namesOf(candidate.post)) ? old : fresh).push(candidate);
  }
  return { fresh, old };
}
