import type { ServerResponse } from 'node:http';

/** How long a client may take to read an answer, ms: so long, and besides what it takes at the slowest rate. */
const GRACE_MS = 10_000;
/** 64 kB a second. */
const SLOWEST_BYTES_PER_MS = 64;

/**
 * Ends a response once its body has left, or its client. Node takes a connection for idle as soon as its response is
 * ended, even while a slow client has yet to read it: a server that stops would cut the answer off.
 * A client that does not read it within `graceMs` (10 s) and 1 s for each 64 kB is cut off.
 */
export async function endWhenSent(response: ServerResponse, body: Buffer, graceMs = GRACE_MS): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => response.destroy(), graceMs + body.length / SLOWEST_BYTES_PER_MS);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    response.once('close', done);
    response.write(body, done);
  });
  response.end();
}
