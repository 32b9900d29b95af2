import type { Want } from '../dispatch/dispatcher.ts';
import type { WorkerParts } from './parts.ts';

const NEVER = Number.POSITIVE_INFINITY;
/** Where polls take longer than the least interval, the next one is due at once: after so many the rest has a turn all the same. */
const MOST_POLLS_IN_A_ROW = 3;

/** What a source wants to do next, in order of preference. */
export function wantsOf(parts: WorkerParts): readonly Want[] {
  const { state, schedule, failures, repairs, rescans } = parts;
  if (state.isStopped || !state.isAdopted) return [];
  const isWatched = state.isAsked || schedule.isWatched();
  const pollMs = pollInMs(parts);
  const fillMs = fillInMs(parts);
  const isQuiet = !isPolledByItself(parts) || failures.isFailing() || failures.lastPolledAtMs() === undefined;
  const restMs = isQuiet ? NEVER : rescans.leftMs();
  const poll: Want = { kind: 'poll', pool: 'poll', dueInMs: pollMs, isPreferred: isWatched, request: 'page' };
  const fill: Want = { kind: 'fill', pool: 'repair', dueInMs: fillMs, isPreferred: true, request: 'page' };
  // Nothing is read before the token's account is known to be the log's: a poll asks.
  if (!state.isConfirmed) return [poll];
  const repair = { pool: 'repair', isPreferred: false } as const;
  const rest: readonly Want[] = [
    { ...repair, kind: 'confirm', dueInMs: Math.max(restMs, repairs.confirmInMs()), request: 'byId' },
    { ...repair, kind: 'rescan', dueInMs: Math.max(restMs, repairs.rescanInMs()), request: 'page' },
  ];
  // An open gap goes before its source's next poll, out of the poll's own part; then the poll.
  const isGapFirst = pollMs === 0 && fillMs === 0 && state.lastJob !== 'fill' && state.lastJob !== undefined;
  if (isGapFirst) return [{ ...fill, pool: 'poll', isPreferred: isWatched }, ...rest];
  return state.pollsInARow < MOST_POLLS_IN_A_ROW ? [poll, fill, ...rest] : [fill, ...rest, poll];
}

/** ms until the source itself wants to be polled. */
export function pollInMs(parts: WorkerParts): number {
  const { state, schedule, failures } = parts;
  if (!state.isAsked && !isPolledByItself(parts)) return NEVER;
  const youngMs = state.isAsked || failures.isFailing() ? schedule.youngMs() : schedule.dueMs();
  return Math.max(youngMs, failures.leftMs());
}

function fillInMs(parts: WorkerParts): number {
  const { state, fills } = parts;
  return state.hasGap && (isPolledByItself(parts) || state.mayFill) ? fills.leftMs() : NEVER;
}

function isPolledByItself({ context }: WorkerParts): boolean {
  return context.source.polling.pollWhen === 'always';
}
