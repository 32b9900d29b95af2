import { type Problem, UpstreamError } from '../errors.ts';
import type { Post } from '../post.ts';
import type { Client } from './client.ts';
import { type FetchedBatch, fetchMany } from './fetch-many.ts';
import { mayKeep, postsOf } from './posts-of.ts';
import { readLimits } from './rate-limit.ts';
import { malformed } from './reply.ts';
import type { TwitterSpec } from './spec.ts';
import { isTweetId } from './twitter-post.ts';
import { errorsAlone, problemCode } from './twitter-v2-errors.ts';
import { FIELDS, readTweets } from './twitter-v2-request.ts';
import { type Page, tweet } from './twitter-v2-schema.ts';
import { toPost, tweetContext } from './twitter-v2-tweet.ts';
import type { FetchedPosts } from './upstream.ts';

/** Twitter's own limit for `ids`. */
export const BULK = 100;
const PARALLEL = 2;

/**
 * Tweets by id, 100 a request. An id of an older version is answered with the newest one, at the price of one more request.
 * @see https://docs.x.com/x-api/posts/lookup/introduction
 */
export async function fetchTweets(
  client: Client,
  upstreamIds: readonly string[],
  { spec, signal }: { spec: TwitterSpec; signal?: AbortSignal | undefined },
): Promise<FetchedPosts> {
  async function lookUp(ids: readonly string[]) {
    const url = client.url('/2/tweets', [['ids', ids.join(',')], ...FIELDS]);
    const reply = await client.get(url, signal);
    const page = readTweets(reply, url, client);
    const aboutTweets = page.data || page.errors.some((error) => error.resource_type === 'tweet');
    if (!aboutTweets) throw errorsAlone(page, reply, url, client.now()) ?? malformed(url, 'answered without tweets');
    const context = { ...tweetContext(page, spec), arrivedAtMs: reply.sentAtMs };
    const { posts } = await postsOf(page.data ?? [], {
      idOf: (item) => Object(item).id,
      toPost: (item) => toPost(item, context),
      keepPrivate: true,
      clock: client,
    });
    return { reply, page, posts: new Map(posts.map((post) => [post.upstreamId, post])) };
  }

  async function fetchBatch(batch: readonly string[]): Promise<FetchedBatch> {
    const { reply, page, posts } = await lookUp(batch);
    const newest = newestVersions(page);
    const newer = newest.size === 0 ? undefined : await lookUp([...newest.values()]).catch(ignoreFailure);
    const last = newer ?? { reply, posts };
    const versions = new Map(batch.map((id) => [id, last.posts.get(newest.get(id) ?? id) ?? posts.get(id)]));
    const sorted = sortOut(batch, { page, versions, keepPrivate: spec.keepPrivate });
    return { ...sorted, limits: readLimits(last.reply.headers, client.now()), sentAtMs: reply.sentAtMs };
  }

  const ids = [...new Set(upstreamIds)];
  const options = { bulk: BULK, parallel: PARALLEL, now: client.now, fetchBatch };
  const fetched = await fetchMany(ids.filter(isTweetId), options);
  return { ...fetched, gone: [...fetched.gone, ...ids.filter((id) => !isTweetId(id))] };
}

/** Asked ids that have a newer version, with its id. */
function newestVersions(page: Page): ReadonlyMap<string, string> {
  const versions = (page.data ?? []).flatMap((raw) => {
    const parsed = tweet.safeParse(raw);
    const newest = parsed.data?.edit_history_tweet_ids.at(-1);
    return parsed.success && newest !== undefined && newest !== parsed.data.id && isTweetId(newest)
      ? [[parsed.data.id, newest] as const]
      : [];
  });
  return new Map(versions.slice(0, BULK));
}

function sortOut(
  asked: readonly string[],
  options: { page: Page; versions: ReadonlyMap<string, Post | undefined>; keepPrivate: boolean },
) {
  const { page, versions, keepPrivate } = options;
  const reasons = new Map(
    page.errors.flatMap((error) => {
      const id = error.resource_id ?? error.value;
      return error.resource_type === 'tweet' && id !== undefined ? [[id, problemCode(error)] as const] : [];
    }),
  );
  const posts = new Map<string, Post>();
  const failed = new Map<string, Problem>();
  const gone: string[] = [];
  for (const id of asked) {
    const version = versions.get(id);
    const post = version && mayKeep(version, keepPrivate);
    const reason = reasons.get(id) ?? 'MALFORMED';
    if (post) posts.set(id, post);
    else if (version || reason === 'GONE') gone.push(id);
    else failed.set(id, { code: reason, message: `tweet ${id} was not in the reply` });
  }
  return { posts, failed, gone };
}

function ignoreFailure(error: unknown): undefined {
  if (!(error instanceof UpstreamError)) throw error;
}
