import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../../../src/clock.ts';
import type { Source, SourcePolling } from '../../../src/source.ts';
import { createDispatcher, type Dispatcher, type Want } from '../../../src/timeline/dispatch/dispatcher.ts';
import { createOwnership, type Ownership } from '../../../src/timeline/dispatch/ownership.ts';
import type { Requests } from '../../../src/timeline/dispatch/requests.ts';
import type { JobKind } from '../../../src/timeline/limits/pools.ts';
import type { Told } from '../../../src/timeline/limits/source-limits.ts';
import type { KnownThrottle, RateLimit, Upstream } from '../../../src/upstreams/upstream.ts';
import { createVirtualClock, type VirtualClock } from '../../virtual-clock.ts';
import { createMemoryStores, type MemoryStores } from './memory-stores.ts';

export const never = new AbortController().signal;

export interface SourceOptions {
  readonly throttles?: readonly KnownThrottle[];
  readonly endpoint?: string;
  readonly polling?: Partial<SourcePolling>;
  readonly maxPostsPerDay?: number;
  readonly polledAgoMs?: number;
  readonly requestsSent?: () => number;
  readonly logId?: string;
  /** What a job does; one page by default. */
  readonly work?: (requests: Requests, kind: JobKind) => Promise<void>;
}

/** A source whose wants a test sets. */
export interface TestSource {
  readonly source: Source;
  readonly requests: Requests;
  /** What it wants now, in order; nothing at first. */
  wants: readonly (Partial<Want> & { kind: JobKind })[];
  /** The same, where it changes with time. */
  wanting: (() => TestSource['wants']) | undefined;
  /** It wants nothing more once it has done so many jobs. */
  mostJobs: number;
  /** How many pages a job of it reads. */
  pages: number;
  /** What its requests are answered with. */
  answer: () => Promise<Told>;
  readonly jobs: { kind: JobKind; atMs: number }[];
  readonly calls: ('adopt' | 'lost')[];
}

export interface Gateway {
  readonly dispatcher: Dispatcher;
  readonly ownership: Ownership;
  readonly sources: readonly TestSource[];
  start(): void;
  stop(): Promise<void>;
  /** As `kill -9`: nothing of it happens any more. */
  kill(): void;
  /** As SIGSTOP: nothing of it happens until the function that it returns is called. */
  pause(): () => void;
  /** What such a process waits for. */
  readonly alive: Mortal;
}

/** One gateway with the sources of one token. */
export function createGateway(
  stores: MemoryStores,
  clock: Clock,
  options: { holder?: string; token?: string; sources: readonly SourceOptions[]; ownership?: Ownership },
): Gateway {
  const own = mortal(stores, clock);
  const { holder = 'gateway', token = 'town' } = options;
  const ownership = options.ownership ?? createOwnership({ ...own.stores, clock: own.clock, holder });
  const dispatcher = createDispatcher({ token, ownership, ...own.stores, clock: own.clock, random: () => 0.5 });
  const sources = options.sources.map((each, n) => join({ dispatcher, ...own }, each, token, n));
  let running: Promise<void> | undefined;
  return {
    dispatcher,
    ownership,
    sources,
    start() {
      running = dispatcher.run();
      if (!options.ownership) void ownership.run();
    },
    async stop() {
      dispatcher.stop();
      await running;
      if (!options.ownership) await ownership.stop();
    },
    kill: own.kill,
    pause: own.pause,
    alive: own.alive,
  };
}

export interface Desk extends Gateway {
  readonly clock: VirtualClock;
  readonly stores: MemoryStores;
}

/** A gateway that dispatches already, alone. */
export async function createDesk(...sources: readonly SourceOptions[]): Promise<Desk> {
  const clock = createVirtualClock();
  const stores = createMemoryStores(clock);
  const gateway = createGateway(stores, clock, { sources: sources.length > 0 ? sources : [{}] });
  gateway.start();
  await settle(clock);
  return { ...gateway, clock, stores };
}

/** Runs all that need not wait for time. */
export async function settle(clock: VirtualClock): Promise<void> {
  for (let n = 0; n < 4; n += 1) {
    await setImmediate();
    await clock.advance(0);
  }
}

/** A limit as a reply tells it, with the reset so long from now. */
export function limitIn(clock: Clock, [limit, remaining, resetInMs]: readonly [number, number, number]): RateLimit {
  return { limit, remaining, resetAtMs: clock.now() + resetInMs };
}

/** A request of that pool, answered at once, outside of a job. */
export async function ask(source: TestSource, pool: 'poll' | 'repair', rateLimit?: RateLimit): Promise<void> {
  await source.requests.send({ pool, kind: 'page', signal: never }, async () => ({ rateLimit }));
}

