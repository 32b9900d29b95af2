import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { UpstreamError } from '../errors.ts';
import { readAtMost } from '../input/bounded-json.ts';

/**
 * Reads a reply's body to its end as UTF-8. `maxBytes` bounds what comes over the wire and what it unpacks to.
 * Throws UpstreamError MALFORMED for a body that is larger or cannot be unpacked; passes on the stream's own errors.
 */
export async function readBody(body: Readable, options: { encoding: string; maxBytes: number; label: string }) {
  const { encoding, maxBytes, label } = options;
  if (encoding === '' || encoding === 'identity') return decode(await collect(body, maxBytes, label));
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    // The body tells being destroyed as an error; one that nobody listens to would end the process.
    body.on('error', () => {}).destroy();
    throw new UpstreamError('MALFORMED', `${label} answered in an encoding that was not asked for`);
  }
  const packed = await collect(body, maxBytes, label);
  try {
    return decode(await collect(gunzip(packed), maxBytes, label));
  } catch (cause) {
    if (cause instanceof UpstreamError) throw cause;
    throw new UpstreamError('MALFORMED', `${label} answered with a body that cannot be unpacked`, { cause });
  }
}

function gunzip(packed: Buffer): Readable {
  const stream = createGunzip();
  stream.end(packed);
  return stream;
}

async function collect(stream: Readable, maxBytes: number, label: string): Promise<Buffer> {
  const bytes = await readAtMost(stream, maxBytes);
  if (bytes !== undefined) return bytes;
  throw new UpstreamError('MALFORMED', `${label} answered with more than ${maxBytes} bytes`, { isTooLarge: true });
}

function decode(bytes: Buffer): string {
  return new TextDecoder('utf-8').decode(bytes);
}
