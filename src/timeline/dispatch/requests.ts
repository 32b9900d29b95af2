import type { UpstreamError } from '../../errors.ts';
import type { UpstreamDescription } from '../../upstreams/upstream.ts';
import type { DayCount } from '../limits/day-count.ts';
import { describe, hasSparePage, type Told } from '../limits/source-limits.ts';
import { type FetchedById, fetchedById, takeById } from './reads-by-id.ts';
import { blockedMs, heldMs, type Sender, type Sending, send, sendDescribe } from './sender.ts';
import { byIdRefusedMs, isOwner } from './token.ts';

/** What one source sends its requests through. Waits are in ms. */
export interface Requests {
  /**
   * Sends one request when it may go and learns from what comes back. Waits itself where that is a matter of a second or two;
   * throws UpstreamError, with nothing sent: RATE_LIMITED where it takes longer, UNAVAILABLE where another gateway dispatches the
   * token; StoreUnavailableError where what was sent cannot be kept.
   */
  send<Reply extends Told>(request: Sending, work: () => Promise<Reply>): Promise<Reply>;
  /** Learns what the source's upstream is, or why it does not tell. */
  describe(work: () => Promise<UpstreamDescription>): Promise<UpstreamDescription>;
  /** Limits from a description that was kept. */
  described(description: UpstreamDescription): void;
  /** True while a poll may read one page more without taking what others need. */
  mayGoOn(): boolean;
  /** How long no poll may be sent because the upstream or the settings say so; 0: it may. */
  blockedMs(): number;
  /** Until a job of that pool could begin as things stand, about. */
  waitMs(pool: 'poll' | 'repair', isPreferred?: boolean): number;
  /** What the last failure was, while only one request at a time tries whether the host answers again. */
  outage(): UpstreamError | undefined;
  /** Absent: as many posts a day as there are. */
  readonly day?: DayCount | undefined;
  /** False for an hour after the upstream refused a read by id with 401 or 403 as a whole: polls go on. */
  mayReadById(): boolean;
  /**
   * Takes up to `count` requests, at most 8, of what all gateways may read by id for pages that viewers wait for, whoever
   * dispatches the token; returns how many may be sent. `fetchedById` must follow. Never throws.
   */
  takeById(count: number): Promise<number>;
  /** What came of `requests` that `takeById` allowed: what the upstream told and how many posts, or what broke it off. */
  fetchedById(outcome: FetchedById): void;
}

export function requestsOf(sender: Sender): Requests {
  const { token, scheduler, limits, day } = sender;
  return {
    send: (request, work) => send(sender, request, work),
    describe: (work) => sendDescribe(sender, work),
    described: (description) => describe(limits, description),
    mayGoOn: () => isOwner(token) && blockedMs(sender) === 0 && hasSparePage(limits),
    blockedMs: () => blockedMs(sender),
    waitMs(pool, isPreferred = false) {
      const kind = pool === 'poll' ? 'poll' : 'fill';
      const want = { kind, pool, isPreferred, request: 'page' } as const;
      return Math.max(heldMs(sender, want), scheduler.waitMs({ limits, want }));
    },
    outage: token.breaker.outage,
    day,
    mayReadById: () => byIdRefusedMs(token) === 0,
    takeById: (count) => takeById(sender, count),
    fetchedById: (outcome) => fetchedById(sender, outcome),
  };
}
