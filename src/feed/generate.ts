import { randomBytes } from 'node:crypto';
import { RecommenderUnavailableError } from '../errors.ts';
import { hasServed, MAX_SERVED, type ServedSet } from '../ids/served-set.ts';
import type { PostId } from '../post.ts';
import type { Candidate, Reason, RecommendedItem, Recommender } from '../recommenders/recommender.ts';
import type { FeedStore } from '../stores/feed-store.ts';
import { readAnswer } from './answer.ts';
import type { MadeInstance } from './instance.ts';
import { itemHash, nameHash, type Story } from './story.ts';

/** An instance whose hashes are not settled yet. */
export interface Draft {
  readonly feedId: string;
  readonly generatedAtMs: number;
  readonly items: readonly (Story & { readonly reason?: Reason | undefined })[];
}

/** Tries to find hashes that stand for nothing else yet, before an item is given up. */
const MAX_SALT = 4;

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
  hashKey: Buffer;
  nowMs: number;
  log?: ((line: string) => void) | undefined;
}): Promise<Draft> {
  const { userId, candidates, served, size, hashKey, nowMs } = request;
  const feedId = randomBytes(8).toString('hex');
  const uris = new Map(
    candidates.flatMap(({ post }) => [post, ...(post.repostOf ? [post.repostOf] : [])]).map(({ id, uri }) => [id, uri]),
  );
  const hasName = (text: string | undefined) => text !== undefined && hasServed(served, nameHash(hashKey, text));
  const isServed = (post: Candidate['post']) =>
    served.count > 0 && [post.id, post.uri, post.repostOf?.id, post.repostOf?.uri].some(hasName);
  const [old, fresh] = partition(candidates, ({ post }) => isServed(post));

  const answer = readAnswer(
    await orUnavailable(() =>
      request.recommender.recommend({
        userId,
        // A recommender may not heed `exclude`: what the scroll has served must not crowd out the rest.
        limit: size + served.count,
        candidates: fresh,
        exclude: old.slice(0, MAX_SERVED).map(({ post }) => post.id),
        seed: feedId,
        nowMs,
      }),
    ),
  );
  if (!answer) throw new RecommenderUnavailableError('the recommender must answer a list of items');
  if (answer.dropped > 0) request.log?.(`recommender: dropped ${answer.dropped} items without a post id`);

  const isNew = ({ postId, canonicalId }: RecommendedItem) => ![postId, canonicalId, uris.get(postId)].some(hasName);
  const items = answer.items
    .filter((item) => served.count === 0 || isNew(item))
    .slice(0, size)
    .map(({ postId, canonicalId, reason }) => ({
      postId,
      names: storyNames(postId, canonicalId, uris.get(postId)),
      reason,
    }));
  return { feedId, generatedAtMs: nowMs, items };
}

/** Hashes the draft, keeping nothing: for while the store is out. */
export function hashed(draft: Draft, hashKey: Buffer): MadeInstance {
  return made(
    draft,
    draft.items.map((story) => itemHash(hashKey, story)),
  );
}

/** Hashes the draft and remembers what the hashes name. A hash that stands for another post is salted. */
export async function referenced(
  draft: Draft,
  { feeds, hashKey, expiresAtMs }: { feeds: Pick<FeedStore, 'putReferences'>; hashKey: Buffer; expiresAtMs: number },
): Promise<MadeInstance> {
  const hashes: (string | undefined)[] = draft.items.map((story) => itemHash(hashKey, story));
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
      hashes[index] = story && salt < MAX_SALT ? itemHash(hashKey, story, salt + 1) : undefined;
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

/** A canonical id that is not the post's own is the recommender's word alone: the post id then stands beside it. */
function storyNames(postId: PostId, canonicalId: string | undefined, uri: string | undefined): Story['names'] {
  if (canonicalId === undefined || canonicalId === postId) return [postId];
  return canonicalId === uri ? [uri] : [canonicalId, postId];
}

async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof RecommenderUnavailableError) throw cause;
    throw new RecommenderUnavailableError('the recommender failed', { cause });
  }
}

function partition<T>(values: readonly T[], test: (value: T) => boolean): readonly [readonly T[], readonly T[]] {
  const yes: T[] = [];
  const no: T[] = [];
  for (const value of values) (test(value) ? yes : no).push(value);
  return [yes, no];
}
