import type { PostId } from '../post.ts';
import { escapePart, unescapePart } from './escape.ts';

/** UTF-16 units: so long an id still fits into a timeline token of 50 sources. */
const MAX_UPSTREAM_ID_LENGTH = 255;
const HOST = /^[a-z0-9._:[\]-]{1,255}$/;

/**
 * `<upstream id>@<host>` with `:`, `@` and `%` of the upstream id percent-encoded: `115@town.example:8443`.
 * The host is lower-case and may hold a port.
 * @throws RangeError when `isUpstreamId` or `isHost` says no.
 */
export function formatPostId(upstreamId: string, host: string): PostId {
  if (!isUpstreamId(upstreamId)) {
    throw new RangeError(
      `an upstream id must be 1 to ${MAX_UPSTREAM_ID_LENGTH} well-formed characters, got ${upstreamId.length}`,
    );
  }
  if (!isHost(host)) throw new RangeError('the host of a post id must be a lower-case host name, with or without port');
  return `${escapePart(upstreamId)}@${host}`;
}

/** The exact inverse of `formatPostId`; undefined for what it would not give, such as a missing host. */
export function parsePostId(id: string): { upstreamId: string; host: string } | undefined {
  const at = id.lastIndexOf('@');
  if (at < 1) return undefined;
  const host = id.slice(at + 1);
  const upstreamId = unescapePart(id.slice(0, at));
  if (upstreamId === undefined || !isUpstreamId(upstreamId) || !isHost(host)) return undefined;
  return { upstreamId, host };
}

/** True for 1 to 255 characters of well-formed Unicode: what an upstream's id of a post or an account may be. */
export function isUpstreamId(text: string): boolean {
  return text.length > 0 && text.length <= MAX_UPSTREAM_ID_LENGTH && text.isWellFormed();
}

/** True for a lower-case host name or address, with or without a port: `x.com`, `localhost:8803`, `[::1]:80`. */
export function isHost(text: string): boolean {
  return HOST.test(text);
}
