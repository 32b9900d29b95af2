import { idScheme } from '../ids/id-scheme.ts';
import { type Client, pathSegment } from './client.ts';
import { type FetchedBatch, fetchMany } from './fetch-many.ts';
import { askableId, type StatusContext, stablePart, toPost } from './mastodon-status.ts';
import { answersTo, postsOf } from './posts-of.ts';
import { readLimits } from './rate-limit.ts';
import { malformed, readJson } from './reply.ts';
import type { FetchedPosts } from './upstream.ts';

const PARALLEL = 4;

/**
 * Statuses by id: `bulk` a request from Mastodon 4.3 on, else one by one. What the asker may not see is gone.
 * @see https://docs.joinmastodon.org/methods/statuses/#index
 */
export async function fetchStatuses(
  client: Client,
  upstreamIds: readonly string[],
  options: { context: StatusContext; bulk: number; keepPrivate: boolean; signal?: AbortSignal | undefined },
): Promise<FetchedPosts> {
  const { context, bulk, keepPrivate, signal } = options;
  const scheme = idScheme(context.idScheme);
  const isKnown = (id: string) => /^[\w.~-]{1,255}$/.test(id) && pathSegment(id) !== undefined && scheme.includes(id);
  const ids = [...new Set(upstreamIds)];

  async function fetchBatch(batch: readonly string[]): Promise<FetchedBatch> {
    const url =
      bulk > 1
        ? client.url(
            '/api/v1/statuses',
            batch.map((id) => ['id[]', id] as const),
          )
        : client.url(`/api/v1/statuses/${askableId(batch[0] ?? '')}`);
    const reply = await client.get(url, signal);
    const body = readJson(reply, url, client.now());
    const items = bulk > 1 ? body : [body];
    if (!Array.isArray(items)) throw malformed(url, 'answered with JSON that is not a list', reply.status);
    const read = await postsOf(items, {
      idOf,
      toPost: (item) => toPost(item, { ...context, arrivedAtMs: reply.sentAtMs }),
      keepPrivate: true,
      clock: client,
    });
    // snac answers with a boost where there is one, whether that was asked for or what it boosts, and else with the original.
    const posts = read.posts.flatMap((post) => (post.repostOf ? [post, post.repostOf] : [post]));
    const { missing, gone, ...answers } = answersTo(batch, { ...read, posts }, { keepPrivate, keyOf: stablePart });
    const answered = read.ids.map(caselessPart);
    const isOther = bulk === 1 && missing.some((id) => !answered.includes(caselessPart(id)));
    if (isOther) throw malformed(url, 'answered with another status', reply.status);
    const limits = readLimits(reply.headers, client.now());
    return { ...answers, gone: [...gone, ...missing], limits, sentAtMs: reply.sentAtMs };
  }

  const fetched = await fetchMany(ids.filter(isKnown), { bulk, parallel: PARALLEL, now: client.now, fetchBatch });
  return { ...fetched, gone: [...fetched.gone, ...ids.filter((id) => !isKnown(id))] };
}

function caselessPart(id: string): string {
  return stablePart(id).toLowerCase();
}

function idOf(item: unknown): unknown {
  return Object(item).id;
}
