import type { UpstreamError, UpstreamErrorCode } from '../errors.ts';
import type { HttpReply } from './http.ts';
import { replyError } from './reply.ts';
import { errors } from './twitter-v1-schema.ts';

/** @see https://developer.x.com/en/support/x-api/error-troubleshooting#error-codes */
const CODES: ReadonlyMap<number, UpstreamErrorCode> = new Map([
  [32, 'UNAUTHORIZED'],
  [89, 'UNAUTHORIZED'],
  [99, 'UNAUTHORIZED'],
  [135, 'UNAUTHORIZED'],
  [215, 'UNAUTHORIZED'],
  [63, 'FORBIDDEN'],
  [64, 'FORBIDDEN'],
  [179, 'FORBIDDEN'],
  [220, 'FORBIDDEN'],
  [326, 'FORBIDDEN'],
  [17, 'GONE'],
  [34, 'GONE'],
  [50, 'GONE'],
  [144, 'GONE'],
  [88, 'RATE_LIMITED'],
  [130, 'UNAVAILABLE'],
  [131, 'UNAVAILABLE'],
]);

/** The error that a body names by its code, whatever the status: they come with 200 and 403 too. */
export function namedError(body: unknown, reply: HttpReply, url: URL, nowMs: number): UpstreamError | undefined {
  const parsed = errors.safeParse(body);
  const code = parsed.success ? parsed.data.errors.map(({ code }) => CODES.get(code)).find(Boolean) : undefined;
  return code && replyError(code, reply, url, nowMs);
}
