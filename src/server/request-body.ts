import type { IncomingMessage } from 'node:http';
import { createCollector } from '../input/collect-bytes.ts';
import type { Refusal } from './refusal.ts';

const MAX_BODY_BYTES = 100_000;
/** Far more than any client sends: each takes the parser's time. */
const MAX_PIECES = 10_000;

const tooLarge: Refusal = {
  status: 413,
  code: 'BAD_USER_INPUT',
  message: `the request's body must be at most ${MAX_BODY_BYTES} bytes, in at most ${MAX_PIECES} pieces`,
  headers: { connection: 'close' },
};

const unsupportedType: Refusal = {
  status: 415,
  code: 'BAD_USER_INPUT',
  // Also what keeps other sites from posting with a viewer's cookies: browsers ask first before they send JSON.
  message: 'POST needs content-type: application/json, and no content-encoding',
};

/**
 * The text of a POST's body, read here since Yoga's own limit costs a third of its throughput; a refusal when it is
 * no JSON by its type or too large; undefined when the client went away.
 */
export async function readBody(request: IncomingMessage): Promise<string | Refusal | undefined> {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (type !== 'application/json' || encoding !== 'identity') return unsupportedType;
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return tooLarge;
  return new Promise((resolve) => {
    const body = createCollector(MAX_BODY_BYTES);
    let pieces = 0;
    request.on('data', (piece: Buffer) => {
      pieces += 1;
      if (pieces <= MAX_PIECES && body.add(piece)) return;
      request.removeAllListeners('data').resume();
      resolve(tooLarge);
    });
    request.once('end', () => resolve(body.whole().toString('utf8')));
    request.once('error', () => resolve(undefined));
    request.once('close', () => resolve(undefined));
  });
}
