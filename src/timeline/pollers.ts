import type { Clock } from '../clock.ts';
import type { Source } from '../source.ts';
import type { Store } from '../stores/store.ts';
import type { FetchedPosts } from '../upstreams/upstream.ts';
import { type Budget, createBudget } from './budget.ts';
import { createDayCount } from './day-count.ts';
import { createLoop, type Loop } from './loop.ts';
import { createPace } from './pace.ts';
import { type Notes, type Reading, refusalOf } from './reading.ts';
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
  /** Spends one request of the budget's share for reads by id; false: serve from the record. `fetchedById` must follow. */
  mayFetchById(source: Source): boolean;
  /** What came of `requests` that `mayFetchById` allowed: posts, or what broke them off. */
  fetchedById(source: Source, outcome: { requests: number; fetched?: FetchedPosts | undefined; error?: unknown }): void;
}

/** Twitter’s and Mastodon’s home timelines fit; of a public one, 4,000 posts: minutes of the busiest servers. */
const MAX_PAGES_PER_POLL = 100;

/** Thousands of sources do not connect at the same moment. */
const STARTED_AT_ONCE = 100;
const START_EVERY_MS = 10;

/** Builds the loops, which begin with `start`. `holder` names this gateway and no other; `random` gives 0 to below 1, for jitter. */
export function createPollers(deps: {
  sources: readonly Source[];
  store: Pick<Store, 'timelines' | 'posts' | 'leases' | 'signals'>;
  clock: Clock;
  holder: string;
  keep: { keepHours: number; keepEntries: number; keepMegabytes?: number | undefined };
  log?: (line: string) => void;
  maxPagesPerPoll?: number;
  random?: () => number;
}): Pollers {
  const { sources, store, clock, holder, keep, log = () => {}, random = Math.random } = deps;
  const maxPages = deps.maxPagesPerPoll ?? MAX_PAGES_PER_POLL;
  const stopping = new AbortController();
  const budgets = new Map<string, Budget>();
  const loops = new Map<string, { loop: Loop; reading: Reading }>();
  let running: Promise<unknown> | undefined;
  let stopListening = () => {};

  function budgetOf({ credentialId }: Source): Budget {
    const budget = budgets.get(credentialId) ?? createBudget({ clock, random });
    budgets.set(credentialId, budget);
    return budget;
  }

  for (const source of sources) {
    if (loops.has(source.logId)) continue;
    const notes: Notes = { requests: 0, duplicatesDropped: 0 };
    const { maxPostsPerDay } = source.polling;
    const day = maxPostsPerDay === undefined ? undefined : createDayCount(maxPostsPerDay, clock.now);
    const reading: Reading = {
      source,
      store,
      clock,
      serverClock: createServerClock(clock),
      budget: budgetOf(source).seat(source, day),
      day,
      pace: createPace(clock),
      maxPages,
      holder,
      keepMs: keep.keepHours * 3_600_000,
      signal: stopping.signal,
      notes,
    };
    const pageSize = () => notes.description?.pageSize ?? 0;
    const trimmer = createTrimmer({ source, timelines: store.timelines, clock, keep, maxPages, pageSize });
    loops.set(source.logId, {
      loop: createLoop({ reading, leases: store.leases, trimmer, random, log }),
      reading,
    });
  }

  return {
    start() {
      if (running) return;
      stopListening = store.signals.listen((logId) => loops.get(logId)?.loop.called());
      const runs = [...loops.values()].map(async ({ loop }, n) => {
        const waitMs = Math.max(0, n - STARTED_AT_ONCE) * START_EVERY_MS;
        if (waitMs > 0) await clock.sleep(waitMs, stopping.signal);
        await loop.run();
      });
      running = Promise.all(runs);
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
      stopListening();
      for (const { loop } of loops.values()) loop.stop();
      await running;
    },
    mayFetchById: (source) => loops.get(source.logId)?.reading.budget.mayFetchById() ?? false,
    fetchedById(source, { requests, fetched, error }) {
      const reading = loops.get(source.logId)?.reading;
      reading?.day?.read(fetched?.posts.size ?? 0);
      reading?.budget.fetchedById({ requests, told: fetched, error: error ?? (fetched && refusalOf(fetched)) });
    },
  };
}
