import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SimulatedPost, SimulatedTimeline } from './simulated-timeline.ts';

/** The simulated server as a Mastodon of its own, on a loopback port. */
export interface SimulatedHttp {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Speaks as much of Mastodon's API as a public timeline takes. `onPage` is asked before each page: it gives the time at which
 * the timeline is looked at, and is told when the reply was handed to the network.
 */
export async function startSimulatedHttp(
  timeline: SimulatedTimeline,
  onPage: (query: { maxId?: string | undefined }) => { nowMs: number; sent?: (() => void) | undefined },
): Promise<SimulatedHttp> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const send = (status: number, body: unknown, headers: Record<string, string> = {}) => {
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
      response.end(JSON.stringify(body));
    };
    if (url.pathname === '/api/v2/instance') {
      return send(200, {
        domain: 'town.example',
        version: '4.3.1',
        source_url: 'https://github.com/mastodon/mastodon',
      });
    }
    if (url.pathname !== '/api/v1/timelines/public') return send(404, { error: 'Record not found' });
    const asked = (name: string) => url.searchParams.get(name) ?? undefined;
    const query = { sinceId: asked('since_id'), maxId: asked('max_id'), limit: Number(asked('limit') ?? 20) };
    const { nowMs, sent } = onPage(query);
    const page = timeline.page(query, nowMs);
    const next = new URL(url.pathname, `http://${request.headers.host}`);
    if (page.next !== undefined) next.searchParams.set('max_id', page.next);
    send(200, page.posts.map(toStatus), page.next === undefined ? {} : { link: `<${next}>; rel="next"` });
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
