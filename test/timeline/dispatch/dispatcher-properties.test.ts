import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { UpstreamError } from '../../../src/errors.ts';
import type { Ownership } from '../../../src/timeline/dispatch/ownership.ts';
import type { Told } from '../../../src/timeline/limits/source-limits.ts';
import type { NamedLimit } from '../../../src/upstreams/upstream.ts';
import { createVirtualClock, type VirtualClock } from '../../virtual-clock.ts';
import { createGateway, type Gateway, never, settle, type TestSource } from './harness.ts';
import { createMemoryStores, type MemoryStores } from './memory-stores.ts';

interface Limit {
  readonly limit: number;
  readonly windowMs: number;
  /** Where its windows begin. */
  readonly offsetMs: number;
}

interface Guest {
  readonly pages: number;
  readonly thinkMs: number;
  readonly isWatched: boolean;
  readonly readsById: boolean;
  /** It fills gaps, too. */
  readonly fills: boolean;
}

interface World {
  readonly limits: readonly Limit[];
  readonly guests: readonly Guest[];
  /** How long requests are on their way to the server, by turns; replies take as long. */
  readonly latenciesMs: readonly number[];
  /** What becomes of requests, by turns. They count whatever comes of them. */
  readonly fates: readonly ('answered' | 'lost' | 'refused')[];
  readonly aheadMs: number;
  /** Steps of the local clocks, 10 min apart. */
  readonly stepsMs: readonly number[];
  readonly isThrottled: boolean;
  /** What happens to the one of two gateways that dispatches, at times in ms; one that ends is followed by a new one. */
  readonly blows: readonly {
    readonly atMs: number;
    readonly kind: 'kill' | 'stop' | 'pause' | 'outage';
    readonly lastsMs: number;
  }[];
}

const THROTTLE = { requests: 40, windowMs: 300_000, counts: 'pages' } as const;
/** Long enough for the last of five in line, where one that is watched has three turns of four. */
const RUN_MS = 7_200_000;

const limit = fc.record({
  limit: fc.integer({ min: 6, max: 60 }),
  windowMs: fc.constantFrom(60_000, 300_000, 900_000),
  offsetMs: fc.integer({ min: 0, max: 900_000 }),
});
const guest = fc.record({
  pages: fc.integer({ min: 1, max: 6 }),
  thinkMs: fc.constantFrom(1000, 5000, 30_000),
  isWatched: fc.boolean(),
  readsById: fc.boolean(),
  fills: fc.boolean(),
});
const blow = fc.record({
  atMs: fc.integer({ min: 0, max: RUN_MS / 2 }),
  kind: fc.constantFrom('kill', 'stop', 'pause', 'outage'),
  lastsMs: fc.constantFrom(100, 4000, 7000, 60_000),
});
const world = (blows: fc.Arbitrary<World['blows']>): fc.Arbitrary<World> =>
  fc.record({
    limits: fc.uniqueArray(limit, { minLength: 1, maxLength: 3, selector: (each) => each.limit }),
    guests: fc.array(guest, { minLength: 1, maxLength: 5 }),
    latenciesMs: fc.array(fc.constantFrom(0, 20, 300, 4000), { minLength: 1, maxLength: 5 }),
    fates: fc.array(fc.constantFrom('answered', 'answered', 'answered', 'lost', 'refused'), {
      minLength: 1,
      maxLength: 9,
    }),
    aheadMs: fc.constantFrom(0, 123_456, -7_200_000),
    stepsMs: fc.array(fc.integer({ min: -5_000_000, max: 5_000_000 }), { maxLength: 5 }),
    isThrottled: fc.boolean(),
    blows,
  });

/** The second one's polls fall each time on what the first one fills with. */
const BUSY_WITH_FILLS: World = {
  limits: [{ limit: 6, windowMs: 60_000, offsetMs: 0 }],
  guests: [
    { pages: 1, thinkMs: 1000, isWatched: false, readsById: false, fills: true },
    { pages: 1, thinkMs: 1000, isWatched: true, readsById: false, fills: false },
  ],
  ...{ latenciesMs: [300, 4000, 300, 20, 0], fates: ['answered'], aheadMs: 0, stepsMs: [0] },
  ...{ isThrottled: false, blows: [] },
};

