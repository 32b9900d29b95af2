import { UpstreamError } from '../../errors.ts';
import type { UpstreamDescription } from '../../upstreams/upstream.ts';
import type { DayCount } from '../limits/day-count.ts';
import type { JobKind, Pool, RequestKind } from '../limits/pools.ts';
import * as sent from '../limits/sent.ts';
import { countedMs, describe, type SourceLimits, type Told, toldMs } from '../limits/source-limits.ts';
import type { Scheduler } from './scheduler.ts';
import { byIdRefusedMs, hasRoom, isOwner, makeRoom, type Token } from './token.ts';

/** What sends the requests of one source, and what it knows of the job under way. */
export interface Sender {
  readonly token: Token;
  readonly scheduler: Scheduler;
  readonly limits: SourceLimits;
  readonly day: DayCount | undefined;
  /** Called for each request. */
  readonly onSent: () => void;
  /** A job began whose first request has had its turn, and is not sent yet. */
  hasTurn: boolean;
  /** Requests of that job. */
  sent: number;
  byId: {
    underWay: number;
    /** What the replies to them know of. */
    known: readonly number[];
  };
}

export interface Sending {
  readonly pool: 'poll' | 'repair';
  readonly kind: RequestKind;
  readonly signal: AbortSignal;
}

/** A wait that is not worth breaking off a walk of pages. */
const LONGEST_PAUSE_MS = 2000;
/** A description takes some requests at most. */
const MOST_TO_DESCRIBE = 4;
const BY_ID_REFUSED_MS = 3_600_000;

/** How long such a job is kept by anything but the turns of others, ms. */
export function heldMs(
  sender: Sender,
  { kind, pool, request }: { kind: JobKind; pool: Pool; request: RequestKind },
): number {
  const { token } = sender;
  const byIdMs = request === 'byId' ? byIdRefusedMs(token) : 0;
  return Math.max(allowedInMs(sender, request, pool), usedUpMs(sender, kind), token.breaker.waitMs(), byIdMs);
}

/** How long no poll may be sent because the upstream or the settings say so, ms. */
export function blockedMs(sender: Sender): number {
  const pauseMs = countedMs(sender.limits, 'page', 'poll');
  return Math.max(toldMs(sender.limits, 'page'), pauseMs > LONGEST_PAUSE_MS ? pauseMs : 0, usedUpMs(sender, 'poll'));
}

/** Sends a request when it may go. Throws as `Requests.send` does. */
export async function send<Reply extends Told>(
  sender: Sender,
  request: Sending,
  work: () => Promise<Reply>,
): Promise<Reply> {
  const { token, limits, scheduler } = sender;
  const { pool, kind, signal } = request;
  for (let waitMs = pauseMs(sender, request); waitMs > 0 || !hasRoom(token, 1); waitMs = pauseMs(sender, request)) {
    await (waitMs > 0 ? token.clock.sleep(waitMs, signal) : makeRoom(token, 1));
  }
  const sentAtMs = token.clock.monotonic();
  if (!sender.hasTurn) scheduler.went(limits, { pool, request: kind });
  sender.hasTurn = false;
  count(sender, 1);
  const known = sent.sent(limits, kind, pool, 1);
  sender.onSent();
  try {
    const reply = await work().finally(() => sent.answered(limits, kind, 1));
    token.breaker.answered();
    sent.learn(limits, kind, reply, known);
    return reply;
  } catch (error) {
    failed(sender, kind, error, sentAtMs);
    throw error;
  } finally {
    countOthers(sender);
  }
}

/** Learns what the source's upstream is, by requests that its adapter sends on its own. */
export async function sendDescribe(
  sender: Sender,
  work: () => Promise<UpstreamDescription>,
): Promise<UpstreamDescription> {
  const { token, limits } = sender;
  token.reserved += MOST_TO_DESCRIBE;
  let sentAtMs = 0;
  try {
    await makeRoom(token, 0);
    sentAtMs = token.clock.monotonic();
    const description = await work();
    if (countOthers(sender) > 0) token.breaker.answered();
    describe(limits, description);
    return description;
  } catch (error) {
    countOthers(sender);
    failed(sender, 'page', error, sentAtMs);
    throw error;
  } finally {
    token.reserved -= MOST_TO_DESCRIBE;
  }
}

/** Learns from what broke a request off. */
export function failed({ token, limits }: Sender, kind: RequestKind, error: unknown, sentAtMs: number): void {
  if (!(error instanceof UpstreamError)) return;
  const { code, endpoint, guessed, retryAtMs = 0 } = error;
  if (code === 'UNAVAILABLE') token.breaker.failed(error, sentAtMs);
  else token.breaker.answered();
  if (kind === 'byId' && (code === 'UNAUTHORIZED' || code === 'FORBIDDEN'))
    token.byIdRefusedUntilMs = token.clock.monotonic() + BY_ID_REFUSED_MS;
  if (code !== 'RATE_LIMITED') return;
  sent.refused(limits, kind, { endpoint, guessed, retryInMs: retryAtMs - token.clock.now(), sentAtMs });
}

/** Counts what the adapter sent on its own; returns how many. */
export function countOthers(sender: Sender): number {
  const others = sent.countOthers(sender.limits);
  count(sender, others);
  return others;
}

function count(sender: Sender, requests: number): void {
  sender.sent += requests;
  sender.token.unsaved += requests;
}

/** How long a request has to wait yet. Throws where it must not be sent at all, or not so soon. */
function pauseMs(sender: Sender, { pool, kind, signal }: Sending): number {
  const { token, limits } = sender;
  const { host } = limits.source;
  if (signal.aborted) throw new UpstreamError('UNAVAILABLE', 'the request was broken off');
  if (!isOwner(token)) throw new UpstreamError('UNAVAILABLE', `this gateway does not ask ${host} any more`);
  const waitMs = allowedInMs(sender, kind, pool);
  if (waitMs <= LONGEST_PAUSE_MS) return waitMs;
  const retryAtMs = token.clock.now() + waitMs;
  throw new UpstreamError('RATE_LIMITED', `all requests that ${host} allows are spent`, { retryAtMs });
}

function allowedInMs({ limits }: Sender, kind: RequestKind, pool: Pool): number {
  return Math.max(toldMs(limits, kind), countedMs(limits, kind, pool));
}

/** ms until the settings allow posts again. */
function usedUpMs({ day }: Sender, kind: JobKind): number {
  return day !== undefined && day.left(kind) === 0 ? day.nextDayMs() : 0;
}
