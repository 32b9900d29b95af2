import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SimulatedPost, SimulatedTimeline } from './simulated-timeline.ts';

/** The simulated server as a Mastodon of its own, on a loopback port. */
export interface SimulatedHttp {
  readonly url: string;
  close(): Promise<void>;
}

/** How a page is answered. */
export interface PageAnswer {
  /** When the timeline is looked at. */
  readonly nowMs: number;
  /** What `Date` says, Unix ms; the real time where absent. */
  readonly dateMs?: number;
  /** Is told when the reply was handed to the network. */
  readonly sent?: (() => void) | undefined;
  /** Answers in the server's place, given what it would have said. */
  readonly spoil?: ((response: ServerResponse, body: string) => void) | undefined;
}

export interface SimulatedHttpOptions {
  /** Of the instance document, and by which software; a Mastodon where absent. */
  readonly version?: string;
  /**
   * Looks at each request for a page or a post, before it is answered: gives the headers that tell its limits, and a status where it
   * is refused. `query` is absent for a post.
   */
  readonly admit?: (request: {
    readonly path: string;
    readonly userAgent?: string | undefined;
    readonly query?: { readonly sinceId?: string | undefined; readonly maxId?: string | undefined };
  }) => { readonly headers?: Record<string, string> | undefined; readonly status?: number | undefined };
}

/** Speaks as much of Mastodon's API as public timelines and those of tags take; all show the same. `onPage` is asked before each page. */
export async function startSimulatedHttp(
  timeline: SimulatedTimeline,
  onPage: (query: { maxId?: string | undefined }) => PageAnswer,
  { version = '4.3.1', admit = () => ({}) }: SimulatedHttpOptions = {},
): Promise<SimulatedHttp> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const send = (status: number, body: unknown, headers: Record<string, string> = {}) => {
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
      response.end(JSON.stringify(body));
    };
    if (url.pathname === '/api/v2/instance') {
      const isMastodon = /^[\d.]+$/.test(version);
      const sourceUrl = isMastodon ? { source_url: 'https://github.com/mastodon/mastodon' } : {};
      return send(200, { domain: 'town.example', version, ...sourceUrl });
    }
    const { 'user-agent': userAgent } = request.headers;
    const refuse = (status: number, headers?: Record<string, string>) => send(status, { error: 'refused' }, headers);
    if (url.pathname.startsWith('/api/v1/statuses/')) {
      const { headers, status } = admit({ path: url.pathname, userAgent });
      if (status !== undefined) return refuse(status, headers);
      const answer = timeline.byId(url.pathname.slice('/api/v1/statuses/'.length));
      if (answer === 'unauthorized') return refuse(401, headers);
      return answer === 'gone' ? refuse(404, headers) : send(200, toStatus(answer), headers);
    }
    if (!/^\/api\/v1\/timelines\/(public|tag\/[^/]+)$/.test(url.pathname)) return refuse(404);
    const asked = (name: string) => url.searchParams.get(name) ?? undefined;
    const query = { sinceId: asked('since_id'), maxId: asked('max_id'), limit: Number(asked('limit') ?? 20) };
    const { headers, status } = admit({ path: url.pathname, userAgent, query });
    if (status !== undefined) return refuse(status, headers);
    const { nowMs, dateMs = Date.now(), sent, spoil } = onPage(query);
    response.setHeader('date', new Date(dateMs).toUTCString());
    const page = timeline.page(query, nowMs);
    if (spoil) return spoil(response, JSON.stringify(page.posts.map(toStatus)));
    const next = new URL(url.pathname, `http://${request.headers.host}`);
    if (page.next !== undefined) next.searchParams.set('max_id', page.next);
    send(200, page.posts.map(toStatus), {
      ...(headers ?? generous(dateMs)),
      ...(page.next !== undefined && { link: `<${next}>; rel="next"` }),
    });
    sent?.();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A limit that nobody reaches, so that fills and rescans need not wait for it. */
function generous(nowMs: number): Record<string, string> {
  return {
    'x-ratelimit-limit': '1000000',
    'x-ratelimit-remaining': '999000',
    'x-ratelimit-reset': new Date(nowMs + 300_000).toISOString(),
  };
}

function toStatus({ id, atMs, text }: SimulatedPost): unknown {
  return {
    id,
    uri: `https://town.example/posts/${id}`,
    url: `https://town.example/posts/${id}`,
    created_at: new Date(atMs).toISOString(),
    account: { id: '1', username: 'ann', acct: 'ann', display_name: 'Ann', url: 'https://town.example/@ann' },
    content: `<p>${text}</p>`,
    visibility: 'public',
    sensitive: false,
    spoiler_text: '',
    media_attachments: [],
    mentions: [],
    tags: [],
    emojis: [],
    favourites_count: 0,
  };
}
