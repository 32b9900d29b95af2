import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface DemoRequest {
  readonly path: string;
  readonly query: URLSearchParams;
}

export interface DemoReply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An upstream of the demo on a free loopback port, with the rate limit headers that its network sends. */
export interface DemoServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function startDemoServer(
  answer: (request: DemoRequest) => DemoReply,
  headers: () => Readonly<Record<string, string>> = () => ({}),
): Promise<DemoServer> {
  const server = createServer((request, response) => {
    // Whatever scans this machine's ports finds this one, and may send `//`, which is no URL.
    const url = URL.parse(request.url ?? '/', 'http://127.0.0.1');
    const reply = url ? answer({ path: url.pathname, query: url.searchParams }) : { status: 400, body: {} };
    response.writeHead(reply.status, {
      'content-type': 'application/json; charset=utf-8',
      ...headers(),
      ...reply.headers,
    });
    response.end(JSON.stringify(reply.body));
  });
  server.unref();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => closeServer(server) };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
