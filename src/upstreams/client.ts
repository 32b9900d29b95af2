import type { Clock } from '../clock.ts';
import type { HttpClient, HttpReply } from './http.ts';

/** Asks one base URL, with one credential. */
export interface Client {
  /** The URL of a path below the base, with the parameters that are there. */
  url(path: string, query?: Query): URL;
  /** Any status. With the token, if there is one. */
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
  const base = new URL(spec.url);
  const basePath = base.pathname.replace(/\/+$/, '');
  return {
    url(path, query = []) {
      const url = new URL(basePath + path, base.origin);
      for (const [name, value] of query) if (value !== undefined) url.searchParams.append(name, value);
      return url;
    },
    get: (url, signal) => deps.http.get({ url, token: spec.token, deadlineMs: spec.deadlineMs, signal }),
    now: () => deps.clock.now(),
    monotonic: () => deps.clock.monotonic(),
  };
}
