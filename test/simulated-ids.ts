import { createHash } from 'node:crypto';
import { encodeSnowflake, MASTODON, PIXELFED, TWITTER } from '../src/ids/snowflake.ts';
import type { IdSchemeName } from '../src/post.ts';

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** An id of that scheme made at `atMs` (Unix ms); `salt` tells those of one ms apart, in any order. */
export function simulatedId(scheme: IdSchemeName, atMs: number, salt: number): string {
  const digest = createHash('sha256').update(`${atMs}:${salt}`).digest();
  switch (scheme) {
    case 'mastodon':
      return encodeSnowflake(MASTODON, { timeMs: atMs, sequence: digest.readUInt16BE(0) });
    case 'twitter':
      return encodeSnowflake(TWITTER, { timeMs: atMs, generator: digest.readUInt8(0), sequence: salt % 4096 });
    case 'pixelfed':
      return encodeSnowflake(PIXELFED, { timeMs: atMs, generator: digest.readUInt8(0), sequence: salt % 4096 });
    case 'ulid':
      return crockford(atMs, 10) + crockford(digest.readUIntBE(0, 5), 8) + crockford(digest.readUIntBE(5, 5), 8);
    case 'uuidv7': {
      const time = atMs.toString(16).padStart(12, '0');
      const rest = digest.toString('hex');
      return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(0, 3)}-8${rest.slice(3, 6)}-${rest.slice(6, 18)}`;
    }
    default:
      return digest.toString('hex').slice(0, 32);
  }
}

function crockford(value: number, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32)) text = CROCKFORD.charAt(rest % 32) + text;
  return text;
}
