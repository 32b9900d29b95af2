import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { RecommenderUnavailableError } from '../errors.ts';
import { hasServed, MAX_SERVED, type ServedSet } from '../ids/served-set.ts';
import { createFeedId, type StoryKey } from '../ids/story-key.ts';
import type { PostId } from '../post.ts';
import type { Candidate, Reason, Recommender } from '../recommenders/recommender.ts';
import type { FeedStore } from '../stores/feed-store.ts';
import { readAnswer } from './answer.ts';
import { ask } from './ask.ts';
import type { MadeInstance } from './instance.ts';
import { knownItemHash, knownNameHash } from './known-hashes.ts';
import { storiesOf } from './stories-of.ts';
import { itemHash, namesOf, type Story } from './story.ts';

/** An instance whose hashes are not settled yet. */
export interface Draft {
  readonly feedId: string;
  readonly generatedAtMs: number;
  readonly items: readonly (Story & { readonly reason?: Reason | undefined })[];
  /** Those of the items that are no candidates, in their order. */
  readonly named: readonly PostId[];
}

/** Tries to find hashes that stand for nothing else yet, before an item is given up. */
const MAX_SALT = 4;

/** Candidates that are looked at in one turn of the event loop: some milliseconds of hashing. */
const CHUNK = 500;

/** What a draft is made of, and for whom. */
export interface GenerateRequest {
  readonly recommender: Recommender;
  readonly userId: string;
  readonly candidates: readonly Candidate[];
  /** What the scroll has served before. */
  readonly served: ServedSet;
  /** The most items. */
  readonly size: number;
  /** Of the feed, and of what was served. */
  readonly key: StoryKey;
  readonly clock: Clock;
  readonly hasHost?: ((host: string) => boolean) | undefined;
  readonly log?: ((line: string) => void) | undefined;
}

/**
 * Asks the recommender, and takes what this scroll has not served yet: at most `size` items.
 * Whatever a recommender throws or answers, there is a draft or RecommenderUnavailableError.
 */
export async function generate(request: GenerateRequest): Promise<Draft> {
  const { recommender, userId, candidates, served, size, key, clock } = request;
  const feedId = createFeedId(key);
  const nowMs = clock.now();
  const stories = await storiesOf(candidates);
  const isServed = (names: readonly (string | undefined)[]) =>
    names.some((name) => name !== undefined && hasServed(served, knownNameHash(key, name)));
  const { fresh, old } =
    served.count === 0 ? { fresh: candidates, old: [] } : await withoutServed(candidates, isServed);

  const said = await ask(
    recommender,
    {
      userId,
      // A recommender may not heed `exclude`: what the scroll has served must not crowd out the rest.
      limit: size + served.count,
      candidates: fresh,
      pool: candidates,
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
  const named = items.flatMap(({ postId }) => (stories.has(postId) ? [] : [postId]));
  return { feedId, generatedAtMs: nowMs, items, named };
}

/** Hashes the draft, keeping nothing: for while the store is out. */
export function hashed(draft: Draft, key: StoryKey): MadeInstance {
  return made(
    draft,
    draft.items.map((story) => knownItemHash(key, story)),
  );
}

/**
 * Hashes the draft and remembers what the hashes name, for two lives of an instance: from then on the store keeps them for as
 * long as one names them. A hash that stands for another post is salted.
 */
export async function referenced(
  draft: Draft,
  deps: { feeds: Pick<FeedStore, 'putReferences'>; key: StoryKey; ttlMs: number; clock: Pick<Clock, 'now'> },
): Promise<MadeInstance> {
  const { feeds, key, ttlMs, clock } = deps;
  // Up to a twentieth of a life more, so that the feeds of some minutes ask for the same, and only the first of them writes.
  const stepMs = ttlMs / 20;
  const expiresAtMs = Math.ceil((clock.now() + 2 * ttlMs) / stepMs) * stepMs;
  const hashes: (string | undefined)[] = draft.items.map((story) => knownItemHash(key, story));
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
  const taken = new Set<string>();
  const items = draft.items.flatMap(({ postId, reason }, index) => {
    const hash = hashes[index];
    if (hash === undefined || taken.has(hash)) return [];
    taken.add(hash);
    return [reason === undefined ? { hash, postId } : { hash, postId, reason }];
  });
  return { feedId: draft.feedId, generatedAtMs: draft.generatedAtMs, items };
}

function storyNames(postId: PostId, canonicalId: string | undefined, uri: string | undefined): Story['names'] {
  const own = uri ?? postId;
  return canonicalId === undefined || canonicalId === postId || canonicalId === own ? [own] : [canonicalId, own];
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
