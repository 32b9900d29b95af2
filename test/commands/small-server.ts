import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What `home` asks for. */
export const TOKEN = 'a-token-that-nobody-may-see';
/** Too long for a JavaScript number. */
export const LARGE = '1234567890123456789';

const NEWEST_FIRST = ['115000000000000001', '115000000000000000'];

const INSTANCE = JSON.stringify({
  domain: 'town.example',
  version: '4.4.2\u001b[31m',
  source_url: 'https://github.com/mastodon/mastodon',
});

/** A Mastodon server of two pages on a loopback port. It sets a cookie, and under `/silent` it never answers. */
export async function startSmallServer(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(answer);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
  const send = (status: number, body: string, headers: Record<string, string> = {}) =>
    response.writeHead(status, { 'content-type': 'application/json', 'set-cookie': 'session=1', ...headers }).end(body);

  if (url.pathname.startsWith('/silent/')) return;
  if (url.pathname === '/api/v2/instance') return void send(200, INSTANCE);
  if (url.pathname === '/api/v1/timelines/home' && request.headers.authorization !== `Bearer ${TOKEN}`) {
    return void send(401, '{"error":"The access token is invalid"}');
  }
  if (!url.pathname.startsWith('/api/v1/timelines/')) return void send(404, '{"error":"Record not found"}');
  const below = url.searchParams.get('max_id');
  const ids = NEWEST_FIRST.filter((id) => below === null || id < below).slice(0, 1);
  send(200, `[${ids.map(status).join()}]`, {
    ...(ids[0] ? { link: `<${url.origin}${url.pathname}?max_id=${ids[0]}>; rel="next"` } : {}),
    'x-ratelimit-limit': '300',
    'x-ratelimit-remaining': '295',
    'x-ratelimit-reset': '2026-11-20T12:05:00.000000Z',
  });
}

function status(id: string): string {
  return `{"id":"${id}","uri":"https://town.example/s/${id}","created_at":"2026-11-20T11:59:00.000Z","visibility":"public","content":"<p>hello</p>","large":${LARGE},"account":{"id":"1","username":"ann","acct":"ann","note":"my token is ${TOKEN}"}}`;
}
