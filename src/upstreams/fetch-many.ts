import { type Problem, UpstreamError } from '../errors.ts';
import type { Post } from '../post.ts';
import type { FetchedPosts, NamedLimit } from './upstream.ts';

/** What one request by id told about its ids. */
export interface FetchedBatch {
  readonly posts: ReadonlyMap<string, Post>;
  readonly gone: readonly string[];
  readonly failed: ReadonlyMap<string, Problem>;
  readonly limits?: readonly NamedLimit[] | undefined;
  readonly sentAtMs: number;
}

/**
 * Fetches ids in batches of `bulk`, at most `parallel` requests at a time. A batch that fails as a whole fails for its
 * ids alone, one whose reply is too large is asked for in halves; but after an answer that the next ones would get too (no
 * right, no budget, no answer) none is sent any more, and their ids fail alike. What fails, a refused token too, is told of
 * each id and never thrown: timelines may be read all the same.
 * `fetchBatch` throws UpstreamError for a failed request.
 */
export async function fetchMany(
  ids: readonly string[],
  options: {
    bulk: number;
    parallel: number;
    now: () => number;
    fetchBatch: (ids: readonly string[]) => Promise<FetchedBatch>;
  },
): Promise<FetchedPosts> {
  const { bulk, parallel, now, fetchBatch } = options;
  const posts = new Map<string, Post>();
  const gone: string[] = [];
  const failed = new Map<string, Problem>();
  const limits: NamedLimit[] = [];
  let sentAtMs: number | undefined;
  let stop: Problem | undefined;
  const waiting = Array.from({ length: Math.ceil(ids.length / bulk) }, (_, n) => ids.slice(n * bulk, (n + 1) * bulk));

  async function work(): Promise<void> {
    for (let batch = waiting.shift(); batch; batch = waiting.shift()) {
      if (stop) {
        for (const id of batch) failed.set(id, stop);
        continue;
      }
      try {
        const fetched = await fetchBatch(batch);
        for (const [id, post] of fetched.posts) posts.set(id, post);
        gone.push(...fetched.gone);
        for (const [id, problem] of fetched.failed) failed.set(id, problem);
        limits.push(...(fetched.limits ?? []));
        sentAtMs = Math.min(sentAtMs ?? fetched.sentAtMs, fetched.sentAtMs);
      } catch (error) {
        if (!(error instanceof UpstreamError)) throw error;
        if (error.code === 'GONE' && bulk === 1) {
          gone.push(...batch);
          continue;
        }
        if (error.isTooLarge && batch.length > 1) {
          const half = Math.ceil(batch.length / 2);
          waiting.unshift(batch.slice(0, half), batch.slice(half));
          continue;
        }
        const problem = problemOf(error);
        for (const id of batch) failed.set(id, problem);
        if (isForAll(error)) stop ??= problem;
      }
    }
  }

  await Promise.all(Array.from({ length: parallel }, work));
  return { posts, gone, failed, limits, sentAtMs: sentAtMs ?? now() };
}

/** An error as what a page tells beside its posts. */
export function problemOf(error: UpstreamError): Problem {
  return { code: error.code, message: error.message, retryAtMs: error.retryAtMs };
}

/** A 500 may be about one post alone: a server that stumbles over it answers for the others. */
function isForAll({ code, status }: UpstreamError): boolean {
  return code === 'UNAUTHORIZED' || code === 'RATE_LIMITED' || (code === 'UNAVAILABLE' && status !== 500);
}
