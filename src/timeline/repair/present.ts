import type { DeletionCandidate } from '../../stores/repair-state.ts';
import { openLog } from '../poll/poll.ts';
import type { SourceContext } from '../walk/source-context.ts';
import type { WalkedLog } from '../walk/stretch.ts';
import { type Court, isToAsk } from './candidates.ts';
import type { Rescanned } from './rescan.ts';
import { caughtUp, newRounds } from './rescan-rounds.ts';

/** How far rescans have come, and whom they miss; undefined while the log is empty. Throws UpstreamError, StoreUnavailableError. */
export async function openRepair(context: SourceContext): Promise<Rescanned | undefined> {
  const { source, clock, serverClock, store, notes } = context;
  const { sweepIntervalMs } = source.polling;
  const log = await openLog(context);
  if (log.state.counts.posts === 0) return undefined;
  const nowMs = Math.floor(log.scheme.isOrdered ? serverClock.now() : clock.now());
  const floorMs = beginMs(log);
  const kept = await store.timelines.readRepair(source.logId);
  const { rescannedMs: keptMs, ...rest } = kept ?? { rescannedMs: newRounds(floorMs), candidates: [] };
  const doneMs = keptMs.map((markMs, round) => Math.max(markMs, notes.rescannedMs?.[round] ?? 0));
  const repair = { ...rest, rescannedMs: caughtUp(doneMs, { nowMs, sweepIntervalMs, floorMs }) };
  return { log, repair, kept, court: presentCourt(context), keyNowMs: nowMs };
}

/** What decides about evidence now. */
export function presentCourt({ source, clock, requests, notes }: SourceContext): Court {
  const judgesById = notes.description?.aliveById !== false && requests.mayReadById();
  const { credentialId, polling } = source;
  return { nowMs: clock.now(), sweepIntervalMs: polling.sweepIntervalMs, credentialId, judgesById };
}

/** Those of the candidates whom the upstream is to be asked for by id. */
export function toAsk(
  { notes }: SourceContext,
  candidates: readonly DeletionCandidate[],
  court: Court,
): readonly DeletionCandidate[] {
  return candidates.filter((each) => isToAsk(each, { ...court, provenAtMs: notes.readAtMs }));
}

/** Where the log's history begins, in the time of order keys. */
function beginMs({ state, scheme }: WalkedLog): number {
  return ((state.floorKey === undefined ? undefined : scheme.keyTimeMs(state.floorKey)) ?? 1) - 1;
}
