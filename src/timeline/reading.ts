import type { Clock } from '../clock.ts';
import { UpstreamError } from '../errors.ts';
import type { Source } from '../source.ts';
import type { Store } from '../stores/store.ts';
import type { FetchedPosts, PageRequest, RateLimit, UpstreamDescription, UpstreamPage } from '../upstreams/upstream.ts';
import type { DayCount } from './day-count.ts';
import type { Pace } from './pace.ts';
import type { Seat } from './seat.ts';
import type { ServerClock } from './server-clock.ts';
import type { Share } from './windows.ts';

/** What polls and gap fills of one source work with. */
export interface Reading {
  readonly source: Source;
  readonly store: Pick<Store, 'timelines' | 'posts' | 'signals'>;
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  readonly budget: Seat;
  /** Absent: as many posts a day as there are. */
  readonly day?: DayCount | undefined;
  readonly pace: Pace;
  /** The most pages that one poll reads. */
  readonly maxPages: number;
  /** Names this gateway: what it commits is lost once another one holds the log's lease. */
  readonly holder: string;
  /** How long final gaps are told: as long as entries are kept. */
  readonly keepMs: number;
  /** Ends requests, never commits. */
  readonly signal: AbortSignal;
  readonly notes: Notes;
}

/** What a source's loop remembers in this process alone: losing it costs a request or a count, never a post. */
export interface Notes {
  /** Counted since the last commit, which takes them along. */
  requests: number;
  duplicatesDropped: number;
  description?: UpstreamDescription | undefined;
  rateLimit?: RateLimit | undefined;
  /** When the last request was sent that brought a page, local clock: the credential was good then. */
  readAtMs?: number | undefined;
  /** When the last poll's first request was sent, in server time. */
  sentAtMs?: number | undefined;
  /** The same of the last whole poll. */
  retrievedAtMs?: number | undefined;
  /** Where a poll with this since_id found the end of the timeline, without its anchor. */
  bottom?: { readonly sinceId: string; readonly id: string } | undefined;
  /** The since_id whose empty reply was looked into. */
  doubtedSinceId?: string | undefined;
  /** When a since_id was found to hide posts, Unix ms of the local clock. */
  brokenAtMs?: number | undefined;
  /** The since_id that the upstream answered with 400. */
  refusedSinceId?: string | undefined;
}

/** The upstream's description, asked for again as often as the adapter wants. */
export async function describe(reading: Reading): Promise<UpstreamDescription> {
  const { source, budget, signal, notes } = reading;
  notes.description = await budget.describe(() => abortable(source.upstream.describe(signal), signal));
  return notes.description;
}

/** One page out of that share of the budget. Throws UpstreamError, also when `signal` aborts. */
export async function readPage(reading: Reading, share: Share, request: PageRequest): Promise<UpstreamPage> {
  const { source, budget, notes, signal, clock, serverClock, day } = reading;
  notes.requests += 1;
  // What the day's posts do not allow is not asked for, as far as the upstream has pages so small.
  const limit = day && Math.min(request.limit ?? Number.POSITIVE_INFINITY, Math.max(1, day.left(share)));
  let roundTripMs = 0;
  const timed = async (ask: () => Promise<UpstreamPage>) => {
    const fromMs = clock.monotonic();
    const page = await ask();
    roundTripMs = clock.monotonic() - fromMs;
    return page;
  };
  try {
    const page = await budget.send({ share, kind: 'page', signal }, () =>
      timed(() =>
        abortable(source.upstream.readPage({ ...request, ...(limit !== undefined && { limit }), signal }), signal),
      ),
    );
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

/** Posts by id out of the sweeps' share; at most `describe().bulk` ids, so that it is one request. Throws UpstreamError. */
export async function fetchById(reading: Reading, upstreamIds: readonly string[]): Promise<FetchedPosts> {
  const { source, budget, notes, signal, day } = reading;
  notes.requests += 1;
  const fetched = await budget.send({ share: 'sweep', kind: 'byId', signal }, async () => {
    const fetched = await abortable(source.upstream.fetchPosts(upstreamIds, signal), signal);
    const error = refusalOf(fetched);
    if (error) throw error;
    return fetched;
  });
  day?.read(fetched.posts.size);
  return fetched;
}

/** What the upstream refused to every request with this token, although it is told of single ids. */
export function refusalOf({ failed }: FetchedPosts): UpstreamError | undefined {
  for (const { code, message, retryAtMs } of failed.values()) {
    // Whether it is about more than reads by id, the polls find out.
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
