import type { Source, SourcePolling } from '../../src/source.ts';
import { createBudget } from '../../src/timeline/budget.ts';
import type { DayCount } from '../../src/timeline/day-count.ts';
import type { Seat } from '../../src/timeline/seat.ts';
import type { Share } from '../../src/timeline/windows.ts';
import type { KnownThrottle, RateLimit, Upstream } from '../../src/upstreams/upstream.ts';
import { createVirtualClock, type VirtualClock } from '../virtual-clock.ts';
import { createSource } from './house.ts';

/** One token's budget and the sources that share it, with nothing behind them. */
export interface Desk {
  readonly clock: VirtualClock;
  seat(options?: SeatOptions): Promise<Seat>;
}

export interface SeatOptions {
  readonly throttles?: readonly KnownThrottle[];
  readonly endpoint?: string;
  readonly polling?: Partial<SourcePolling>;
  readonly day?: DayCount;
  readonly requestsSent?: () => number;
}

export const never = new AbortController().signal;

export function createDesk(clock = createVirtualClock()): Desk {
  const budget = createBudget({ clock, random: () => 0.5 });
  return {
    clock,
    async seat({ throttles = [], endpoint, polling, day, requestsSent } = {}) {
      const seat = budget.seat(sourceWith(requestsSent, polling), day);
      const unknown = { idScheme: 'opaque', roundsIds: false, pageSize: 40, sinceId: true, bulk: 1 } as const;
      await seat.describe(async () => ({ ...unknown, throttles, endpoint }));
      return seat;
    },
  };
}

/** A limit as a reply tells it, with the reset so long from now. */
export function limitIn(
  clock: VirtualClock,
  [limit, remaining, resetInMs]: readonly [number, number, number],
): RateLimit {
  return { limit, remaining, resetAtMs: clock.now() + resetInMs };
}

/** A request of that share that is answered at once. */
export async function ask(seat: Seat, share: Share, rateLimit?: RateLimit): Promise<void> {
  await seat.send({ share, kind: 'page', signal: never }, async () => ({ rateLimit }));
}

/** Work of so many pages, when its turn has come. */
export async function takeTurn(seat: Seat, share: Share, pages = 1): Promise<void> {
  seat.take(share);
  for (let page = 0; page < pages; page += 1) await ask(seat, share);
  seat.done();
}

function sourceWith(requestsSent: (() => number) | undefined, polling: Partial<SourcePolling> | undefined): Source {
  const unused = async () => {
    throw new Error('the budget asks no upstream itself');
  };
  const upstream: Upstream = { describe: unused, readPage: unused, fetchPosts: unused };
  return createSource({ upstream: { ...upstream, ...(requestsSent && { requestsSent }) } }, polling);
}