/** A server that counts, and tells all its limits in all its replies but those that are lost. */
function createServer({ limits, latenciesMs, fates, aheadMs }: World, clock: VirtualClock) {
  const startMs = clock.now() + aheadMs;
  const nowMs = () => startMs + clock.elapsedMs;
  const used = new Map<string, number>();
  const broken: string[] = [];
  const pagesAtMs: number[] = [];
  let requests = 0;
  let isTold = false;

  function count(wasTold: boolean): readonly NamedLimit[] {
    return limits.map(({ limit, windowMs, offsetMs }) => {
      const window = Math.floor((nowMs() - offsetMs) / windowMs);
      const key = `${limit} in ${windowMs} ms, window ${window}`;
      const taken = (used.get(key) ?? 0) + 1;
      used.set(key, taken);
      if (wasTold && taken > limit) broken.push(`${key} at ${clock.elapsedMs}`);
      const resetAtMs = (window + 1) * windowMs + offsetMs;
      return { name: 'x-ratelimit', limit, remaining: Math.max(0, limit - taken), resetAtMs, endpoint: false };
    });
  }

  return {
    broken,
    pagesAtMs,
    /** Nobody who lives, nor what is kept, knows its limits. */
    forgotten() {
      isTold = false;
    },
    async answer(kind: 'page' | 'byId'): Promise<Told> {
      requests += 1;
      if (kind === 'page') pagesAtMs.push(clock.elapsedMs);
      const latencyMs = latenciesMs[requests % latenciesMs.length] ?? 0;
      const fate = fates[requests % fates.length];
      // What was sent before anything was told could not know.
      const wasTold = isTold;
      await clock.sleep(latencyMs);
      const told = count(wasTold);
      const serverDateMs = Math.floor(nowMs() / 1000) * 1000;
      await clock.sleep(latencyMs);
      if (fate === 'lost') throw new UpstreamError('UNAVAILABLE', 'answered 502', { status: 502 });
      if (fate === 'refused') throw new UpstreamError('GONE', 'answered 404', { status: 404 });
      isTold = true;
      return { limits: told, serverDateMs };
    },
  };
}

type Server = ReturnType<typeof createServer>;

/** Of a gateway that is the only one, and lives for ever. */
const ALONE: Ownership = {
  run: async () => {},
  stop: async () => {},
  owns: () => true,
  claim: ({ taken }) => taken(undefined),
  save: async () => true,
  read: async () => undefined,
};

/** A gateway whose sources poll, and think between their polls. */
function startGateway(
  each: World,
  clock: VirtualClock,
  stores: MemoryStores,
  server: Server,
  holder: string,
  polls: number[],
) {
  const throttles = each.isThrottled ? [THROTTLE] : [];
  const dueMs = new Map<TestSource, { poll: number; fill: number }>();
  const gateway: Gateway = createGateway(stores, clock, {
    holder,
    ...(each.blows.length === 0 && { ownership: ALONE }),
    sources: each.guests.map((guest, n) => ({
      throttles,
      async work({ send, mayGoOn, takeById, fetchedById }, kind) {
        const pool = kind === 'poll' ? 'poll' : 'repair';
        try {
          for (let page = 0; page < (kind === 'poll' ? guest.pages : 1) && (page === 0 || mayGoOn()); page += 1) {
            await send({ pool, kind: 'page', signal: never }, () => {
              if (kind === 'poll' && page === 0) polls[n] = (polls[n] ?? 0) + 1;
              return gateway.alive(() => server.answer('page'));
            });
          }
          if (guest.readsById && (await takeById(1)) === 1) {
            await gateway
              .alive(() => server.answer('byId'))
              .then(
                (told) => fetchedById({ requests: 1, told }),
                (error: unknown) => fetchedById({ requests: 1, error }),
              );
          }
        } catch (error) {
          if (!(error instanceof UpstreamError)) throw error;
        } finally {
          think(gateway.sources[n], guest, pool === 'poll' ? 'poll' : 'fill');
        }
      },
    })),
  });

  /** A fill does not put its source's poll off. */
  function think(source: TestSource | undefined, { thinkMs, fills, isWatched }: Guest, done: 'poll' | 'fill'): void {
    if (source === undefined) return;
    const dueAtMs = { ...(dueMs.get(source) ?? { poll: 0, fill: 0 }), [done]: clock.elapsedMs + thinkMs };
    dueMs.set(source, dueAtMs);
    const inMs = (kind: 'poll' | 'fill') => Math.max(0, dueAtMs[kind] - clock.elapsedMs);
    source.wanting = () => {
      const poll = { kind: 'poll' as const, dueInMs: inMs('poll'), isPreferred: isWatched };
      return fills ? [poll, { kind: 'fill' as const, dueInMs: inMs('fill') }] : [poll];
    };
  }

  for (const [n, source] of gateway.sources.entries()) think(source, each.guests[n] as Guest, 'poll');
  gateway.start();
  return gateway;
}

