import { randomBytes, randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { createCandidates } from './candidates.ts';
import type { Clock } from './clock.ts';
import type { Settings } from './config.ts';
import { createForYou, type ForYou } from './feed/for-you.ts';
import { createTurns } from './feed/turns.ts';
import { createFeedWatch } from './feed/watch.ts';
import { resolveHomeLogs } from './home-logs.ts';
import { createIdService } from './id-service.ts';
import { createStoryKeys } from './ids/story-key.ts';
import { createTokens } from './ids/tokens.ts';
import { keepNamedLogs } from './kept-logs.ts';
import { createHydrator } from './loaders.ts';
import { createRecommender } from './recommenders/registry.ts';
import { createServer, type GraphqlServer } from './server.ts';
import type { Source } from './source.ts';
import { buildSources } from './sources.ts';
import { openStore } from './stores/registry.ts';
import type { Store } from './stores/store.ts';
import { createPollers } from './timeline/pollers.ts';
import { createTimelineReader } from './timeline/reader/read.ts';
import { createHttpClient } from './upstreams/http.ts';

/** The composition root: everything that one gateway is made of, built from checked settings. Does not listen. */
export interface Gateway {
  readonly handler: RequestListener;
  readonly server: GraphqlServer;
  readonly sources: readonly Source[];
  readonly store: Store;
  readonly forYou: ForYou;
  /** Starts the sources' loops and the deleting of what expired. */
  start(): void;
  /** Ends the loops and the deleting: after it, nothing but requests uses the store. */
  stop(): Promise<void>;
  /** What is left to close after `closeGracefully`: the connections to upstreams. */
  close(): Promise<void>;
}

const DELETE_INTERVAL_MS = 60_000;

/** Throws ConfigError, StoreUnavailableError. */
export async function createGateway(deps: {
  settings: Settings;
  clock: Clock;
  version: string;
  log: (line: string) => void;
}): Promise<Gateway> {
  const { settings, clock, version, log } = deps;
  const store = await openStore(settings.store, { clock, log });
  const http = createHttpClient({ version, clock });
  const sources = await resolveHomeLogs(buildSources(settings, { http, clock }), { notes: store.notes, clock, log });

  const holder = randomUUID();
  const pollers = createPollers({
    sources,
    store,
    clock,
    holder,
    keep: settings.timeline,
    log,
  });
  const { maxWaitMs } = settings.polling;
  const keepMs = settings.timeline.keepHours * 3_600_000;
  const timeline = createTimelineReader({ store, refresh: pollers.refresh, clock, maxWaitMs, keepMs });
  const candidates = createCandidates({ store, sources, refresh: pollers.refresh, clock, maxWaitMs });
  const hydrator = createHydrator({ ...store, sources, ...pollers.readsById, clock, budgetWaitMs: maxWaitMs });
  const hosts = new Set(sources.map(({ host }) => host));
  const watch = createFeedWatch(log);
  const keys = await tokenKeys(settings, store);
  const forYou = createForYou({
    watch,
    turns: createTurns({ leases: store.leases, clock, holder }),
    feeds: store.feeds,
    recommender: createRecommender(settings.forYou.recommender),
    local: createRecommender({ kind: 'local' }),
    storyKeys: createStoryKeys(keys),
    clock,
    settings: settings.forYou,
    hasHost: (host) => hosts.has(host),
    log,
  });
  const ids = settings.ids.enabled ? createIdService({ generators: store.generators, clock, holder, log }) : undefined;
  const tokens = createTokens(keys);
  const server = createServer({
    settings,
    sources,
    store,
    tokens,
    timeline,
    forYou,
    hydrator,
    candidates,
    watch,
    ids,
    clock,
    version,
    loopsStarted: () => started,
    log,
  });

  let started = false;
  const stopped = new AbortController();
  let deleting: Promise<void> | undefined;
  let naming: Promise<void> | undefined;
  let issuing: Promise<void> | undefined;
  return {
    handler: server.handler,
    server,
    sources,
    store,
    forYou,
    start() {
      pollers.start();
      started = true;
      issuing = ids?.run();
      deleting = deleteNowAndThen(store, clock, stopped.signal, log);
      const keepMs = settings.timeline.keepHours * 3_600_000;
      naming = keepNamedLogs({ ...store, sources, clock, keepMs, signal: stopped.signal, log });
    },
    async stop() {
      stopped.abort();
      ids?.stop();
      await Promise.all([pollers.stop(), deleting, naming, issuing]);
    },
    close: () => http.close(),
  };
}

async function tokenKeys(settings: Settings, store: Store): Promise<readonly Buffer[]> {
  if (settings.tokens.keys.length > 0) return settings.tokens.keys;
  return [await store.secrets.getOrCreate('tokens', randomBytes(32))];
}

async function deleteNowAndThen(store: Store, clock: Clock, signal: AbortSignal, log: (line: string) => void) {
  while (!signal.aborted) {
    await clock.sleep(DELETE_INTERVAL_MS, signal);
    try {
      while (!signal.aborted && (await store.deleteExpired(clock.now())));
    } catch (error) {
      log(`deleting what has expired failed, next try in ${DELETE_INTERVAL_MS / 1000} s: ${(error as Error).message}`);
    }
  }
}
