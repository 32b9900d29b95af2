import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FeedWatch } from '../feed/watch.ts';
import type { FeedStore } from '../stores/feed-store.ts';
import { type Refusal, refuse } from './refusal.ts';
import { readBody } from './request-body.ts';

/** What an operator asks a gateway, with a token of their own: `GET /metrics`, `POST /purge` with `{"viewer": "ID"}`. */
export type OperatorEndpoints = (path: string, request: IncomingMessage, response: ServerResponse) => Promise<boolean>;

const notTheOperator: Refusal = {
  status: 401,
  code: 'UNAUTHENTICATED',
  message: 'this needs the operator token: authorization: Bearer …',
  headers: { 'www-authenticate': 'Bearer' },
};

const noViewer: Refusal = {
  status: 400,
  code: 'BAD_USER_INPUT',
  message: 'purge needs a body such as {"viewer": "ann"}',
};

const wrongMethod = (allow: string): Refusal => ({
  status: 405,
  code: 'BAD_USER_INPUT',
  message: `this takes ${allow}`,
  headers: { allow },
});

const MAX_VIEWER_LENGTH = 256;

/** The function gives false for a path that is none of its own: without a token, for all. */
export function createOperator(deps: {
  token: string | undefined;
  feeds: Pick<FeedStore, 'purge'>;
  watch: FeedWatch;
  log: (line: string) => void;
}): OperatorEndpoints {
  const { token, feeds, watch, log } = deps;

  async function purge(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if (body === undefined) return;
    if (typeof body === 'object') return refuse(request, response, body);
    const viewer = viewerOf(body);
    if (viewer === undefined) return refuse(request, response, noViewer);
    const removed = await feeds.purge(viewer);
    log(`operator: purged ${removed} feed instances of one viewer`);
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify({ removed }));
  }

  return async (path, request, response) => {
    if (token === undefined || (path !== '/metrics' && path !== '/purge')) return false;
    const allow = path === '/metrics' ? 'GET' : 'POST';
    if (!isAuthorised(request, token)) refuse(request, response, notTheOperator);
    else if (request.method !== allow) refuse(request, response, wrongMethod(allow));
    else if (path === '/purge') await purge(request, response);
    else response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(metrics(watch));
    return true;
  };
}

/** In the text format of Prometheus. @see https://prometheus.io/docs/instrumenting/exposition_formats/ */
function metrics({ pages, repeats, deadEnds }: FeedWatch): string {
  const counters = [
    ['sluice_feed_pages_total', 'Pages of For You that were served.', pages],
    ['sluice_feed_repeats_total', 'Items that their scroll had shown before: must stay 0.', repeats],
    ['sluice_feed_dead_ends_total', 'Scrolls that ended although they could go on: must stay 0.', deadEnds],
  ] as const;
  return counters
    .map(([name, help, value]) => `# HELP ${name} ${help}\n# TYPE ${name} counter\n${name} ${value}\n`)
    .join('');
}

function isAuthorised({ headers }: IncomingMessage, token: string): boolean {
  const given = /^bearer (.+)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}

function viewerOf(body: string): string | undefined {
  try {
    const { viewer } = JSON.parse(body) as { viewer?: unknown };
    return typeof viewer === 'string' && viewer !== '' && viewer.length <= MAX_VIEWER_LENGTH ? viewer : undefined;
  } catch {
    return undefined;
  }
}
