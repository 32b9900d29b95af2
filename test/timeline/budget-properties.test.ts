import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { UpstreamError } from '../../src/errors.ts';
import type { Told } from '../../src/timeline/allowance.ts';
import type { Seat } from '../../src/timeline/seat.ts';
import type { NamedLimit } from '../../src/upstreams/upstream.ts';
import { createVirtualClock, type VirtualClock } from '../virtual-clock.ts';
import { createDesk, never } from './budget-desk.ts';

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
}

interface World {
  readonly limits: readonly Limit[];
  readonly guests: readonly Guest[];
  /** How long requests are on their way to the server, by turns; replies take as long. */
  readonly latenciesMs: readonly number[];
  /** What becomes of requests, by turns. They count whatever comes of them. */
  readonly fates: readonly ('answered' | 'lost' | 'refused')[];
  readonly aheadMs: number;
  /** Steps of the local clock, 10 min apart. */
  readonly stepsMs: readonly number[];
  readonly isThrottled: boolean;
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
});
const world: fc.Arbitrary<World> = fc.record({
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
});

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
      if (wasTold && taken > limit) broken.push(key);
      const resetAtMs = (window + 1) * windowMs + offsetMs;
      return { name: 'x-ratelimit', limit, remaining: Math.max(0, limit - taken), resetAtMs, endpoint: false };
    });
  }

  return {
    broken,
    pagesAtMs,
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

async function poll(seat: Seat, guest: Guest, answer: (kind: 'page' | 'byId') => Promise<Told>): Promise<void> {
  seat.take('poll');
  try {
    for (let page = 0; page < guest.pages && (page === 0 || seat.mayGoOn()); page += 1) {
      await seat.send({ share: 'poll', kind: 'page', signal: never }, () => answer('page'));
    }
    if (!guest.readsById || !seat.mayFetchById()) return;
    await answer('byId').then(
      (told) => seat.fetchedById({ requests: 1, told }),
      (error: unknown) => seat.fetchedById({ requests: 1, error }),
    );
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
  } finally {
    seat.done();
  }
}

async function run(world: World) {
  const clock = createVirtualClock();
  const desk = createDesk(clock);
  const server = createServer(world, clock);
  const throttles = world.isThrottled ? [THROTTLE] : [];
  const polls = world.guests.map(() => 0);
  const loops = world.guests.map(async (guest, n) => {
    const seat = await desk.seat({ throttles });
    let wake = new AbortController();
    seat.onChange(() => wake.abort());
    while (clock.elapsedMs < RUN_MS) {
      wake = new AbortController();
      const waitMs = seat.waitMs('poll', { queue: true, isPreferred: guest.isWatched });
      if (waitMs > 0) {
        await clock.sleep(Math.min(waitMs, 600_000), wake.signal);
        continue;
      }
      polls[n] = (polls[n] ?? 0) + 1;
      await poll(seat, guest, server.answer);
      await clock.sleep(guest.thinkMs);
    }
  });
  for (const stepMs of [...world.stepsMs, 0]) {
    clock.step(stepMs);
    await clock.advance(600_000);
  }
  await clock.advance(2 * RUN_MS);
  await Promise.all(loops);
  return { ...server, polls };
}

describe('the budget, whatever comes', () => {
  it('never sends more than a limit that was told, or is known, allows; and starves no source', async () => {
    await fc.assert(
      fc.asyncProperty(world, async (each) => {
        const { broken, pagesAtMs, polls } = await run(each);
        assert.deepEqual(broken, []);
        if (each.isThrottled) {
          const { requests, windowMs } = THROTTLE;
          const tooSoon = pagesAtMs.filter((atMs, n) => atMs - (pagesAtMs[n - requests] ?? -windowMs) < windowMs);
          assert.deepEqual(tooSoon, []);
        }
        assert.ok(Math.min(...polls) > 0, `polls ${polls}`);
      }),
      { numRuns: 60 },
    );
  });
});