/** One job of so many pages, when its turn has come. */
export async function takeTurn(
  desk: Pick<Desk, 'clock' | 'dispatcher'>,
  source: TestSource,
  kind: JobKind,
  pages = 1,
): Promise<void> {
  const before = source.jobs.length;
  source.pages = pages;
  source.mostJobs = before + 1;
  source.wants = [{ kind }];
  desk.dispatcher.wake();
  while (source.jobs.length === before) await desk.clock.advance(1);
  await settle(desk.clock);
  Object.assign(source, { wants: [], pages: 1, mostJobs: Number.POSITIVE_INFINITY });
}

/** How many jobs of that kind it does in `ms`, each as soon as it may. */
export async function doneWithin(desk: Desk, source: TestSource, kind: JobKind, ms: number): Promise<number> {
  const before = source.jobs.length;
  source.wants = [{ kind }];
  desk.dispatcher.wake();
  await desk.clock.advance(ms);
  source.wants = [];
  return source.jobs.length - before;
}

function join(
  { dispatcher, clock, alive }: { dispatcher: Dispatcher; clock: Clock; alive: Mortal },
  options: SourceOptions,
  token: string,
  n: number,
): TestSource {
  const unused = async () => {
    throw new Error('the dispatcher asks no upstream itself');
  };
  const { requestsSent, throttles = [], endpoint, maxPostsPerDay, polling, logId = `log-${token}-${n}` } = options;
  const upstream: Upstream = { describe: unused, readPage: unused, fetchPosts: unused };
  const source: Source = {
    key: `${token}${n}`,
    logId,
    network: 'mastodon',
    host: 'town.example',
    url: 'https://town.example',
    timeline: 'public',
    audience: 'anyone',
    credentialId: token,
    upstream: { ...upstream, ...(requestsSent && { requestsSent }) },
    polling: { ...POLLING, ...polling },
  };
  const requests: Requests = dispatcher.join(
    {
      source,
      wants: () =>
        (one.jobs.length < one.mostJobs ? (one.wanting?.() ?? one.wants) : []).map((want) => ({
          ...DUE,
          pool: want.kind === 'poll' ? 'poll' : 'repair',
          ...want,
        })),
      polledAgoMs: () => options.polledAgoMs ?? 0,
      async work(kind) {
        one.jobs.push({ kind, atMs: clock.monotonic() });
        await work(requests, kind);
      },
      async adopt() {
        one.calls.push('adopt');
        requests.described(description);
      },
      lost: () => void one.calls.push('lost'),
    },
    { maxPostsPerDay },
  );
  const one: TestSource = {
    source,
    requests,
    wants: [],
    wanting: undefined,
    pages: 1,
    mostJobs: Number.POSITIVE_INFINITY,
    answer: async () => ({}),
    jobs: [],
    calls: [],
  };
  const description = {
    idScheme: 'opaque',
    roundsIds: false,
    pageSize: 40,
    sinceId: true,
    bulk: 1,
    throttles,
    endpoint,
  } as const;
  const work = options.work ?? readPages;

  async function readPages(_: Requests, kind: JobKind): Promise<void> {
    for (let page = 0; page < one.pages; page += 1) {
      const pool = kind === 'poll' ? 'poll' : 'repair';
      await requests.send({ pool, kind: 'page', signal: never }, () => alive(() => one.answer()));
    }
  }

  requests.described(description);
  return one;
}

const DUE = { dueInMs: 0, isPreferred: false, request: 'page' } as const;

const POLLING: SourcePolling = {
  minIntervalMs: 5000,
  idleIntervalMs: 60_000,
  sweepIntervalMs: 300_000,
  overlapMs: 5000,
  ownOverlap: false,
  overlap: 'latest',
  pollWhen: 'always',
  ownInterval: false,
};

type Mortal = <T>(work: () => Promise<T>) => Promise<T>;

/** The stores and the clock as a process has them that may end, or stand still, at any moment. */
function mortal(stores: MemoryStores, clock: Clock) {
  let isDead = false;
  let going: Promise<void> | undefined;
  const forEver = new Promise<never>(() => {});
  const alive: Mortal = async (work) => {
    if (going) await going;
    if (isDead) return forEver;
    const result = await work().then(
      (value) => () => value,
      (error: unknown) => () => {
        throw error;
      },
    );
    if (going) await going;
    return isDead ? forEver : result();
  };
  const port = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(_, name) {
        const method: unknown = Reflect.get(target, name);
        return typeof method === 'function' ? (...args: unknown[]) => alive(() => method.apply(target, args)) : method;
      },
    });
  return {
    alive,
    stores: { leases: port(stores.leases), notes: port(stores.notes), quotas: port(stores.quotas) },
    clock: {
      // Who is dead believes in nothing that it held.
      now: () => (isDead ? Number.NaN : clock.now()),
      monotonic: () => clock.monotonic(),
      sleep: (ms: number, signal?: AbortSignal) => alive(() => clock.sleep(ms, signal)),
    },
    kill() {
      isDead = true;
    },
    pause() {
      const { promise, resolve } = Promise.withResolvers<void>();
      going = promise;
      return () => {
        going = undefined;
        resolve();
      };
    },
  };
}
