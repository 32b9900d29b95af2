import type { Clock } from './clock.ts';
import { IdsUnavailableError, RateLimitedError, StoreUnavailableError } from './errors.ts';
import { createIdGenerator, type IdGenerator } from './ids/generator.ts';
import type { GeneratorStore } from './stores/generator-store.ts';

/** Issues Snowflake ids of CecoChat's layout (41/8/14), which no other gateway of the same store ever issues. */
export interface IdService {
  /**
   * So many ids, ascending, above all before from this gateway.
   * Throws IdsUnavailableError while it has no generator, RateLimitedError where this user asked for too many.
   */
  next(userId: string, count: number): readonly string[];
  /** Leases a generator and keeps it until `stop`. */
  run(): Promise<void>;
  stop(): void;
}

/** A generator's lease, and for how long nobody has one after a failover. */
const TTL_MS = 5000;
const RENEW_MS = 1600;
const RETRY_MS = 1000;
/** So far before the lease could pass on, its holder stops. */
const MARGIN_MS = 500;
/** How far ahead ids may run of the clock, in a burst. */
const BORROW_MS = 1000;
/** So far ahead the mark is put: what is issued until the lease ends lies below. */
const RESERVE_MS = TTL_MS + BORROW_MS;
/** Replies of renewals that may be lost before the lease has ended anyway. */
const MOST_LOST = 4;
/** A user may ask for so many ids at once, and for as many each second. */
const IDS_PER_SECOND = 163_840;
const MOST_USERS = 10_000;

/**
 * The number of the generator is leased through the store, which remembers up to when ids may have been issued: its next holder
 * begins above. `holder` names this gateway and no other.
 */
export function createIdService(deps: {
  generators: GeneratorStore;
  clock: Clock;
  holder: string;
  log: (line: string) => void;
}): IdService {
  const { generators, clock, holder, log } = deps;
  const mayTake = createQuota(clock);
  let held: { number: number; ids: IdGenerator; untilMs: number; markMs: number } | undefined;
  /** Marks that this gateway put, or may have put where a reply was lost: what the store has beyond them another one put. */
  let ownMarks: readonly number[] = [];
  let why = 'the id service has not started yet';
  let isStopped = false;
  let nap = new AbortController();

  const isHeld = () => held !== undefined && clock.monotonic() < held.untilMs;

  function lost(reason: string): void {
    if (why !== reason) log(`ids: ${reason}`);
    why = reason;
  }

  async function renew(): Promise<void> {
    const untilMs = clock.monotonic() + TTL_MS - MARGIN_MS;
    const nowMs = clock.now();
    const markMs = nowMs + RESERVE_MS;
    const before = held;
    const known = ownMarks;
    ownMarks = [...known.slice(-MOST_LOST), markMs];
    try {
      const query = { holder, generator: before?.number, ttlMs: TTL_MS, markMs, pauseMs: RESERVE_MS, nowMs };
      const lease = await generators.lease(query);
      if (typeof lease === 'string') {
        held = undefined;
        lost(
          lease === 'paused'
            ? `waiting for ${RESERVE_MS / 1000} s, as the store is new or has failed over`
            : 'all 256 generators are taken',
        );
        return;
      }
      const { generator, afterMs } = lease;
      // A lease that ended may have been another's meanwhile: whose mark is not ours begins anew, above it.
      const isSame = before?.number === generator && known.includes(afterMs);
      ownMarks = [Math.max(markMs, afterMs)];
      held = {
        number: generator,
        untilMs,
        markMs: Math.max(markMs, afterMs),
        ids: isSame ? before.ids : newIds(generator, afterMs),
      };
      if (!isSame) log(`ids: issues as generator ${generator}`);
      why = '';
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      if (!isHeld()) lost(error.message);
    }
  }

  function newIds(generator: number, afterMs: number): IdGenerator {
    const untilMs = () => held?.markMs ?? 0;
    return createIdGenerator({ generator, now: clock.now, afterMs, untilMs, maxBorrowMs: BORROW_MS });
  }

  return {
    next(userId, count) {
      if (!held || !isHeld()) {
        throw new IdsUnavailableError(
          `no ids now: ${why || 'the lease of the generator has ended'}`,
          clock.now() + RETRY_MS,
        );
      }
      mayTake(userId, count);
      return count === 1 ? [held.ids.next()] : held.ids.batch(count);
    },
    async run() {
      while (!isStopped) {
        nap = new AbortController();
        await renew();
        if (!isStopped) await clock.sleep(isHeld() ? RENEW_MS : RETRY_MS, nap.signal);
      }
      const { number } = held ?? {};
      held = undefined;
      // An outage leaves the lease to its TTL.
      if (number !== undefined) await generators.release(holder, number).catch(() => {});
    },
    stop() {
      isStopped = true;
      nap.abort();
    },
  };
}

/** Throws RateLimitedError for who has had its ids of the last second. */
function createQuota(clock: Clock): (userId: string, count: number) => void {
  /** By user: up to when all that was taken is paid for, monotonic ms. */
  const paidUntilMs = new Map<string, number>();
  return (userId, count) => {
    const nowMs = clock.monotonic();
    const paid = Math.max(nowMs, paidUntilMs.get(userId) ?? 0) + (1000 * count) / IDS_PER_SECOND;
    if (paid - nowMs > 1000) {
      throw new RateLimitedError(
        `at most ${IDS_PER_SECOND} ids a second`,
        clock.now() + Math.ceil(paid - nowMs - 1000),
      );
    }
    if (paidUntilMs.size >= MOST_USERS) {
      for (const [each, untilMs] of paidUntilMs) if (untilMs <= nowMs) paidUntilMs.delete(each);
    }
    paidUntilMs.set(userId, paid);
  };
}
