import type { Source } from '../source.ts';
import type { NamedLimit, RateLimit, UpstreamDescription } from '../upstreams/upstream.ts';
import type { Credential } from './credential.ts';
import type { Mark, Meter, Refusal } from './meter.ts';
import type { Throttle } from './throttle.ts';
import { PARTS, type Pool } from './windows.ts';

/** A page of a timeline, or posts by their ids: upstreams count them apart. */
export type RequestKind = 'page' | 'byId';

/** What one source may send, by all limits that hold for it: those that were told, and those that are known. */
export interface Allowance {
  /** ms until one more request is allowed by what the upstream told; 0: now. */
  toldMs(kind: RequestKind): number;
  /** The same by throttles that we count for. */
  countedMs(kind: RequestKind, pool: Pool): number;
  /** The endpoint's limits, if it has any, and the token's. */
  meters(kind: RequestKind): readonly Meter[];
  /** ms from one request of that pool to the next, evenly, at one of `meters('page' | 'byId')`. 0: as many as it likes. */
  intervalMs(meter: Meter, pool: Pool, kind: RequestKind): number;
  /** True while a poll may read one page more and leaves the other sources and pools what they need. */
  hasSparePage(): boolean;
  /** True while fills may use what nobody used before. */
  hasSpareFill(): boolean;
  /** Requests are sent; each must be followed by `answered`. Gives a mark for each of `meters`. */
  sent(kind: RequestKind, pool: Pool, requests: number): readonly Mark[];
  answered(kind: RequestKind, requests: number): void;
  /** What a reply of that kind told, to the request that `sent` gave the marks for. */
  note(kind: RequestKind, told: Told, marks: readonly Mark[]): void;
  /** A 429. `endpoint`: it is about that alone. */
  refused(kind: RequestKind, refusal: Refusal & { endpoint: boolean }): void;
  /** Counts what the adapter sent on its own, such as for the instance document. True when it sent any since the last time. */
  countOthers(): boolean;
  describe(description: UpstreamDescription): void;
}

/** What a reply says beside posts. */
export interface Told {
  readonly limits?: readonly NamedLimit[] | undefined;
  readonly rateLimit?: RateLimit | undefined;
  /** In which resets are told. */
  readonly serverDateMs?: number | undefined;
}

/** Where nothing tells how much is allowed, gaps, sweeps and reads by id share one request a second. */
const UNTOLD_INTERVAL_MS = 1000;

export function createAllowance(credential: Credential, source: Source): Allowance {
  const { clock, token } = credential;
  const { polling, upstream } = source;
  const own: Partial<Record<RequestKind, Meter>> = {};
  let throttles: readonly { throttle: Throttle; counts: 'pages' | 'all'; isWaived: boolean }[] = [];
  let counted = upstream.requestsSent?.() ?? 0;
  token.members.add(source);

  function throttlesOf(kind: RequestKind, pool: Pool): readonly Throttle[] {
    return throttles
      .filter(({ counts, isWaived }) => (kind === 'page' || counts === 'all') && !(isWaived && pool === 'poll'))
      .map(({ throttle }) => throttle);
  }

  const allowance: Allowance = {
    toldMs: (kind) => Math.max(...allowance.meters(kind).map((meter) => meter.waitMs())),
    countedMs: (kind, pool) => Math.max(0, ...throttlesOf(kind, pool).map((throttle) => throttle.waitMs())),
    meters: (kind) => [...(own[kind] ? [own[kind]] : []), token],
    intervalMs(meter, pool, kind) {
      const told = meter.windows.intervalMs(pool) ?? 0;
      if (meter !== token) return told;
      const known = Math.max(0, ...throttlesOf(kind, pool).map((each) => each.intervalMs / PARTS[pool]));
      const isTold = allowance.meters(kind).some(({ windows }) => windows.intervalMs(pool) !== undefined);
      return isTold || known > 0 || pool === 'poll' ? Math.max(told, known) : UNTOLD_INTERVAL_MS / PARTS[pool];
    },
    hasSparePage: () =>
      allowance.meters('page').every(({ windows, members }) => windows.hasSpare('poll', members.size - 1)),
    hasSpareFill: () =>
      allowance.meters('page').every(({ windows }) => windows.hasSpare('upkeep', 0)) &&
      throttlesOf('page', 'upkeep').every((throttle) => throttle.unused() > 1 - PARTS.upkeep),
    sent(kind, pool, requests) {
      for (const throttle of throttlesOf(kind, pool)) throttle.sent(requests);
      counted += requests;
      return allowance.meters(kind).map((meter) => meter.sent(requests));
    },
    answered(kind, requests) {
      for (const meter of allowance.meters(kind)) meter.answered(requests);
    },
    note(kind, { limits, rateLimit, serverDateMs = clock.now() }, marks) {
      const all = limits ?? (rateLimit ? [{ name: 'limit', endpoint: false, ...rateLimit }] : []);
      for (const [n, meter] of allowance.meters(kind).entries()) {
        const about = all.filter(({ endpoint }) => ((endpoint && own[kind]) || token) === meter);
        const told = about.map((limit) => ({ ...limit, resetInMs: limit.resetAtMs - serverDateMs }));
        meter.allowed(told, marks[n] ?? { sent: 0, unanswered: 0 });
      }
    },
    refused(kind, { endpoint, ...refusal }) {
      ((endpoint && own[kind]) || token).refused(refusal);
    },
    countOthers() {
      const sent = upstream.requestsSent?.() ?? counted;
      const others = sent - counted;
      counted = sent;
      if (others <= 0) return false;
      for (const meter of allowance.meters('page')) meter.windows.sent(others);
      for (const throttle of throttlesOf('byId', 'byId')) throttle.sent(others);
      return true;
    },
    describe({ endpoint, throttles: known = [] }) {
      // Who names an interval that is shorter knows the server better.
      const isWaived = (everyMs: number) => polling.ownInterval && polling.minIntervalMs < everyMs;
      throttles = known.map((each) => {
        const throttle = credential.throttle(each);
        return { throttle, counts: each.counts, isWaived: isWaived(throttle.intervalMs) };
      });
      if (endpoint === undefined || own.page) return;
      own.page = credential.endpoint(endpoint);
      own.page.members.add(source);
      own.byId = credential.endpoint('by id');
    },
  };
  return allowance;
}
