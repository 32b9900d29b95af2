import type { Refusal } from './refusal.ts';

/** Requests that are worked on at one time. */
const MAX_REQUESTS = 1_000;
/** What the operations under way may cost together: their answers are made and held meanwhile, a hundred bytes a field. */
const MAX_COST_UNDER_WAY = 2_000_000;
/** Bytes of answers that clients have yet to read. */
const MAX_UNREAD_BYTES = 64_000_000;
/** An answer as small as that is always sent: most fit into what the system keeps for a connection. */
const SMALL_BYTES = 64_000;

/** What a gateway holds at one time for those who ask: bounded, so that no crowd of clients exhausts its memory. */
export interface Load {
  /** Does a piece of work and resolves with what it does; undefined, at once, while there is too much. */
  work<T>(work: (share: Share) => Promise<T>): Promise<T> | undefined;
  /** Sends an answer of so many bytes; undefined, at once, while too many others have yet to be read. */
  send(bytes: number, work: () => Promise<void>): Promise<void> | undefined;
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

/** The bounds are 1,000 requests, 2 million of cost and 64 MB where they are left out. */
export function createLoad({
  maxRequests = MAX_REQUESTS,
  maxCost = MAX_COST_UNDER_WAY,
  maxUnreadBytes = MAX_UNREAD_BYTES,
} = {}): Load {
  let requests = 0;
  let underWay = 0;
  let unread = 0;
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
    send(bytes, work) {
      if (bytes > SMALL_BYTES && unread + bytes > maxUnreadBytes) return undefined;
      unread += bytes;
      return work().finally(() => {
        unread -= bytes;
      });
    },
  };
}
