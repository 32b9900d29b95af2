import { readdirSync, readFileSync } from 'node:fs';
import type { Clock } from '../../src/clock.ts';
import type { HttpClient, HttpReply } from '../../src/upstreams/http.ts';

/** Some time after the hand-written recordings. */
export const NOW_MS = Date.UTC(2026, 10, 20, 12, 1);

export const testClock: Clock = { now: () => NOW_MS, monotonic: () => 0, sleep: () => Promise.resolve() };

export interface Recording {
  readonly name: string;
  readonly request: { readonly path?: string; readonly auth?: string };
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** As it came, large numbers exact. */
  readonly bodyText: string;
}

/** Where a page starts: a recording answers only requests that have the same of these. */
const PAGING = ['since_id', 'max_id', 'min_id', 'pagination_token', 'next_token', 'id', 'ids', 'id[]'];

export function readRecordings(folder: URL): readonly Recording[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => readRecording(new URL(name, folder)));
}

export function readRecording(file: URL): Recording {
  const text = readFileSync(file, 'utf8');
  const { request, status, headers } = JSON.parse(text);
  const exact = JSON.parse(text, (_, value, { source } = { source: '' }) =>
    typeof value === 'number' ? rawJson(source) : value,
  );
  const bodyText = typeof exact.body === 'string' ? exact.body : JSON.stringify(exact.body);
  const name = file.pathname.split('/').slice(-2).join('/');
  return { name, request, status, headers, bodyText };
}

/** The folder below test/recordings. */
export function recordings(name: string): URL {
  return new URL(`../recordings/${name}/`, import.meta.url);
}

/**
 * Answers from recordings, first from those of the same account, named by the token; a request that none of them answers
 * fails by name. `asked` lists what was asked for.
 */
export function createReplayHttp(folder: string): HttpClient & { readonly asked: readonly string[] } {
  const all = readRecordings(recordings(folder));
  const asked: string[] = [];
  return {
    asked,
    async get({ url, token = 'none' }) {
      asked.push(decodeURIComponent(url.pathname + url.search));
      const found = all
        .filter((recording) => answers(recording, url))
        .sort((a, b) => Number(b.request.auth === token) - Number(a.request.auth === token))[0];
      if (!found) throw new Error(`no recording for GET ${url.pathname}${url.search} in ${folder}/`);
      return replyOf(found);
    },
    close: () => Promise.resolve(),
  };
}

/** Always this reply, whatever is asked for; instance documents are not found. */
export function createFixedHttp(reply: Partial<HttpReply>): HttpClient & { readonly asked: readonly string[] } {
  const asked: string[] = [];
  return {
    asked,
    async get({ url }) {
      asked.push(decodeURIComponent(url.pathname + url.search));
      const aboutServer = /\/instance$|nodeinfo/.test(url.pathname);
      return { status: 200, headers: {}, bodyText: '', sentAtMs: NOW_MS, ...(aboutServer ? { status: 404 } : reply) };
    },
    close: () => Promise.resolve(),
  };
}

export function replyOf({ status, headers, bodyText }: Recording): HttpReply {
  return { status, headers, bodyText, sentAtMs: NOW_MS };
}

function answers({ request }: Recording, url: URL): boolean {
  if (request.path === undefined) return false;
  const recorded = new URL(request.path, 'http://localhost/');
  if (recorded.pathname !== url.pathname) return false;
  const same = (name: string) => String(recorded.searchParams.getAll(name)) === String(url.searchParams.getAll(name));
  return [...PAGING, ...recorded.searchParams.keys()].every(same);
}

/** JSON.rawJSON is newer than the type declarations. */
function rawJson(source: string): unknown {
  const make: unknown = Reflect.get(JSON, 'rawJSON');
  return typeof make === 'function' ? make(source) : JSON.parse(source);
}
