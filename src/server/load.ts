import type { Clock } from '../clock.ts';
import type { Refusal } from './refusal.ts';

/** Requests that are worked on at one time. */
const MAX_REQUESTS = 1_000;
/** What the operations under way may cost together: their answers are made and held meanwhile, a hundred bytes a field. */
const MAX_COST_UNDER_WAY = 2_000_000;
/** Bytes of answers that clients have yet to read. */
const MAX_UNREAD_BYTES = 64_000_000;
/** A client has so long to read its answer before another's may take its room, ms. */
const GRACE_MS = 10_000;
/** An answer as small as that is always sent: most fit into what the system keeps for a connection. */
const SMALL_BYTES = 64_000;

/** What a gateway holds at one time for those who ask: bounded, so that no crowd of clients exhausts its memory. */
export interface Load {
  /** Does a piece of work and resolves with what it does; undefined, at once, while there is too much. */
  work<T>(work: (share: Share) => Promise<T>): Promise<T> | undefined;
  /**
   * Sends an answer of so many bytes. While too many have yet to be read, those that clients have had longest make room by
   * `cut`, 10 s after they were sent; undefined, at once, where that is not enough.
   */
  send(answer: { bytes: number; cut: () => void }, work: () => Promise<void>): Promise<void> | undefined;
}

/** What one piece of work takes of it, until it is done. */
export interface Share {
  /** Takes so much cost; false when that is too much beside what is under way. */
  take(cost: number): boolean;
  /** True once it was too much. */
  readonly isRefused: boolean;
}

/** For who comes while there is too much. */
export const busy: Refusal = {
  status: 503,
  code: 'UNAVAILABLE',
  message: 'too much is asked of this server at the moment: ask again',
  headers: { 'retry-after': '1' },
};

interface Sent {
  readonly bytes: number;
  readonly cut: () => void;
  readonly sinceMs: number;
}

/** The bounds are 1,000 requests, 2 million of cost and 64 MB where they are left out. */
export function createLoad({
  monotonic,
  maxRequests = MAX_REQUESTS,
  maxCost = MAX_COST_UNDER_WAY,
  maxUnreadBytes = MAX_UNREAD_BYTES,
}: Pick<Clock, 'monotonic'> & { maxRequests?: number; maxCost?: number; maxUnreadBytes?: number }): Load {
  let requests = 0;
  let underWay = 0;
  let unread = 0;
  /** Oldest first. */
  const sending = new Set<Sent>();

  function makeRoom(bytes: number): boolean {
    const graceFromMs = monotonic() - GRACE_MS;
    for (const answer of sending) {
      if (unread + bytes <= maxUnreadBytes || answer.sinceMs > graceFromMs) break;
      release(answer);
      answer.cut();
    }
    return unread + bytes <= maxUnreadBytes;
  }

  function release(answer: Sent): void {
    if (sending.delete(answer)) unread -= answer.bytes;
  }

  return {
    work(work) {
      if (requests >= maxRequests) return undefined;
      requests += 1;
      let taken = 0;
      let isRefused = false;
      const share: Share = {
        take(cost) {
          if (underWay + cost > maxCost) {
            isRefused = true;
            return false;
          }
          taken += cost;
          underWay += cost;
          return true;
        },
        get isRefused() {
          return isRefused;
        },
      };
      return work(share).finally(() => {
        requests -= 1;
        underWay -= taken;
      });
    },
    send({ bytes, cut }, work) {
      if (bytes > SMALL_BYTES && !makeRoom(bytes)) return undefined;
      const answer = { bytes, cut, sinceMs: monotonic() };
      sending.add(answer);
      unread += bytes;
      return work().finally(() => release(answer));
    },
  };
}
