import { UpstreamError } from '../errors.ts';
import { arrivalMs, type IdScheme } from '../ids/id-scheme.ts';
import type { SweepState, SweepWalk } from '../stores/sweep-state.ts';
import type { LogState } from '../stores/timeline-store.ts';
import { type Committed, commitSifted } from './commit.ts';
import { createDue } from './due.ts';
import { schemeOf } from './history.ts';
import { describe, type Reading, readPage } from './reading.ts';
import { NOTHING_SIFTED } from './sift.ts';
import { isToAsk } from './suspects.ts';
import { askSuspects } from './sweep-by-id.ts';
import { type SweptPage, siftSweptPage } from './sweep-page.ts';
import { caughtUp, dueInMs, dueStretch, newRounds } from './sweep-rounds.ts';
import type { Sweeping } from './sweeping.ts';

/** Re-reads what is there already, for what polls cannot see: very late posts, edits without a date, removals, counts. */
export interface Sweeper {
  /** How many ms until the next request is worth it; what the budget allows is the loop's to ask. */
  dueInMs(): number;
  /** One page, or one request by id, in one commit; undefined when there was nothing to do. Throws UpstreamError, StoreUnavailableError. */
  step(): Promise<Committed | undefined>;
  /** Polls earn sweeps: how many requests a poll took. */
  polled(requests: number): void;
}

/** Sweep requests that a poll's request earns: where sweeps find nothing, and at most. */
const LEAST_EARNED = 0.1;
const MOST_EARNED = 0.35;
/** New posts a page at which sweeps earn the most. */
const MOST_FOUND = 4;
const MOST_CREDIT = 20;
/** After so many refusals or empty pages in a row a walk is given up; the next one begins anew. */
const MOST_TRIES = 3;

/** Sweeps cost at most a tenth of what polls do, a third while they find much, but one request an interval is always theirs. */
export function createSweeper(reading: Reading): Sweeper {
  const { source, clock } = reading;
  const { sweepIntervalMs } = source.polling;
  const work = createDue(clock);
  const grant = createDue(clock);
  grant.set(sweepIntervalMs);
  let credit = 0;
  let foundPerPage = 0;

  function pay(): void {
    if (credit >= 1) credit -= 1;
    grant.set(sweepIntervalMs);
  }

  return {
    dueInMs: () => Math.max(work.leftMs(), credit >= 1 ? 0 : grant.leftMs()),
    polled(requests) {
      const earned = LEAST_EARNED + (MOST_EARNED - LEAST_EARNED) * Math.min(1, foundPerPage / MOST_FOUND);
      credit = Math.min(MOST_CREDIT, credit + requests * earned);
    },
    async step() {
      const sweeping = await prepare(reading);
      if (sweeping === undefined) {
        work.set(sweepIntervalMs);
        return undefined;
      }
      const { sweep, nowMs } = sweeping;
      const asking = suspectsToAsk(sweeping);
      const from = sweep.walk ?? (await nextWalk(sweeping));
      if (asking.length === 0 && from === undefined) {
        work.set(Math.max(1000, dueInMs(sweep.sweptMs, { nowMs, sweepIntervalMs })));
        return undefined;
      }
      pay();
      if (asking.length > 0) return askSuspects(sweeping, asking);
      const swept = from && (await readOn(sweeping, from));
      if (swept) foundPerPage += (swept.appended - foundPerPage) / 5;
      return swept;
    },
  };
}

async function prepare(reading: Reading): Promise<Sweeping | undefined> {
  const { source, store, clock, serverClock } = reading;
  const state = await store.timelines.readLog(source.logId);
  if (state.counts.posts === 0) return undefined;
  const description = await describe(reading);
  const scheme = schemeOf(state, source.polling.idScheme ?? description.idScheme);
  const nowMs = Math.floor(scheme.name === 'opaque' ? clock.now() : serverClock.now());
  const floorMs = beginMs(state, scheme);
  const kept = (await store.timelines.readSweep(source.logId)) ?? {
    sweptMs: newRounds(floorMs),
    suspects: [],
    alive: [],
  };
  const { sweepIntervalMs } = source.polling;
  const sweep = { ...kept, sweptMs: caughtUp(kept.sweptMs, { nowMs, sweepIntervalMs, floorMs }) };
  return { reading, state, sweep, scheme, description, nowMs };
}

/** Where the log's history begins. */
function beginMs({ memory = {} }: LogState, scheme: IdScheme): number {
  const { beginId, beginMs = 1, historyKey } = memory;
  if (scheme.name === 'opaque' && historyKey !== undefined) return arrivalMs(historyKey) - 1;
  return ((beginId === undefined ? undefined : scheme.timeMs(beginId)) ?? Number(beginMs)) - 1;
}

function suspectsToAsk({ reading, sweep, description }: Sweeping): SweepState['suspects'] {
  const { source, clock, notes } = reading;
  const { credentialId, polling } = source;
  const at = { nowMs: clock.now(), sweepIntervalMs: polling.sweepIntervalMs, credentialId, provenAtMs: notes.readAtMs };
  return sweep.suspects.filter((each) => isToAsk(each, at)).slice(0, description.bulk);
}

/** Where the next page is read, and how far down the walk goes. */
type Walking = SweepWalk & { readonly before?: string | undefined };

async function nextWalk({ reading, sweep, scheme, description, nowMs }: Sweeping): Promise<Walking | undefined> {
  const { source, store } = reading;
  const { sweepIntervalMs } = source.polling;
  const stretch = dueStretch(sweep.sweptMs, { nowMs, sweepIntervalMs });
  if (stretch === undefined) return undefined;
  const { topMs, toMs } = stretch;
  const before = description.before ? scheme.floor(topMs + 1) : undefined;
  const walk = { toMs, startedAtMs: nowMs };
  if (before === undefined) return walk;
  // Where few posts are newer, one page from the top serves all rounds.
  const limit = Math.ceil(description.pageSize / 2);
  const newer = await store.timelines.knownBetween({ logId: source.logId, above: scheme.orderKey(before), limit });
  return newer.length < limit ? walk : { ...walk, topMs, before, lowestKey: scheme.orderKey(before) };
}

async function readOn(sweeping: Sweeping, walking: Walking): Promise<Committed> {
  const { reading, sweep, state } = sweeping;
  const { next, before, ...walk } = walking;
  const nowMs = () => reading.clock.now();
  const again = (tries: number): SweepState['walk'] =>
    next === undefined || tries >= MOST_TRIES ? undefined : { ...walk, next, tries };

  let swept: SweptPage;
  try {
    const page = await readPage(reading, 'sweep', { next, before });
    if (page.partial) {
      const kept = { ...sweep, walk: again((walk.tries ?? 0) + 1) };
      return commitSifted(reading, { state, sifted: NOTHING_SIFTED, nowMs: nowMs(), sweep: kept });
    }
    swept = await siftSweptPage(sweeping, walk, page);
  } catch (error) {
    // What `next` named is gone, or its token too old: asking again changes nothing.
    const isRefused = error instanceof UpstreamError && [400, 404, 410, 422].includes(error.status ?? 0);
    if (!isRefused || next === undefined) throw error;
    const kept = { ...sweep, walk: again((walk.tries ?? 0) + 1) };
    return commitSifted(reading, { state, sifted: NOTHING_SIFTED, nowMs: nowMs(), sweep: kept });
  }
  return commitSifted(reading, { state, sifted: swept.sifted, nowMs: swept.nowMs, sweep: swept.sweep });
}
