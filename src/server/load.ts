import type { Refusal } from './refusal.ts';

/** Requests that are worked on at one time. */
const MAX_REQUESTS = 1_000;
/** Bytes of answers that clients have yet to read. */
const MAX_UNREAD_BYTES = 64_000_000;
/** An answer as small as that is always sent: most fit into what the system keeps for a connection. */
const SMALL_BYTES = 64_000;

/** What a gateway holds at one time for those who ask: bounded, so that no crowd of clients exhausts its memory. */
export interface Load {
  /** Does a piece of work and resolves with what it does; undefined, at once, while there is too much. */
  work<T>(work: () => Promise<T>): Promise<T> | undefined;
  /** Sends an answer of so many bytes; undefined, at once, while too many others have yet to be read. */
  send(bytes: number, work: () => Promise<void>): Promise<void> | undefined;
}

/** For who comes while there is too much. */
export const busy: Refusal = {
  status: 503,
  code: 'UNAVAILABLE',
  message: 'too much is asked of this server at the moment: ask again',
  headers: { 'retry-after': '1' },
};

/** The bounds are 1,000 requests and 64 MB where they are left out. */
export function createLoad({ maxRequests = MAX_REQUESTS, maxUnreadBytes = MAX_UNREAD_BYTES } = {}): Load {
  let requests = 0;
  let unread = 0;
  return {
    work(work) {
      if (requests >= maxRequests) return undefined;
      requests += 1;
      return work().finally(() => {
        requests -= 1;
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
