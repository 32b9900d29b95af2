import type { Clock } from '../clock.ts';
import type { UpstreamError } from '../errors.ts';
import type { Source } from '../source.ts';
import { createBreaker } from './breaker.ts';
import type { Credential } from './credential.ts';
import { createCrowd } from './crowd.ts';
import type { DayCount } from './day-count.ts';
import { createMeter, type Meter } from './meter.ts';
import { createSeat, type Seat } from './seat.ts';
import { createThrottle, type Throttle } from './throttle.ts';

/** The requests that one (host, token) may send, shared out among all sources of it. */
export interface Budget {
  /** A source's own part in it. */
  seat(source: Source, day?: DayCount | undefined): Seat;
}

/** `random` gives 0 to below 1, for jitter. */
export function createBudget(deps: { clock: Clock; random: () => number }): Budget {
  const { clock, random } = deps;
  const now = () => clock.monotonic();
  const endpoints = new Map<string, Meter>();
  const throttles = new Map<string, Throttle>();
  const seats: Seat[] = [];
  let stopped: UpstreamError | undefined;

  const credential: Credential = {
    clock,
    token: createMeter(now),
    endpoint(name) {
      const meter = endpoints.get(name) ?? createMeter(now);
      endpoints.set(name, meter);
      return meter;
    },
    throttle(known) {
      const key = JSON.stringify([known.requests, known.windowMs, known.counts]);
      const throttle = throttles.get(key) ?? createThrottle(known, now);
      throttles.set(key, throttle);
      return throttle;
    },
    breaker: createBreaker(now, random),
    crowd: createCrowd((seat) => seat.changed()),
    byIdPaidUntilMs: Number.NEGATIVE_INFINITY,
    stopped: () => stopped,
    stop(error) {
      stopped ??= error;
      for (const seat of seats) seat.changed();
    },
  };

  return {
    seat(source, day) {
      const seat = createSeat(credential, source, day);
      seats.push(seat);
      return seat;
    },
  };
}
