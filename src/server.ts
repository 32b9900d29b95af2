import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ContextDeps, createContext } from './context.ts';
import { UnauthenticatedError } from './errors.ts';
import type { FeedWatch } from './feed/watch.ts';
import { logTag } from './ids/tokens.ts';
import { createClientWords } from './resolvers/client-words.ts';
import { type CorsSetting, createCors } from './server/cors.ts';
import { refuseCrossSite } from './server/cross-site.ts';
import { endWhenSent } from './server/end-when-sent.ts';
import { createGraphiql, wantsPage } from './server/graphiql.ts';
import { createAnswerSize, MAX_ANSWER_LENGTH } from './server/graphql/answer-size.ts';
import { createErrorMask } from './server/graphql/errors.ts';
import { createGraphql } from './server/graphql/yoga.ts';
import { createHostCheck } from './server/hosts.ts';
import { busy, createLoad } from './server/load.ts';
import { createOperator } from './server/operator.ts';
import { type Refusal, refuse } from './server/refusal.ts';
import { readBody } from './server/request-body.ts';
import { createTurns } from './server/turns.ts';
import { type AuthSetting, createViewerReader } from './server/viewer.ts';
import type { Viewer } from './source.ts';
import { createSourceStates } from './source-states.ts';
import type { Store } from './stores/store.ts';

/** What a gateway's edge is made of. The settings are the checked ones, or those parts of them. */
export interface ServerDeps extends Omit<ContextDeps, 'clientWords' | 'openLogTags' | 'sourceStates' | 'store'> {
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

/** What is to be sent; a stream for a client that wants events. */
interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | Readable;
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

const tooLong: Refusal = {
  status: 400,
  code: 'BAD_USER_INPUT',
  message: `the answer would be longer than ${MAX_ANSWER_LENGTH} characters: select fewer fields, or ask with a lower limit`,
};

/** A stream of events is cut off when so long nothing of it could be sent, ms: there is a heartbeat every 12 s. */
const STREAM_STALL_MS = 30_000;

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
  const turn = createTurns(deps.clock);
  const yoga = createGraphql({
    maskError: createErrorMask({ ...deps, clientWords }),
    sources: deps.sources.length,
    turn,
  });
  const load = createLoad();
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
  const reading = new Map<IncomingMessage, ServerResponse>();
  let disposed = false;

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? '/';
    const path = url.split('?', 1)[0];
    if (path === '/health') return sendJson(response, 200, { status: 'ok' });
    if (path === '/ready') return sendReadiness(response);
    if (await answerOperator(path ?? '/', request, response)) return;
    const foreign = refuseForeignHost(request.headers.host);
    if (foreign) return refuse(request, response, foreign);
    if (path === '/') return void response.writeHead(302, { location: '/graphql' }).end();
    if (path !== '/graphql') return refuse(request, response, notFound);
    if (answerCors(request, response)) return;
    if (answerGraphiql && wantsPage(request)) return answerGraphiql(request, response);
    if (disposed) return refuse(request, response, closing);
    const crossSite = refuseCrossSite(request, response.hasHeader('access-control-allow-origin'));
    if (crossSite) return refuse(request, response, crossSite);
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
    const answered = load.work(async () => {
      await turn();
      return execute(request, url, { body, viewer });
    });
    if (!answered) return refuse(request, response, busy);
    const answer = await answered;
    if ('code' in answer) return refuse(request, response, answer);
    await send(request, response, answer);
  }

  /** An answer of at most MAX_ANSWER_LENGTH, or why there is none. */
  async function execute(
    { method = 'GET', headers }: IncomingMessage,
    url: string,
    { body, viewer }: { body: string | null; viewer: Viewer },
  ): Promise<Answer | Refusal> {
    const asked = new yoga.fetchAPI.Request(`http://sluice${url}`, {
      method,
      headers: { 'content-type': headers['content-type'] ?? '', accept: headers.accept ?? '*/*' },
      ...(body !== null && { body }),
    });
    const answerSize = createAnswerSize();
    const answer = await yoga.fetch(asked, { ...createContext(contextDeps, viewer), answerSize });
    if (answerSize.isExceeded) return tooLong;
    if (answer.status === notAcceptable.status) return notAcceptable;
    const head = { status: answer.status, headers: Object.fromEntries(answer.headers) };
    const isJson = answer.headers.get('content-type')?.includes('json') === true;
    if (!isJson && answer.body !== null) return { ...head, body: Readable.from(answer.body) };
    const text = await answer.text();
    return text.length > MAX_ANSWER_LENGTH ? tooLong : { ...head, body: Buffer.from(text) };
  }

  async function send(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
    const { status, headers, body } = answer;
    if (body instanceof Readable) {
      response.writeHead(status, headers).setTimeout(STREAM_STALL_MS, () => response.destroy());
      // Streams of events end with their client.
      return pipeline(body, response).catch(() => undefined);
    }
    const sent = load.send(body.length, async () => {
      response.writeHead(status, headers);
      if (body.length === 0) response.end();
      else await endWhenSent(response, body);
    });
    if (!sent) return refuse(request, response, busy);
    await sent;
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
