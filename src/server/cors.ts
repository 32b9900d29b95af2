import type { IncomingMessage, ServerResponse } from 'node:http';

/** Browsers of which origins may read answers: those of this machine, or exactly those listed. `[]` admits none. */
export type CorsSetting = 'loopback' | readonly string[];

const LOOPBACK_ORIGIN = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/;
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~, -]{1,500}$/;
const PREFLIGHT_TTL_SECONDS = 600;

/**
 * Gives the function that puts CORS headers on a response, and answers preflights: true when it has.
 * `identityHeader` is the header that names the viewer: no page may set it. Credentials are allowed
 * with it alone, and never to loopback origins.
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export function createCors(
  setting: CorsSetting,
  identityHeader?: string,
): (request: IncomingMessage, response: ServerResponse) => boolean {
  const admits = (origin: string) => (setting === 'loopback' ? LOOPBACK_ORIGIN.test(origin) : setting.includes(origin));
  const credentials = identityHeader !== undefined && setting !== 'loopback';

  return ({ method, headers }, response) => {
    if (setting.length > 0) response.setHeader('vary', 'Origin');
    const admitted = headers.origin !== undefined && admits(headers.origin);
    if (admitted) {
      response.setHeader('access-control-allow-origin', String(headers.origin));
      if (credentials) response.setHeader('access-control-allow-credentials', 'true');
    }
    if (method !== 'OPTIONS') return false;
    if (admitted) {
      response.setHeader('access-control-allow-methods', 'GET, POST');
      response.setHeader('access-control-max-age', PREFLIGHT_TTL_SECONDS);
      const names = allowedNames(headers['access-control-request-headers'], identityHeader);
      if (names) response.setHeader('access-control-allow-headers', names);
    }
    response.writeHead(204, { allow: 'GET, POST, OPTIONS' }).end();
    return true;
  };
}

function allowedNames(asked: string | undefined, identityHeader: string | undefined): string {
  if (asked === undefined || !HEADER_NAMES.test(asked)) return '';
  const names = asked.split(',').map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== '' && name !== identityHeader?.toLowerCase()).join(', ');
}
