import { UpstreamError } from '../src/errors.ts';
import type { BaselineRead } from '../src/experiment/baseline-pollers.ts';
import type { RateLimit, Upstream } from '../src/upstreams/upstream.ts';
import { createSimulatedServer, type SimulatedServer } from '../test/simulated-server.ts';
import type { VirtualClock } from '../test/virtual-clock.ts';
import type { FaultPlan } from './fault-plan.ts';
import type { Scenario } from './scenarios.ts';

export const PAGE_SIZE = 40;

/** A server of the lab: one timeline, and for every poller that asks a rate limit of its own. */
export interface LabServer {
  readonly simulated: SimulatedServer;
  /** As our gateway sees it. `isDead` breaks all off: a killed process hears nothing any more. */
  upstreamFor(options: { onPoll: () => Promise<void>; isDead: () => boolean; isFirst: () => boolean }): Upstream;
  /** As a baseline sees it. */
  readFor(name: string): BaselineRead;
  /** Requests of ours for pages and by id, 429s included. */
  readonly requests: number;
}

/** The server's clock starts with the run and is never set. */
export function createLabServer({ limit, scheme }: Scenario, faults: FaultPlan, clock: VirtualClock): LabServer {
  const simulated = createSimulatedServer({
    clock,
    scheme: scheme ?? 'mastodon',
    isOpaque: scheme === 'opaque',
    pageSize: PAGE_SIZE,
  });
  const ours = createLimiter(limit, simulated.now);
  let requests = 0;

  const isStorm = () => faults.storms.some(({ fromMs, toMs }) => clock.elapsedMs >= fromMs && clock.elapsedMs < toMs);

  /** What the headers say, in the local time in which adapters reckon without a `Date`. */
  function admit(limiter: Limiter): RateLimit {
    const rateLimit = limiter.take();
    if (rateLimit === undefined || isStorm()) {
      throw new UpstreamError('RATE_LIMITED', 'the lab answered 429', {
        status: 429,
        retryAtMs: clock.now() + (rateLimit === undefined ? limiter.resetInMs() : 30_000),
      });
    }
    return rateLimit;
  }

  return {
    simulated,
    get requests() {
      return requests;
    },
    upstreamFor({ onPoll, isDead, isFirst }) {
      const { upstream } = simulated;
      const never = new Promise<never>(() => {});
      return {
        describe: upstream.describe,
        async readPage(request) {
          if (isDead()) return never;
          const isTop = request.next === undefined && request.before === undefined;
          // The baselines poll at the very same moment. Sweeps have no since_id; nor need polls have one where ids are opaque.
          if (isTop && (request.sinceId !== undefined || isFirst() || scheme === 'opaque')) await onPoll();
          requests += 1;
          const rateLimit = admit(ours);
          const page = await upstream.readPage(request);
          return isDead() ? never : { ...page, rateLimit };
        },
        async fetchPosts(ids, signal) {
          if (isDead()) return never;
          requests += 1;
          const rateLimit = admit(ours);
          const fetched = await upstream.fetchPosts(ids, signal);
          return isDead() ? never : { ...fetched, rateLimit };
        },
      };
    },
    readFor() {
      const limiter = createLimiter(limit, simulated.now);
      return async ({ sinceId, next }) => {
        admit(limiter);
        const { posts, next: older } = simulated.timeline.page({ sinceId, maxId: next }, simulated.now());
        return { ids: posts.map(({ id }) => id), next: older };
      };
    },
  };
}

interface Limiter {
  /** Counts a request; undefined when the window allows no more. */
  take(): RateLimit | undefined;
  resetInMs(): number;
}

/** A fixed window, as Mastodon's. */
function createLimiter(limit: Scenario['limit'], now: () => number): Limiter {
  let window = -1;
  let taken = 0;
  const windowOf = () => Math.floor(now() / limit.windowMs);
  return {
    take() {
      if (windowOf() !== window) {
        window = windowOf();
        taken = 0;
      }
      if (taken >= limit.requests) return undefined;
      taken += 1;
      return { limit: limit.requests, remaining: limit.requests - taken, resetAtMs: (window + 1) * limit.windowMs };
    },
    resetInMs: () => (windowOf() + 1) * limit.windowMs - now(),
  };
}
