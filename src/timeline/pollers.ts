import type { Clock } from '../clock.ts';
import type { PostId } from '../post.ts';
import type { Source } from '../source.ts';
import type { Store } from '../stores/store.ts';
import type { FetchedPosts } from '../upstreams/upstream.ts';
import { createDispatcher, type Dispatcher } from './dispatch/dispatcher.ts';
import { createOwnership } from './dispatch/ownership.ts';
import type { Requests } from './dispatch/requests.ts';
import { createPace } from './poll/pace.ts';
import { refusalOf } from './walk/ask.ts';
import { createServerClock } from './walk/server-clock.ts';
import type { Notes, SourceContext } from './walk/source-context.ts';
import { createTrimmer } from './worker/trim.ts';
import { createWorker, type SourceWorker } from './worker/worker.ts';

/** The write side of timelines: what is polled, and when. One dispatcher a token, one worker a log. */
export interface Pollers {
  start(): void;
  /**
   * Polls logs last polled more than their least interval ago, and waits at most `maxWaitMs` for their commits or attempts.
   * Returns the log ids that did not answer in time: they are STALE. Many callers share one poll. Never rejects.
   */
  refresh(logIds: readonly string[], maxWaitMs: number): Promise<ReadonlySet<string>>;
  /** Polls under way are committed or dropped whole, tokens are let go. */
  stop(): Promise<void>;
  readonly readsById: ReadsById;
}

/** Reads by id for pages: how many may be sent, what came of them, and what that means for the logs. */
export interface ReadsById {
  /** Takes up to `count` requests of the part for reads by id, of all gateways; returns how many. `fetchedById` must follow. Never rejects. */
  takeById(source: Source, count: number): Promise<number>;
  /** What came of `requests` that were taken, sent or not: posts, or what broke them off. */
  fetchedById(source: Source, outcome: { requests: number; fetched?: FetchedPosts | undefined; error?: unknown }): void;
  /** The upstream says that these posts are gone, which these logs show: they look into it. */
  foundGone(logIds: readonly string[], posts: readonly GonePost[]): void;
}

interface GonePost {
  readonly postId: PostId;
  readonly upstreamId: string;
}

/** Twitter’s and Mastodon’s home timelines fit; of a public one, 4,000 posts: minutes of the busiest servers. */
const MAX_PAGES_PER_POLL = 100;

/** Thousands of sources do not connect at the same moment. */
const STARTED_AT_ONCE = 100;
const START_EVERY_MS = 10;

export interface PollerDeps {
  readonly sources: readonly Source[];
  readonly store: Pick<Store, 'timelines' | 'posts' | 'leases' | 'signals' | 'notes' | 'quotas'>;
  readonly clock: Clock;
  /** Names this gateway and no other. */
  readonly holder: string;
  readonly keep: { keepHours: number; keepEntries: number; keepMegabytes?: number | undefined };
  readonly log?: (line: string) => void;
  readonly maxPagesPerPoll?: number;
  /** Returns 0 to below 1, for jitter. */
  readonly random?: () => number;
}

/** Builds the workers, which begin with `start`. */
export function createPollers(deps: PollerDeps): Pollers {
  const { sources, store, clock, random = Math.random } = deps;
  const stopping = new AbortController();
  const ownership = createOwnership({
    ...{ ...store, clock, holder: deps.holder },
    onFailure: (error) => {
      for (const { worker } of logs.values()) worker.storeFailed(error);
    },
  });
  const dispatchers = new Map<string, Dispatcher>();
  const logs = new Map<string, PolledLog>();
  let running: Promise<unknown> | undefined;
  let stopListening = () => {};

  function dispatcherOf({ credentialId: token }: Source): Dispatcher {
    const dispatcher =
      dispatchers.get(token) ?? createDispatcher({ token, ownership, quotas: store.quotas, clock, random });
    dispatchers.set(token, dispatcher);
    return dispatcher;
  }

  for (const source of sources) {
    if (logs.has(source.logId)) continue;
    logs.set(
      source.logId,
      createLog({ ...deps, random, source, dispatcher: dispatcherOf(source), signal: stopping.signal }),
    );
  }

  async function run(): Promise<void> {
    const each = [...dispatchers.values()].map(async (dispatcher, n) => {
      const waitMs = Math.max(0, n - STARTED_AT_ONCE) * START_EVERY_MS;
      if (waitMs > 0) await clock.sleep(waitMs, stopping.signal);
      await dispatcher.run();
    });
    const owning = ownership.run();
    await Promise.all(each);
    await ownership.stop();
    await owning;
  }

  return {
    start() {
      if (running) return;
      stopListening = store.signals.listen((logId) => logs.get(logId)?.worker.called());
      running = run();
    },
    async refresh(logIds, maxWaitMs) {
      const stale = new Set<string>();
      const refreshed = [...new Set(logIds)].map(async (logId) => {
        if (!(await logs.get(logId)?.worker.refresh(maxWaitMs))) stale.add(logId);
      });
      await Promise.all(refreshed);
      return stale;
    },
    async stop() {
      stopping.abort();
      stopListening();
      for (const { worker } of logs.values()) worker.stop();
      for (const dispatcher of dispatchers.values()) dispatcher.stop();
      await running;
    },
    readsById: readsByIdOf(logs),
  };
}

interface PolledLog {
  readonly worker: SourceWorker;
  readonly requests: Requests;
}

function createLog(
  deps: PollerDeps & { random: () => number; source: Source; dispatcher: Dispatcher; signal: AbortSignal },
): PolledLog {
  const { source, store, clock, keep, dispatcher, signal, random, log = () => {} } = deps;
  const { maxPagesPerPoll: maxPages = MAX_PAGES_PER_POLL } = deps;
  const notes: Notes = { requests: 0, duplicatesDropped: 0 };
  // The dispatcher asks the worker what it wants, and the worker sends through what the dispatcher gives it.
  let worker: SourceWorker | undefined;
  const requests = dispatcher.join(
    {
      source,
      wants: () => worker?.wants() ?? [],
      polledAgoMs: () => worker?.polledAgoMs() ?? 0,
      work: async (kind) => worker?.work(kind),
      adopt: async () => worker?.adopt(),
      lost: () => worker?.lost(),
    },
    { maxPostsPerDay: source.polling.maxPostsPerDay },
  );
  const context: SourceContext = {
    ...{ source, store, clock, requests, maxPages, signal, notes },
    serverClock: createServerClock(clock),
    pace: createPace(clock),
    keepMs: keep.keepHours * 3_600_000,
  };
  const pageSize = () => notes.description?.pageSize ?? 0;
  const trimmer = createTrimmer({ source, timelines: store.timelines, clock, keep, maxPages, pageSize });
  worker = createWorker({ context, trimmer, random, log, isOwner: dispatcher.isOwner, changed: dispatcher.wake });
  return { worker, requests };
}

function readsByIdOf(logs: ReadonlyMap<string, PolledLog>): ReadsById {
  return {
    async takeById({ logId }, count) {
      const log = logs.get(logId);
      return log?.worker.isConfirmed() ? log.requests.takeById(count) : 0;
    },
    fetchedById({ logId }, { requests, fetched, error }) {
      const failure = error ?? (fetched && refusalOf(fetched));
      logs
        .get(logId)
        ?.requests.fetchedById({ requests, told: fetched, error: failure, posts: fetched?.posts.size ?? 0 });
    },
    foundGone(logIds, posts) {
      for (const logId of logIds) void logs.get(logId)?.worker.foundGone(posts);
    },
  };
}
