import { UpstreamError, type UpstreamErrorCode } from '../errors.ts';
import { parseBoundedJson } from '../input/bounded-json.ts';
import { type HttpReply, requestLabel } from './http.ts';
import { isEndpointLimit, isRetryGuessed, readRetryAfter, readRetryAt } from './rate-limit.ts';

/** The JSON of a reply with status 200 or 206. Throws UpstreamError for any other status, for HTML, for what is no JSON, and for more of it than is parsed. */
export function readJson(reply: HttpReply, url: URL, nowMs: number): unknown {
  if (reply.status !== 200 && reply.status !== 206) throw statusError(reply, url, nowMs);
  if (isHtml(reply)) {
    throw new UpstreamError('UNAVAILABLE', `${requestLabel(url)} answered with HTML where JSON was expected`, {
      status: reply.status,
    });
  }
  const body = parseBoundedJson(reply.bodyText);
  if ('value' in body) return body.value;
  const { isTooLarge } = body;
  const what = `${requestLabel(url)} answered with ${body.refused}`;
  throw new UpstreamError('MALFORMED', what, { status: reply.status, isTooLarge });
}

/** A body as JSON, `undefined` when it is none, or more than is parsed. */
export function parseBody(reply: HttpReply): unknown {
  const body = parseBoundedJson(reply.bodyText);
  return 'value' in body ? body.value : undefined;
}

/** What a reply without posts amounts to, told from its status alone: the texts of error bodies are localised. */
export function statusError(reply: HttpReply, url: URL, nowMs: number): UpstreamError {
  return replyError(codeOfStatus(reply.status), reply, url, nowMs);
}

/** An error of a code that the adapter found in the body; `retryAtMs` comes from the headers. */
export function replyError(code: UpstreamErrorCode, reply: HttpReply, url: URL, nowMs: number): UpstreamError {
  const retryAtMs =
    code === 'RATE_LIMITED'
      ? readRetryAt(reply.headers, nowMs)
      : code === 'UNAVAILABLE'
        ? readRetryAfter(reply.headers, nowMs)
        : undefined;
  const retry = retryAtMs === undefined ? '' : `, retry after ${Math.ceil((retryAtMs - nowMs) / 1000)} s`;
  const isRedirect = reply.status >= 300 && reply.status < 400;
  const moved = isRedirect ? ' (redirects are not followed)' : '';
  return new UpstreamError(code, `${requestLabel(url)} answered ${reply.status}${moved}${retry}`, {
    hint: isRedirect ? movedTo(reply, url) : undefined,
    status: reply.status,
    retryAtMs,
    endpoint: code === 'RATE_LIMITED' && isEndpointLimit(reply.headers, nowMs),
    guessed: code === 'RATE_LIMITED' && isRetryGuessed(reply.headers, nowMs),
  });
}

/** MALFORMED, with what was wrong: `answered with …`. */
export function malformed(url: URL, what: string, status?: number): UpstreamError {
  return new UpstreamError('MALFORMED', `${requestLabel(url)} ${what}`, { status });
}

function codeOfStatus(status: number): UpstreamErrorCode {
  if (status === 401) return 'UNAUTHORIZED';
  // 418 is GoToSocial's answer to clients it does not want; 422 Mastodon's to an app's token where a user's is needed.
  if (status === 403 || status === 418 || status === 422 || status === 451) return 'FORBIDDEN';
  if (status === 404 || status === 410) return 'GONE';
  if (status === 420 || status === 429) return 'RATE_LIMITED';
  if (status === 408 || status < 400 || status >= 500) return 'UNAVAILABLE';
  return 'MALFORMED';
}

/** Only the origin: a hostile Location may hold anything. */
function movedTo(reply: HttpReply, url: URL): string | undefined {
  const target = URL.parse(reply.headers.location ?? '', url);
  return target && target.origin !== url.origin && target.origin !== 'null'
    ? `it moved, set url to ${target.origin}`
    : undefined;
}

function isHtml(reply: HttpReply): boolean {
  return /\bhtml\b/i.test(reply.headers['content-type'] ?? '') || /^\s*<(!doctype|html)/i.test(reply.bodyText);
}
