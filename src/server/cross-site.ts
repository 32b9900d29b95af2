import type { IncomingMessage } from 'node:http';
import type { Refusal } from './refusal.ts';

/** Headers that no page of another site sends without asking first. Apollo's clients and others know them. */
const ASKED_FIRST = ['graphql-require-preflight', 'apollo-require-preflight'];

/**
 * The refusal of what a page of another site, or its pictures and links, had a browser send: it would run with the
 * viewer's sign-in. `isAdmitted`: the page is of an origin that may ask.
 * Browsers tell whose page it is in Sec-Fetch-Site, but not the old ones, and none of them to a server without TLS beyond
 * this machine. There, what a browser sends without asking first is refused, whoever wants it.
 * @see https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/Sec-Fetch-Site
 */
export function refuseCrossSite(request: IncomingMessage, isAdmitted: boolean): Refusal | undefined {
  if (isAdmitted) return undefined;
  const site = request.headers['sec-fetch-site'];
  const isOurs =
    site === undefined ? !isBrowser(request) || wasAskedFirst(request) : site === 'same-origin' || site === 'none';
  return isOurs ? undefined : crossSite;
}

/** A page cannot change its browser's name for what an `<img>` or a link sends, and hides no more than its address. */
function isBrowser({ headers }: IncomingMessage): boolean {
  const isNamedSo = headers['user-agent']?.startsWith('Mozilla/') === true;
  return isNamedSo || headers.origin !== undefined || headers.referer !== undefined;
}

/** A POST that is no JSON is refused whoever sends it. @see request-body.ts */
function wasAskedFirst({ method, headers }: IncomingMessage): boolean {
  if (method === 'POST') return true;
  return /^\s*application\/json\b/i.test(headers['content-type'] ?? '') || ASKED_FIRST.some((name) => headers[name]);
}

const crossSite: Refusal = {
  status: 403,
  code: 'BAD_USER_INPUT',
  message:
    'refused, since a page of another site may have caused it: POST as application/json, send graphql-require-preflight: 1, or name the origin of the page in server.cors',
};
