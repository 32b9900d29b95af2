import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { type Problem, UpstreamError } from '../errors.ts';
import type { Post } from '../post.ts';
import { boundPost } from './bound-post.ts';
import { id } from './fields.ts';

/** The largest page of all networks, that of Twitter's API 1.1; a reply with more is not one, of which nothing is looked at. */
const MAX_ITEMS = 200;
const MAX_PROBLEMS = 20;
/** Others have their turn after so much work. */
const TURN_MS = 8;

export interface PostsOf {
  readonly posts: readonly Post[];
  readonly ids: readonly string[];
  readonly problems: readonly Problem[];
}

/**
 * The posts of a page's items, in their order. A malformed one is left out and told; a private one is left out silently
 * when it is not to be kept; each keeps within its bound. `ids` holds all that have one. Dear posts are read over several turns
 * of the event loop. `toPost` throws UpstreamError for an item that is no post.
 */
export async function postsOf(
  items: readonly unknown[],
  {
    idOf,
    toPost,
    keepPrivate,
    clock,
  }: {
    idOf: (item: unknown) => unknown;
    toPost: (item: unknown) => Post;
    keepPrivate: boolean;
    clock: Pick<Clock, 'monotonic'>;
  },
): Promise<PostsOf> {
  if (items.length > MAX_ITEMS) {
    throw new UpstreamError('MALFORMED', `a page must hold at most ${MAX_ITEMS} posts, got ${items.length}`);
  }
  const posts: Post[] = [];
  const ids: string[] = [];
  const problems: Problem[] = [];
  let turnFromMs = clock.monotonic();
  for (const item of items) {
    if (clock.monotonic() - turnFromMs >= TURN_MS) {
      await nextTurn();
      turnFromMs = clock.monotonic();
    }
    const known = id.safeParse(idOf(item));
    if (known.success) ids.push(known.data);
    try {
      const post = mayKeep(boundPost(toPost(item)), keepPrivate);
      if (post) posts.push(post);
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      const name = known.success ? `post ${known.data}` : 'a post without a usable id';
      problems.push({ code: 'MALFORMED', message: `${name} was left out: ${error.message}` });
    }
  }
  return { posts, ids, problems: problems.slice(0, MAX_PROBLEMS) };
}

/**
 * The post as those outside of a list of users may have it: a private one and a repost of one not at all,
 * one that quotes a private one without the quote.
 */
export function mayKeep(post: Post, keepPrivate: boolean): Post | undefined {
  if (keepPrivate) return post;
  if (post.visibility === 'FOLLOWERS' || post.visibility === 'DIRECT') return undefined;
  const repostOf = post.repostOf && mayKeep(post.repostOf, false);
  if (post.repostOf && !repostOf) return undefined;
  return { ...post, repostOf, quoted: post.quoted && mayKeep(post.quoted, false) };
}

/**
 * Which of the asked ids a reply answered, by `keyOf` both. `gone` are those that may not be kept, `failed` those that came
 * malformed, `missing` those that the reply does not hold. `read` must hold private posts.
 */
export function answersTo(
  asked: readonly string[],
  read: PostsOf,
  { keepPrivate, keyOf = (id) => id }: { keepPrivate: boolean; keyOf?: (id: string) => string },
) {
  const readIds = new Set(read.ids.map(keyOf));
  const byKey = new Map(read.posts.map((post) => [keyOf(post.upstreamId), post]));
  const posts = new Map<string, Post>();
  const failed = new Map<string, Problem>();
  const gone: string[] = [];
  const missing: string[] = [];
  for (const id of asked) {
    const found = byKey.get(keyOf(id));
    const post = found && mayKeep(found, keepPrivate);
    if (post) posts.set(id, post);
    else if (found) gone.push(id);
    else if (!readIds.has(keyOf(id))) missing.push(id);
    else failed.set(id, { code: 'MALFORMED', message: `post ${id} came in a form that cannot be read` });
  }
  return { posts, failed, gone, missing };
}
