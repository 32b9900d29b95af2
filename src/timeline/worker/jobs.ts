import { UpstreamError } from '../../errors.ts';
import type { LogState } from '../../stores/timeline-store.ts';
import { openFills } from '../ingest/gaps.ts';
import type { JobKind } from '../limits/pools.ts';
import { type Polled, poll } from '../poll/poll.ts';
import { fillGap } from '../repair/fill-gap.ts';
import type { WorkerParts } from './parts.ts';
import { pollInMs } from './wants.ts';

/** Before a page that was answered with 401 is asked once more. */
const CONFIRM_MS = 1000;

/** One poll, and what follows for the source. Never throws. */
export async function runPoll(parts: WorkerParts): Promise<void> {
  const { state, coalescer, schedule, failures, repairs, trimmer } = parts;
  state.isAsked = false;
  coalescer.began();
  schedule.began();
  failures.began();
  try {
    await confirmAccount(parts);
    const polled = await pollTwiceIfRefused(parts);
    noteGaps(parts, polled.state);
    state.mayFill = true;
    repairs.polled(polled.requests);
    await failures.polled(polled);
    await trimmer.afterCommit(polled.appended);
  } catch (error) {
    if (isOurs(state)) await failures.pollFailed(error);
  } finally {
    coalescer.ended();
  }
}

/** One page of a gap or a rescan, or one request by id. Never throws. */
export async function runRepair(parts: WorkerParts, kind: Exclude<JobKind, 'poll'>): Promise<void> {
  const { context, state, failures, fills, rescans, repairs, trimmer } = parts;
  const retry = kind === 'fill' ? fills : rescans;
  if (kind === 'fill') state.mayFill = false;
  try {
    const pool = pollInMs(parts) === 0 ? 'poll' : 'repair';
    const done = await (kind === 'fill' ? fillGap(context, pool) : repairs[kind]());
    retry.succeeded();
    if (kind === 'fill') state.hasGap = false;
    if (done) noteGaps(parts, done.state);
    // Where nothing tells how much is allowed, a gap is not worth more requests than the polls.
    if (kind === 'fill' && context.notes.rateLimit === undefined) retry.rest(context.source.polling.minIntervalMs);
    await failures.repaired(kind);
    await trimmer.afterCommit(done?.appended ?? 0);
  } catch (error) {
    if (!isOurs(state)) return;
    retry.failed(error);
    await failures.repaired(kind, error);
  }
}

/** What breaks off because another gateway took the token is no failure of the source. */
function isOurs({ isStopped, isAdopted }: WorkerParts['state']): boolean {
  return !isStopped && isAdopted;
}

export function noteGaps({ state }: WorkerParts, { gaps }: LogState): void {
  state.hasGap = openFills(gaps).length > 0;
}

/** Nothing of another account may get into the log: before the first page. */
async function confirmAccount({ context, state }: WorkerParts): Promise<void> {
  if (state.isConfirmed) return;
  await context.source.confirmAccount?.(context.signal);
  state.isConfirmed = true;
}

/** A 401 may be a stray one: asked once more before it is believed. */
async function pollTwiceIfRefused({ context, failures }: WorkerParts): Promise<Polled> {
  try {
    return await poll(context);
  } catch (error) {
    const isRefused = error instanceof UpstreamError && error.code === 'UNAUTHORIZED';
    if (!isRefused || failures.isStopped()) throw error;
    await context.clock.sleep(CONFIRM_MS, context.signal);
    return poll(context);
  }
}
