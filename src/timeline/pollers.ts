import type { Clock } from '../clock.ts';
import type { Source } from '../source.ts';
import type { Store } from '../stores/store.ts';
import { type Budget, createBudget } from './budget.ts';
import { createLoop, type Loop } from './loop.ts';
import { createPace } from './pace.ts';
import { type Notes, type Reading, throttleMs } from './reading.ts';
import { createServerClock } from './server-clock.ts';
import { createTrimmer } from './trim.ts';

/** The write side of timelines: one background loop a log. */
export interface Pollers {
  start(): void;
  /**
   * Wakes the loops of logs last polled more than their least interval ago, and waits at most `maxWaitMs` for their commits or
   * attempts. Gives the log ids that did not answer in time: they are STALE. Many callers share one poll. Never rejects.
   */
  refresh(logIds: readonly string[], maxWaitMs: number): Promise<ReadonlySet<string>>;
  /** Polls under way are committed or dropped whole, leases are let go. */
  stop(): Promise<void>;
  /** Spends from the budget's share for reads by id; false: serve from the record. */
  mayFetchById(source: Source): boolean;
}

/** Twitter's longest timelines fill four of them, Mastodon's home feed fits. */
const MAX_PAGES_PER_POLL = 25;

/** Builds the loops, which begin with `start`. `holder` names this gateway and no other; `random` gives 0 to below 1, for jitter. */
export function createPollers(deps: {
  sources: readonly Source[];
  store: Pick<Store, 'timelines' | 'posts' | 'leases'>;
  clock: Clock;
  holder: string;
  keep: { keepHours: number; keepEntries: number };
  log?: (line: string) => void;
  maxPagesPerPoll?: number;
  random?: () => number;
}): Pollers {
  const { sources, store, clock, holder, keep, log = () => {}, random = Math.random } = deps;
  const maxPages = deps.maxPagesPerPoll ?? MAX_PAGES_PER_POLL;
  const stopping = new AbortController();
  const budgets = new Map<string, Budget>();
  const loops = new Map<string, { loop: Loop; notes: Notes }>();
  let running: Promise<unknown> | undefined;

  function budgetOf({ credentialId }: Source): Budget {
    const budget = budgets.get(credentialId) ?? createBudget(clock);
    budgets.set(credentialId, budget);
    return budget;
  }

  for (const source of sources) {
    if (loops.has(source.logId)) continue;
    const notes: Notes = { requests: 0, duplicatesDropped: 0 };
    const reading: Reading = {
      source,
      store,
      clock,
      serverClock: createServerClock(clock),
      budget: budgetOf(source),
      pace: createPace(),
      maxPages,
      keepMs: keep.keepHours * 3_600_000,
      signal: stopping.signal,
      notes,
    };
    const pageSize = () => notes.description?.pageSize ?? 0;
    const trimmer = createTrimmer({ source, timelines: store.timelines, clock, keep, maxPages, pageSize });
    loops.set(source.logId, {
      loop: createLoop({ reading, leases: store.leases, holder, trimmer, random, log }),
      notes,
    });
  }

  return {
    start() {
      running ??= Promise.all([...loops.values()].map(({ loop }) => loop.run()));
    },
    async refresh(logIds, maxWaitMs) {
      const stale = new Set<string>();
      const refreshed = [...new Set(logIds)].map(async (logId) => {
        if (!(await loops.get(logId)?.loop.refresh(maxWaitMs))) stale.add(logId);
      });
      await Promise.all(refreshed);
      return stale;
    },
    async stop() {
      stopping.abort();
      for (const { loop } of loops.values()) loop.stop();
      await running;
    },
    mayFetchById(source) {
      const budget = budgetOf(source);
      if (budget.waitMs('byId') > 0) return false;
      budget.spend('byId', throttleMs(source, 'byId', loops.get(source.logId)?.notes.description));
      return true;
    },
  };
}
