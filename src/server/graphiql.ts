import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { endWhenSent } from './end-when-sent.ts';
import { exampleTabs } from './graphiql-tabs.ts';

type Encoding = 'br' | 'gzip' | 'identity';

/** No request may leave the origin: the page holds all that it needs. Its editor makes its workers from blobs. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "connect-src 'self'",
  "script-src 'unsafe-inline' 'unsafe-eval' blob:",
  'worker-src blob:',
  "style-src 'unsafe-inline'",
  'img-src data: blob:',
  'font-src data:',
  "frame-ancestors 'none'",
].join('; ');

/** True for a browser that asks for the page itself, not for data. */
export function wantsPage({ method, headers }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true;
}

/**
 * Gives the function that answers with the GraphiQL page. The page is 9 MB: it is built on the first visit, compressed
 * once for each encoding that is asked for, and has an ETag.
 */
export function createGraphiql(): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  let page: Promise<Buffer> | undefined;
  let digest: Promise<string> | undefined;
  const bodies = new Map<Encoding, Promise<Buffer>>();

  function bodyIn(encoding: Encoding): Promise<Buffer> {
    page ??= renderPage();
    const body = bodies.get(encoding) ?? page.then(compress[encoding]);
    bodies.set(encoding, body);
    return body;
  }

  return async ({ headers }, response) => {
    const encoding = chooseEncoding(headers['accept-encoding']);
    digest ??= bodyIn('identity').then(digestOf);
    const etag = `"${await digest}-${encoding}"`;
    response.appendHeader('vary', 'Accept, Accept-Encoding');
    response.setHeaders(
      new Map([
        ['etag', etag],
        ['cache-control', 'no-cache'],
      ]),
    );
    if (names(headers['if-none-match'], etag)) {
      response.writeHead(304).end();
      return;
    }
    const body = await bodyIn(encoding);
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'content-length': body.length,
      'content-security-policy': CONTENT_SECURITY_POLICY,
      'referrer-policy': 'no-referrer',
      ...(encoding !== 'identity' && { 'content-encoding': encoding }),
    });
    await endWhenSent(response, body);
  };
}

/** Imported when it is needed: the module alone is 9 MB. */
async function renderPage(): Promise<Buffer> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  return Buffer.from(renderGraphiQL({ title: 'Sluice', endpoint: '/graphql', defaultTabs: [...exampleTabs] }));
}

const compress: Readonly<Record<Encoding, (page: Buffer) => Promise<Buffer> | Buffer>> = {
  // Higher qualities take many seconds for the last tenth.
  br: (page) => promisify(brotliCompress)(page, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (page) => promisify(gzip)(page),
  identity: (page) => page,
};

/** The best of ours that the header names; one with `q=0` is refused. */
function chooseEncoding(accepted: string | undefined): Encoding {
  const named = new Set<string>();
  for (const part of (accepted ?? '').toLowerCase().split(',')) {
    const [name = '', quality] = part.split(';').map((piece) => piece.trim());
    if (!/^q=0(\.0{0,3})?$/.test(quality ?? '')) named.add(name);
  }
  if (named.has('br')) return 'br';
  return named.has('gzip') ? 'gzip' : 'identity';
}

function names(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}

function digestOf(page: Buffer): string {
  return createHash('sha256').update(page).digest('base64url').slice(0, 22);
}
