import { readFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createSchema, createYoga } from 'graphql-yoga';
import { type ContextDeps, createContext, type GraphQLContext } from './context.ts';
import { UnauthenticatedError } from './errors.ts';
import type { FeedWatch } from './feed/watch.ts';
import { logTag } from './ids/tokens.ts';
import { createBoundedCache } from './loaders/bounded-cache.ts';
import { createClientWords } from './resolvers/client-words.ts';
import { resolvers } from './resolvers/resolvers.ts';
import { type CorsSetting, createCors } from './server/cors.ts';
import { endWhenSent } from './server/end-when-sent.ts';
import { createGraphiql, wantsPage } from './server/graphiql.ts';
import { createErrorMask } from './server/graphql-errors.ts';
import { useDocumentLimits } from './server/graphql-limits.ts';
import { useStrictUrl } from './server/graphql-params.ts';
import { isLoopbackHost, refuseForeignHost } from './server/loopback.ts';
import { createOperator } from './server/operator.ts';
import { type Refusal, refuse } from './server/refusal.ts';
import { readBody } from './server/request-body.ts';
import { type AuthSetting, createViewerReader } from './server/viewer.ts';
import type { Viewer } from './source.ts';
import { createSourceStates } from './source-states.ts';
import type { Store } from './stores/store.ts';

/** What a gateway's edge is made of. The settings are the checked ones, or those parts of them. */
export interface ServerDeps extends Omit<ContextDeps, 'clientWords' | 'openLogTags' | 'sourceStates' | 'store'> {
  readonly settings: {
    readonly server: { readonly host: string; readonly cors: CorsSetting; readonly graphiql: boolean };
    readonly auth: AuthSetting;
    readonly operator?: { readonly token?: string | undefined } | undefined;
  };
  readonly watch: FeedWatch;
  readonly store: Pick<Store, 'feeds' | 'ping' | 'posts' | 'timelines'>;
  /** True once the sources' loops run, for `/ready`. Left out: they always do. */
  readonly loopsStarted?: () => boolean;
  /** Sluice's own, as `/ready` tells it. */
  readonly version: string;
  readonly log: (line: string) => void;
}

export interface GraphqlServer {
  /** For `http.createServer`: `/graphql`, `/health`, `/ready`. */
  readonly handler: RequestListener;
  /** Takes no new GraphQL requests, and resolves when those under way are answered. */
  dispose(): Promise<void>;
}

const closing: Refusal = {
  status: 503,
  code: 'UNAVAILABLE',
  message: 'this server is stopping: ask again',
  headers: { connection: 'close', 'retry-after': '1' },
};

const notFound: Refusal = { status: 404, code: 'BAD_USER_INPUT', message: 'not found: the endpoint is /graphql' };

const notAcceptable: Refusal = {
  status: 406,
  code: 'BAD_USER_INPUT',
  message: 'accept must allow application/graphql-response+json or application/json',
};

/** How long a server that stops waits for the rest of a request's body. */
const BODY_GRACE_MS = 1000;

