import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type ContextDeps, createContext } from './context.ts';
import { UnauthenticatedError } from './errors.ts';
import type { FeedWatch } from './feed/watch.ts';
import { logTag } from './ids/tokens.ts';
import { createClientWords } from './resolvers/client-words.ts';
import { type CorsSetting, createCors } from './server/cors.ts';
import { refuseCrossSite } from './server/cross-site.ts';
import { createGraphiql, wantsPage } from './server/graphiql.ts';
import { createGraphqlEndpoint } from './server/graphql/endpoint.ts';
import { createHostCheck } from './server/hosts.ts';
import { createOperator } from './server/operator.ts';
import { type Refusal, refuse } from './server/refusal.ts';
import { createTurns } from './server/turns.ts';
import { type AuthSetting, createViewerReader } from './server/viewer.ts';
import type { Viewer } from './source.ts';
import { createSourceStates } from './source-states.ts';
import type { Store } from './stores/store.ts';

/** What a gateway's edge is made of. The settings are the checked ones, or those parts of them. */
export interface ServerDeps
  extends Omit<ContextDeps, 'clientWords' | 'openLogTags' | 'pageTurn' | 'sourceStates' | 'store'> {
  readonly settings: {
    readonly server: {
      readonly host: string;
      readonly hosts?: readonly string[] | undefined;
      readonly cors: CorsSetting;
      readonly graphiql: boolean;
    };
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
    pageTurn: createTurns(deps.clock, 0),
    sourceStates: createSourceStates(store.timelines, deps.clock),
    openLogTags: new Set(openLogs.map(({ logId }) => logTag(logId))),
  };
  const graphql = createGraphqlEndpoint({
    ...{ clock: deps.clock, clientWords, log, sourceCount: deps.sources.length },
    contextFor: (viewer) => createContext(contextDeps, viewer),
  });
  const readViewer = createViewerReader(auth);
  const answerCors = createCors(server.cors, auth.kind === 'header' ? auth.name : undefined);
  const answerGraphiql = server.graphiql ? createGraphiql() : undefined;
  const refuseForeignHost = createHostCheck({ host: server.host, hosts: server.hosts ?? [] });
  const answerOperator = createOperator({
    token: settings.operator?.token,
    feeds: store.feeds,
    watch: deps.watch,
    log,
  });
  const underWay = new Set<Promise<void>>();
  let disposed = false;

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.split('?', 1)[0] ?? '/';
    if (path === '/health') return sendJson(response, 200, { status: 'ok' });
    if (path === '/ready') return sendReadiness(response);
    if (await answerOperator(path, request, response)) return;
    const foreign = refuseForeignHost(request.headers.host);
    if (foreign) return refuse(request, response, foreign);
    if (path === '/') return void response.writeHead(302, { location: '/graphql' }).end();
    if (path !== '/graphql') return refuse(request, response, notFound);
    if (answerCors(request, response)) return;
    if (answerGraphiql && wantsPage(request)) return answerGraphiql(request, response);
    if (disposed) return refuse(request, response, closing);
    const crossSite = refuseCrossSite(request, response.hasHeader('access-control-allow-origin'));
    if (crossSite) return refuse(request, response, crossSite);
    const viewer = viewerOrRefusal(readViewer, request);
    return 'status' in viewer ? refuse(request, response, viewer) : graphql.answer(request, response, viewer);
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
      response.setHeader('x-content-type-options', 'nosniff');
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
      const grace = setTimeout(() => graphql.refuseHalfRead(closing), BODY_GRACE_MS);
      while (underWay.size > 0) await Promise.all(underWay);
      clearTimeout(grace);
      await graphql.dispose();
    },
  };
}

function viewerOrRefusal(readViewer: (request: IncomingMessage) => Viewer, request: IncomingMessage): Viewer | Refusal {
  try {
    return readViewer(request);
  } catch (error) {
    if (!(error instanceof UnauthenticatedError)) throw error;
    return { status: 400, code: error.code, message: error.message };
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}