async function run(each: World) {
  const clock = createVirtualClock();
  const stores = createMemoryStores(clock);
  const server = createServer(each, clock);
  const polls = each.guests.map(() => 0);
  let started = 0;
  const start = () => startGateway(each, clock, stores, server, `gateway ${started++}`, polls);
  const size = each.blows.length === 0 ? 1 : 2;
  const gateways = Array.from({ length: size }, start);
  const resumes: (() => void)[] = [];

  async function strike({ kind, lastsMs }: World['blows'][number]): Promise<void> {
    const at = Math.max(
      0,
      gateways.findIndex(({ dispatcher }) => dispatcher.isOwner()),
    );
    const owner = gateways[at];
    if (owner === undefined) return;
    if (kind === 'outage') {
      stores.isOut = true;
      await clock.advance(lastsMs);
      stores.isOut = false;
      return;
    }
    if (kind === 'pause') {
      resumes.push(owner.pause());
      await clock.advance(lastsMs);
      resumes.pop()?.();
      return;
    }
    if (kind === 'stop') {
      const stopped = owner.stop();
      await clock.advance(60_000);
      await stopped;
    } else {
      owner.kill();
      // What it was told and could not keep any more is known to nobody.
      if (!stores.body('token:town')?.includes('"limit":')) server.forgotten();
    }
    gateways[at] = start();
  }

  for (const stepMs of [...each.stepsMs, 0]) {
    clock.step(stepMs);
    await clock.advance(600_000);
  }
  const fromMs = clock.elapsedMs;
  for (const blow of each.blows.toSorted((a, b) => a.atMs - b.atMs)) {
    await clock.advance(Math.max(0, fromMs + blow.atMs - clock.elapsedMs));
    await strike(blow);
  }
  const later = polls.map((count) => count);
  for (const gateway of gateways.slice(1)) gateway.kill();
  await clock.advance(RUN_MS);
  await settle(clock);
  for (const gateway of gateways) gateway.kill();
  return { ...server, polls: polls.map((count, n) => count - (later[n] ?? 0)) };
}

async function check(each: World): Promise<void> {
  const { broken, pagesAtMs, polls } = await run(each);
  assert.deepEqual(broken, []);
  if (each.isThrottled) {
    const { requests, windowMs } = THROTTLE;
    const tooSoon = pagesAtMs.filter((atMs, n) => atMs - (pagesAtMs[n - requests] ?? -windowMs) < windowMs);
    assert.deepEqual(tooSoon, []);
  }
  assert.ok(Math.min(...polls) > 0, `polls ${polls}`);
}

describe('the dispatcher, whatever comes', () => {
  it('never sends more than a limit that was told, or is known, allows; and starves no source', async () => {
    await fc.assert(fc.asyncProperty(world(fc.constant([])), check), {
      numRuns: 60,
      examples: [[BUSY_WITH_FILLS]],
    });
  });

  it('nor do two of one token, killed, stopped, standing still, without their store', async () => {
    const blows = fc.array(blow, { minLength: 1, maxLength: 6 });
    await fc.assert(fc.asyncProperty(world(blows), check), { numRuns: 8 });
  });
});
