import type { Clock } from '../clock.ts';
import { type Problem, UpstreamError } from '../errors.ts';
import type { Post, PostId } from '../post.ts';
import type { Source } from '../source.ts';
import type { FetchedPosts } from '../upstreams/upstream.ts';

/** A post to ask for, with whose credential. */
export interface Wanted {
  readonly id: PostId;
  /** The upstream's present id. */
  readonly upstreamId: string;
  readonly source: Source;
}

/** What is known after asking. `unavailable`: nothing is known now, and `problems` say why where it is not the budget. */
export type FetchOutcome =
  | { readonly kind: 'post'; readonly post: Post; readonly sentAtMs: number }
  | { readonly kind: 'gone'; readonly sentAtMs: number }
  | { readonly kind: 'unavailable' };

/**
 * Reads posts by id: one batch a host and credential (private ones apart), within the budget and a deadline. Never throws.
 * `fillUp` is asked for as many more as the last request of a batch has room for; their outcomes are among the others, but
 * for those of which nothing is known now.
 */
export type FetchById = (
  wanted: readonly Wanted[],
  fillUp?: (source: Source, room: number) => readonly Wanted[],
) => Promise<{ readonly outcomes: ReadonlyMap<PostId, FetchOutcome>; readonly problems: readonly Problem[] }>;

/** Hands what the upstream told about its limits, or an error, back to the budget. */
export type FetchedListener = (
  source: Source,
  outcome: { requests: number; fetched?: FetchedPosts | undefined; error?: unknown },
) => void;

/** How long a host that failed is left alone when it does not say. */
const BACK_OFF_MS = 30_000;

/** Remembers hosts that fail, so that not every page waits for them. */
export function createFetchById(deps: {
  /** Takes up to `count` requests of what the source may send; returns how many. */
  takeById: (source: Source, count: number) => Promise<number>;
  /** Is told what came of the requests that were taken. */
  fetchedById?: FetchedListener | undefined;
  clock: Clock;
  maxWaitMs: number;
}): FetchById {
  const { takeById, fetchedById, clock, maxWaitMs } = deps;
  const failing = new Map<string, { problem: Problem; untilMs: number }>();

  async function fetchBatch(key: string, batch: readonly Wanted[], fillUp: Parameters<FetchById>[1] = () => []) {
    const outcomes = new Map<PostId, FetchOutcome>();
    const [first] = batch;
    if (!first) return { outcomes, problems: [] };
    const { source } = first;
    const known = failing.get(key);
    if (known && known.untilMs > clock.now())
      return { outcomes, problems: [{ ...known.problem, sourceKey: source.key }] };
    failing.delete(key);

    const problems: Problem[] = [];
    const fail = (problem: Problem) => {
      problems.push({ ...problem, sourceKey: source.key });
      failing.set(key, { problem, untilMs: problem.retryAtMs ?? clock.now() + BACK_OFF_MS });
    };
    let requests = 0;
    const hear = (outcome: { fetched?: FetchedPosts; error?: unknown }) => {
      fetchedById?.(source, { requests, ...outcome });
      requests = 0;
    };
    try {
      await within(maxWaitMs, clock, async (signal) => {
        const perRequest = Math.max(1, (await source.upstream.describe(signal)).bulk);
        requests = await takeById(source, Math.ceil(batch.length / perRequest));
        const room = requests * perRequest - batch.length;
        const asked = room > 0 ? [...batch, ...fillUp(source, room)] : batch.slice(0, requests * perRequest);
        if (asked.length === 0) return;
        const fetched = await source.upstream.fetchPosts(
          asked.map(({ upstreamId }) => upstreamId),
          signal,
        );
        hear({ fetched });
        const gone = new Set(fetched.gone);
        for (const { id, upstreamId } of asked) {
          const post = fetched.posts.get(upstreamId);
          if (post?.id === id) outcomes.set(id, { kind: 'post', post, sentAtMs: fetched.sentAtMs });
          else if (gone.has(upstreamId)) outcomes.set(id, { kind: 'gone', sentAtMs: fetched.sentAtMs });
        }
        const [problem] = fetched.failed.values();
        if (problem && outcomes.size === 0) fail(problem);
        else if (problem) problems.push({ ...problem, sourceKey: source.key });
      });
    } catch (error) {
      fail(problemOf(error));
      hear({ error });
    }
    return { outcomes, problems };
  }

  return async (wanted, fillUp) => {
    const batches = [...Map.groupBy(wanted, ({ source }) => batchKey(source))];
    const answers = await Promise.all(batches.map(([key, batch]) => fetchBatch(key, batch, fillUp)));
    const outcomes = new Map<PostId, FetchOutcome>(wanted.map(({ id }) => [id, { kind: 'unavailable' }]));
    for (const answer of answers) for (const [id, outcome] of answer.outcomes) outcomes.set(id, outcome);
    return { outcomes, problems: answers.flatMap(({ problems }) => problems) };
  };
}

/** Sources for named users are asked apart: the others' adapters tell a private post as gone, whose credential it be. */
function batchKey({ host, credentialId, audience }: Source): string {
  return JSON.stringify([host, credentialId, Array.isArray(audience)]);
}

/** Breaks the work off after `ms`: a page must not wait for a host that hangs. */
async function within(ms: number, clock: Clock, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const late = new AbortController();
  const done = new AbortController();
  const timeout = clock.sleep(ms, done.signal).then(() => {
    if (done.signal.aborted) return;
    late.abort();
    throw new UpstreamError('UNAVAILABLE', `reading posts by id took more than ${ms} ms`);
  });
  const working = work(late.signal);
  working.catch(() => {});
  try {
    await Promise.race([working, timeout]);
  } finally {
    done.abort();
  }
}

function problemOf(error: unknown): Problem {
  if (error instanceof UpstreamError) return { code: error.code, message: error.message, retryAtMs: error.retryAtMs };
  return { code: 'UNAVAILABLE', message: 'reading posts by id failed' };
}
