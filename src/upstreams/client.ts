import type { Clock } from '../clock.ts';
import { UpstreamError } from '../errors.ts';
import { type HttpClient, type HttpReply, requestLabel } from './http.ts';

/** Asks one base URL, with one credential. No request leaves the base's origin. */
export interface Client {
  /**
   * The URL of a path below the base, with the parameters that are there: the only place where an adapter's URLs are made.
   * Throws UpstreamError MALFORMED for a path that a URL would change, such as one with `..` or a backslash.
   */
  url(path: string, query?: Query): URL;
  /** Any status. With the token, if there is one. Throws UpstreamError, for a URL of another origin too. */
  get(url: URL, signal?: AbortSignal | undefined): Promise<HttpReply>;
  now(): number;
  monotonic(): number;
}

export type Query = readonly (readonly [name: string, value: string | undefined])[];

/** The base may hold a path: it is kept. Its query, fragment and credentials are not. */
export function createClient(
  spec: { url: string; token?: string | undefined; deadlineMs?: number | undefined },
  deps: { http: HttpClient; clock: Clock },
): Client {
  const { token, deadlineMs } = spec;
  const { origin, pathname } = new URL(spec.url);
  const basePath = pathname.replace(/\/+$/, '');
  return {
    url(path, query = []) {
      const url = new URL(origin);
      // Set as a path, and not resolved: `//host/x` would name a host.
      url.pathname = basePath + path;
      if (url.pathname !== basePath + path || !path.startsWith('/')) {
        throw new UpstreamError('MALFORMED', `${requestLabel(url)} was not sent: its path must stand as it is asked`);
      }
      for (const [name, value] of query) if (value !== undefined) url.searchParams.append(name, value);
      return url;
    },
    get: (url, signal) => deps.http.get({ url, origin, token, deadlineMs, signal }),
    now: () => deps.clock.now(),
    monotonic: () => deps.clock.monotonic(),
  };
}

/** An id or a name as one segment of a path, percent-encoded; undefined for what no segment can be: nothing, `.`, `..`. */
export function pathSegment(text: string): string | undefined {
  return text.isWellFormed() && !/^\.{0,2}$/.test(text) ? encodeURIComponent(text) : undefined;
}
