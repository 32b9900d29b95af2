import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import { UnauthenticatedError } from '../errors.ts';
import type { Viewer } from '../source.ts';

/** How a request says who asks: the same viewer for everybody, or a header that a proxy in front sets. */
export type AuthSetting =
  | { readonly kind: 'none'; readonly userId: string }
  /** `trustedPeers` are addresses or CIDR blocks; a header from any other peer counts for nothing. */
  | { readonly kind: 'header'; readonly name: string; readonly trustedPeers: readonly string[] };

const MAX_USER_ID_LENGTH = 256;

/**
 * Gives the function that tells a request's viewer. Without a header, or with one from a peer that is not trusted,
 * nobody is signed in. It throws UnauthenticatedError for a trusted header that is empty, repeated, too long or not UTF-8.
 */
export function createViewerReader(auth: AuthSetting): (request: IncomingMessage) => Viewer {
  if (auth.kind === 'none') return () => ({ userId: auth.userId });
  const name = auth.name.toLowerCase();
  const trusted = blockListOf(auth.trustedPeers);
  return (request) => {
    const values = request.headersDistinct[name];
    if (values === undefined || !isTrusted(trusted, request.socket.remoteAddress)) return {};
    const userIds = values.map(readUtf8);
    const [userId] = userIds;
    if (userIds.length === 1 && userId && userId.length <= MAX_USER_ID_LENGTH) return { userId };
    const got = userIds.map((one) => one?.length ?? 'no UTF-8').join(' and ');
    throw new UnauthenticatedError(
      `${name} must come once and hold 1 to ${MAX_USER_ID_LENGTH} characters of UTF-8, got ${got}`,
    );
  };
}

/** Node gives a header's bytes as Latin-1, in which `Zoë` would be another user than the one of the settings. */
function readUtf8(header: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(header, 'latin1'));
  } catch {
    return undefined;
  }
}

function blockListOf(peers: readonly string[]): BlockList {
  const list = new BlockList();
  for (const peer of peers) {
    const [address = '', bits] = peer.split('/');
    const plain = normalise(address);
    const family = isIPv6(plain) ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(plain, family);
    else list.addSubnet(plain, Number(bits), family);
  }
  return list;
}

function isTrusted(trusted: BlockList, remoteAddress: string | undefined): boolean {
  if (remoteAddress === undefined) return false;
  const plain = normalise(remoteAddress);
  return trusted.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
}

/** A socket that listens on both families tells IPv4 peers as `::ffff:127.0.0.1`, and a link's own address with its zone. */
function normalise(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
}
