import type { Clock } from '../clock.ts';
import { UpstreamError } from '../errors.ts';
import type { Source } from '../source.ts';
import type { Store } from '../stores/store.ts';
import type { FetchedPosts, PageRequest, RateLimit, UpstreamDescription, UpstreamPage } from '../upstreams/upstream.ts';
import type { Budget, Share } from './budget.ts';
import type { Pace } from './pace.ts';
import type { ServerClock } from './server-clock.ts';

/** What polls and gap fills of one source work with. */
export interface Reading {
  readonly source: Source;
  readonly store: Pick<Store, 'timelines' | 'posts'>;
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  readonly budget: Budget;
  readonly pace: Pace;
  /** The most pages that one poll reads. */
  readonly maxPages: number;
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
  /** The since_id that the upstream answered with 400. */
  refusedSinceId?: string | undefined;
}

/** The upstream's description, asked for again as often as the adapter wants. */
export async function describe(reading: Reading): Promise<UpstreamDescription> {
  const { source, signal, notes } = reading;
  notes.description = await abortable(source.upstream.describe(signal), signal);
  return notes.description;
}

/** One page out of that share of the budget. Throws UpstreamError, also when `signal` aborts. */
export async function readPage(reading: Reading, share: Share, request: PageRequest): Promise<UpstreamPage> {
  const { source, budget, notes, signal, serverClock } = reading;
  budget.spend(share, throttleMs(source, share, notes.description));
  notes.requests += 1;
  try {
    const page = await abortable(source.upstream.readPage({ ...request, signal }), signal);
    serverClock.note(page);
    notes.readAtMs = page.sentAtMs;
    notes.rateLimit = page.rateLimit;
    budget.note(inLocalTime(page, reading.clock.now()));
    return page;
  } catch (error) {
    if (error instanceof UpstreamError && error.code === 'RATE_LIMITED' && error.retryAtMs !== undefined) {
      budget.block(error.retryAtMs);
      if (notes.rateLimit) notes.rateLimit = { ...notes.rateLimit, remaining: 0, resetAtMs: error.retryAtMs };
    }
    throw error;
  }
}

/** Posts by id out of the sweeps' share; at most `describe().bulk` ids, so that it is one request. Throws UpstreamError. */
export async function fetchById(reading: Reading, upstreamIds: readonly string[]): Promise<FetchedPosts> {
  const { source, budget, notes, signal } = reading;
  budget.spend('sweep', throttleMs(source, 'sweep', notes.description));
  notes.requests += 1;
  const fetched = await abortable(source.upstream.fetchPosts(upstreamIds, signal), signal);
  budget.note(fetched.rateLimit);
  return fetched;
}

/** Pace where no headers tell: the software's known throttle, unless the settings name an interval for this source. */
export function throttleMs(source: Source, share: Share, description: UpstreamDescription | undefined): number {
  const knownMs = description?.throttleMs ?? (share === 'poll' ? 0 : 1000);
  return source.polling.ownInterval && share === 'poll' ? 0 : knownMs;
}

/** Resets are told in server time: a local clock that is an hour off would wait an hour too long, or not at all. */
function inLocalTime({ rateLimit, serverDateMs }: UpstreamPage, nowMs: number): RateLimit | undefined {
  if (rateLimit === undefined || serverDateMs === undefined) return rateLimit;
  return { ...rateLimit, resetAtMs: rateLimit.resetAtMs + nowMs - serverDateMs };
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
