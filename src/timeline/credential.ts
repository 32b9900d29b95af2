import type { Clock } from '../clock.ts';
import type { UpstreamError } from '../errors.ts';
import type { KnownThrottle } from '../upstreams/upstream.ts';
import type { Breaker } from './breaker.ts';
import type { Crowd } from './crowd.ts';
import type { Meter } from './meter.ts';
import type { Throttle } from './throttle.ts';

/** What all sources of one (host, token) have in common. */
export interface Credential {
  readonly clock: Clock;
  /** Limits of the token as a whole. */
  readonly token: Meter;
  /** Limits of one endpoint, by its name. */
  endpoint(name: string): Meter;
  /** The one for all sources that know of it. */
  throttle(known: KnownThrottle): Throttle;
  readonly breaker: Breaker;
  readonly crowd: Crowd<{ changed(): void }>;
  /** Reads by id are paid up to then (monotonic, ms). */
  byIdPaidUntilMs: number;
  /** Why nothing is sent with it any more. */
  stopped(): UpstreamError | undefined;
  stop(error: UpstreamError): void;
}
