import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { BadCursorError } from '../errors.ts';
import {
  type FeedCursor,
  packFeedCursor,
  packTimeline,
  type TimelineToken,
  unpackFeedCursor,
  unpackTimeline,
} from './token-body.ts';

export type { FeedCursor, TimelineToken, TokenSource } from './token-body.ts';

/** Characters. */
export const MAX_TOKEN_LENGTH = 4096;

export type TimelinePurpose = 'since' | 'until' | 'entry';

/**
 * Seals positions into tokens and opens them again. A token is base64url of a version byte, a purpose byte, the packed body
 * and 16 bytes of HMAC-SHA256 over these and the viewer it is bound to. The same position is always the same string.
 * To seal throws RangeError for a body out of its bounds or too long; to open throws BadCursorError for everything that
 * was not sealed with one of the keys for this purpose and viewer.
 */
export interface Tokens {
  sealFeedCursor(viewerId: string, cursor: FeedCursor): string;
  openFeedCursor(viewerId: string, token: string): FeedCursor;
  /** `boundTo`: the viewer, as soon as one source is not for anyone. */
  sealTimeline(purpose: TimelinePurpose, token: TimelineToken, boundTo?: string): string;
  /** A token that is bound to nobody opens for every viewer. */
  openTimeline(accept: readonly TimelinePurpose[], token: string, viewerId?: string): TimelineToken;
}

/** What can be told about a token without its viewer, for `sluice decode`. */
export type TokenExplanation =
  | { readonly readable: false; readonly reason: string }
  | {
      readonly readable: true;
      readonly version: number;
      readonly purpose: Purpose;
      /** True when only one viewer may use it. */
      readonly bound: boolean;
      /** `valid`: a key verifies it, for the named viewer if it is bound. `unknown`: it is bound and no viewer was named. */
      readonly signature: 'valid' | 'invalid' | 'unknown';
      /** Which key verifies it, from 0. */
      readonly keyIndex?: number;
      readonly feed?: FeedCursor;
      readonly timeline?: TimelineToken;
    };

type Purpose = TimelinePurpose | 'feed';

const VERSION = 1;
const MAC_BYTES = 16;
const BOUND = 0x80;
/** Never re-use a number: old tokens must not change their meaning. 1 was a feed's, whose served set was of a key that the store held. */
const PURPOSES: ReadonlyMap<Purpose, number> = new Map([
  ['feed', 5],
  ['since', 2],
  ['until', 3],
  ['entry', 4],
]);

/** The tokens of these keys, which all gateways share: the first signs, all verify. @throws RangeError for no key or an empty one. */
export function createTokens(keys: readonly Buffer[]): Tokens {
  const [signing] = keys;
  if (signing === undefined || keys.some((key) => key.length === 0))
    throw new RangeError('tokens need at least one key');

  const seal = (purpose: Purpose, body: Uint8Array, boundTo: string | undefined): string => {
    const code = (PURPOSES.get(purpose) ?? 0) | (boundTo === undefined ? 0 : BOUND);
    const signed = Buffer.concat([Uint8Array.of(VERSION, code), body]);
    const token = Buffer.concat([signed, mac(signing, signed, boundTo)]).toString('base64url');
    if (token.length > MAX_TOKEN_LENGTH)
      throw new RangeError(`a token must have at most ${MAX_TOKEN_LENGTH} characters`);
    return token;
  };

  const open = (accept: readonly Purpose[], token: string, viewerId: string | undefined): Envelope => {
    const envelope = readEnvelope(token);
    if (envelope === undefined || !accept.includes(envelope.purpose)) throw new BadCursorError();
    if (envelope.bound && viewerId === undefined) throw new BadCursorError();
    if (verifyingKey(keys, envelope, viewerId) === undefined) throw new BadCursorError();
    return envelope;
  };

  return {
    sealFeedCursor: (viewerId, cursor) => seal('feed', packFeedCursor(cursor), viewerId),
    openFeedCursor: (viewerId, token) => orBadCursor(unpackFeedCursor, open(['feed'], token, viewerId).body),
    sealTimeline: (purpose, token, boundTo) => seal(purpose, packTimeline(token), boundTo),
    openTimeline: (accept, token, viewerId) => orBadCursor(unpackTimeline, open(accept, token, viewerId).body),
  };
}

/** Names a log inside tokens: 16 hex digits. */
export function logTag(logId: string): string {
  return hash('sha256', `log\0${logId}`).slice(0, 16);
}

/**
 * What a token says, and whether one of the keys verifies it; a bound one needs its viewer for that. Total: any text gives an answer.
 * Only ever for the operator, who has the keys.
 */
export function explainToken(token: string, keys: readonly Buffer[], viewerId?: string): TokenExplanation {
  const envelope = readEnvelope(token);
  if (envelope === undefined) return { readable: false, reason: `it is no token of version ${VERSION}` };
  const { purpose, bound, body } = envelope;
  const keyIndex = bound && viewerId === undefined ? undefined : verifyingKey(keys, envelope, viewerId);
  const signature = keyIndex !== undefined ? 'valid' : bound && viewerId === undefined ? 'unknown' : 'invalid';
  try {
    return {
      readable: true,
      version: VERSION,
      purpose,
      bound,
      signature,
      ...(keyIndex === undefined ? {} : { keyIndex }),
      ...(purpose === 'feed' ? { feed: unpackFeedCursor(body) } : { timeline: unpackTimeline(body) }),
    };
  } catch {
    return { readable: false, reason: `its body is not that of a "${purpose}" token` };
  }
}

interface Envelope {
  readonly purpose: Purpose;
  readonly bound: boolean;
  readonly body: Uint8Array;
  readonly signed: Uint8Array;
  readonly mac: Uint8Array;
}

function readEnvelope(token: string): Envelope | undefined {
  if (token.length > MAX_TOKEN_LENGTH || !/^[A-Za-z0-9_-]+$/.test(token)) return undefined;
  const bytes = Buffer.from(token, 'base64url');
  // Bits that base64 ignores would make several strings of one position.
  if (bytes.toString('base64url') !== token || bytes.length < 2 + MAC_BYTES) return undefined;
  const code = bytes[1] ?? 0;
  const purpose = [...PURPOSES].find(([, known]) => known === (code & ~BOUND))?.[0];
  if (bytes[0] !== VERSION || purpose === undefined) return undefined;
  const signed = bytes.subarray(0, -MAC_BYTES);
  return { purpose, bound: (code & BOUND) !== 0, body: signed.subarray(2), signed, mac: bytes.subarray(-MAC_BYTES) };
}

function verifyingKey(keys: readonly Buffer[], envelope: Envelope, viewerId: string | undefined): number | undefined {
  const boundTo = envelope.bound ? viewerId : undefined;
  const index = keys.findIndex((key) => timingSafeEqual(mac(key, envelope.signed, boundTo), envelope.mac));
  return index < 0 ? undefined : index;
}

function mac(key: Buffer, signed: Uint8Array, boundTo: string | undefined): Buffer {
  // UTF-16 keeps apart what UTF-8 would replace alike; the length in front keeps the viewer and the body apart.
  const binding = Buffer.from(boundTo ?? '', 'utf16le');
  const hmac = createHmac('sha256', key).update(`sluice token\0${binding.length}\0`).update(binding).update(signed);
  return hmac.digest().subarray(0, MAC_BYTES);
}

function orBadCursor<T>(unpack: (body: Uint8Array) => T, body: Uint8Array): T {
  try {
    return unpack(body);
  } catch {
    throw new BadCursorError();
  }
}