/** Builds the edge: yoga, the schema, the resolvers, and what stands before them. Does not listen. */
export function createServer(deps: ServerDeps): GraphqlServer {
  const { settings, store, log } = deps;
  const { auth, server } = settings;
  const openLogs = deps.sources.filter(({ audience }) => audience === 'anyone');
  const clientWords = createClientWords(deps);
  const contextDeps: ContextDeps = {
    ...deps,
    clientWords,
    sourceStates: createSourceStates(store.timelines, deps.clock),
    openLogTags: new Set(openLogs.map(({ logId }) => logTag(logId))),
  };
  const yoga = createGraphql(createErrorMask({ ...deps, clientWords }));
  const readViewer = createViewerReader(auth);
  const answerCors = createCors(server.cors, auth.kind === 'header' ? auth.name : undefined);
  const answerGraphiql = server.graphiql ? createGraphiql() : undefined;
  const loopbackOnly = auth.kind === 'none' && isLoopbackHost(server.host);
  const answerOperator = createOperator({
    token: settings.operator?.token,
    feeds: store.feeds,
    watch: deps.watch,
    log,
  });
  const underWay = new Set<Promise<void>>();
  const reading = new Map<IncomingMessage, ServerResponse>();
  let disposed = false;

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? '/';
    const path = url.split('?', 1)[0];
    if (path === '/health') return sendJson(response, 200, { status: 'ok' });
    if (path === '/ready') return sendReadiness(response);
    if (await answerOperator(path ?? '/', request, response)) return;
    const foreign = loopbackOnly ? refuseForeignHost(request.headers.host) : undefined;
    if (foreign) return refuse(request, response, foreign);
    if (path === '/') return void response.writeHead(302, { location: '/graphql' }).end();
    if (path !== '/graphql') return refuse(request, response, notFound);
    if (answerCors(request, response)) return;
    if (answerGraphiql && wantsPage(request)) return answerGraphiql(request, response);
    if (disposed) return refuse(request, response, closing);
    return answerGraphql(request, response, url);
  }

  async function answerGraphql(request: IncomingMessage, response: ServerResponse, url: string): Promise<void> {
    const viewer = viewerOrRefusal(readViewer, request);
    if ('status' in viewer) return refuse(request, response, viewer);
    reading.set(request, response);
    const body = request.method === 'POST' ? await readBody(request) : null;
    reading.delete(request);
    if (body === undefined || response.writableEnded) return;
    if (body !== null && typeof body === 'object') return refuse(request, response, body);
    const { method = 'GET', headers } = request;
    const asked = new yoga.fetchAPI.Request(`http://sluice${url}`, {
      method,
      headers: { 'content-type': headers['content-type'] ?? '', accept: headers.accept ?? '*/*' },
      ...(body !== null && { body }),
    });
    const answer = await yoga.fetch(asked, createContext(contextDeps, viewer));
    if (answer.status === notAcceptable.status) return refuse(request, response, notAcceptable);
    await send(answer, response);
  }

  async function sendReadiness(response: ServerResponse): Promise<void> {
    const answers = await store.ping().then(
      () => true,
      () => false,
    );
    const sources = deps.loopsStarted?.() ?? true;
    const ready = answers && sources && !disposed;
    sendJson(response, ready ? 200 : 503, {
      status: ready ? 'ready' : 'not ready',
      store: answers,
      sources,
      version: deps.version,
    });
  }

  return {
    handler(request, response) {
      const work = route(request, response).catch((error: unknown) => {
        log(`answering ${request.method} failed: ${error instanceof Error ? error.stack : String(error)}`);
        if (response.headersSent) response.destroy();
        else
          refuse(request, response, { status: 500, code: 'INTERNAL_SERVER_ERROR', message: 'internal server error' });
      });
      underWay.add(work);
      void work.finally(() => underWay.delete(work));
    },
    async dispose() {
      disposed = true;
      const grace = setTimeout(() => {
        for (const [request, response] of reading) {
          response.once('close', () => request.destroy());
          refuse(request, response, closing);
        }
      }, BODY_GRACE_MS);
      while (underWay.size > 0) await Promise.all(underWay);
      clearTimeout(grace);
      await yoga.dispose();
    },
  };
}

function createGraphql(maskError: ReturnType<typeof createErrorMask>) {
  const typeDefs = readFileSync(new URL('../schema.graphql', import.meta.url), 'utf8');
  return createYoga<GraphQLContext>({
    schema: createSchema<GraphQLContext>({ typeDefs, resolvers }),
    plugins: [useStrictUrl(), useDocumentLimits()],
    maskedErrors: { maskError },
    // A URL cannot hold a space: Yoga would take any query string that ends in its path for a health check.
    healthCheckEndpoint: ' ',
    parserAndValidationCache: {
      documentCache: createBoundedCache({ maxEntries: 250, maxKeyLength: 20_000 }),
      errorCache: createBoundedCache({ maxEntries: 0, maxKeyLength: 0 }),
    },
    maxRequestBodySize: false,
    batching: false,
    multipart: false,
    cors: false,
    graphiql: false,
    landingPage: false,
    logging: false,
  });
}

function viewerOrRefusal(readViewer: (request: IncomingMessage) => Viewer, request: IncomingMessage): Viewer | Refusal {
  try {
    return readViewer(request);
  } catch (error) {
    if (!(error instanceof UnauthenticatedError)) throw error;
    return { status: 400, code: error.code, message: error.message };
  }
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.headers.get('content-type')?.includes('json') || answer.body === null) {
    const text = await answer.text();
    return text === '' ? void response.end() : endWhenSent(response, text);
  }
  // Streams of events end with their client.
  await pipeline(Readable.from(answer.body), response).catch(() => undefined);
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}
