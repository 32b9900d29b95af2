import { UpstreamError } from '../../errors.ts';
import type { FetchedPosts, PageRequest, UpstreamDescription, UpstreamPage } from '../../upstreams/upstream.ts';
import type { SourceContext } from './source-context.ts';

/** What a page is read for, and whose part of what is allowed it comes out of. */
export interface ReadFor {
  readonly kind: 'poll' | 'fill' | 'rescan';
  readonly pool: 'poll' | 'repair';
}

/**
 * What the upstream is, asked for again as often as the adapter wants. Kept in the store, for when it does not say after a
 * restart. Throws UpstreamError where it does not answer and never did, or where what it refuses is the source itself.
 */
export async function describe(context: SourceContext): Promise<UpstreamDescription> {
  const { source, requests, signal, notes, store } = context;
  const name = `upstream:${source.logId}`;
  let description: UpstreamDescription;
  try {
    description = await requests.describe(() => abortable(source.upstream.describe(signal), signal));
  } catch (error) {
    if (signal.aborted || !(error instanceof UpstreamError)) throw error;
    const kept = notes.description ?? parse((await store.notes.read([name])).get(name)?.body);
    if (kept === undefined) throw error;
    requests.described(kept);
    notes.description = kept;
    return kept;
  }
  if (description !== notes.description) {
    const body = JSON.stringify(description);
    if ((await store.notes.read([name])).get(name)?.body !== body) await store.notes.write({ name, body });
  }
  notes.description = description;
  return description;
}

function parse(body: string | undefined): UpstreamDescription | undefined {
  return body === undefined ? undefined : (JSON.parse(body) as UpstreamDescription);
}

/** One page. Throws UpstreamError, also when `signal` aborts. */
export async function readPage(
  context: SourceContext,
  { kind, pool }: ReadFor,
  request: PageRequest,
): Promise<UpstreamPage> {
  const { source, requests, notes, signal, clock, serverClock } = context;
  notes.requests += 1;
  // What the day's posts do not allow is not asked for, as far as the upstream has pages so small.
  const { day } = requests;
  const limit = day && Math.min(request.limit ?? Number.POSITIVE_INFINITY, Math.max(1, day.left(kind)));
  let roundTripMs = 0;
  const ask = async () => {
    const fromMs = clock.monotonic();
    const asked = { ...request, ...(limit !== undefined && { limit }), signal };
    const page = await abortable(source.upstream.readPage(asked), signal);
    roundTripMs = clock.monotonic() - fromMs;
    return page;
  };
  try {
    const page = await requests.send({ pool, kind: 'page', signal }, ask);
    serverClock.note(page, roundTripMs);
    day?.read(page.ids.length);
    notes.readAtMs = page.sentAtMs;
    notes.rateLimit = page.rateLimit;
    return page;
  } catch (error) {
    const { retryAtMs: resetAtMs } = error instanceof UpstreamError && error.code === 'RATE_LIMITED' ? error : {};
    if (notes.rateLimit && resetAtMs) notes.rateLimit = { ...notes.rateLimit, remaining: 0, resetAtMs };
    throw error;
  }
}

/** Posts by id; at most `describe().bulk` ids, so that it is one request. Throws UpstreamError. */
export async function fetchById(context: SourceContext, upstreamIds: readonly string[]): Promise<FetchedPosts> {
  const { source, requests, notes, signal } = context;
  notes.requests += 1;
  const fetched = await requests.send({ pool: 'repair', kind: 'byId', signal }, async () => {
    const fetched = await abortable(source.upstream.fetchPosts(upstreamIds, signal), signal);
    const error = refusalOf(fetched);
    if (error) throw error;
    return fetched;
  });
  requests.day?.read(fetched.posts.size);
  return fetched;
}

/** What the upstream refused to every read by id with this token, although it is told of single ids. */
export function refusalOf({ failed }: FetchedPosts): UpstreamError | undefined {
  for (const { code, message, retryAtMs } of failed.values()) {
    if (code === 'UNAUTHORIZED' || code === 'RATE_LIMITED')
      return new UpstreamError(code, message, { retryAtMs, endpoint: true });
  }
  return undefined;
}

/** An upstream that does not heed the signal must not hold up a shutdown. */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const abort = () => reject(new UpstreamError('UNAVAILABLE', 'the request was broken off'));
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
