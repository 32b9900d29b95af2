import type { IncomingMessage, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { GraphQLContext } from '../../context.ts';
import type { Viewer } from '../../source.ts';
import { endWhenSent } from '../end-when-sent.ts';
import { busy, createLoad, type Share } from '../load.ts';
import { type Refusal, refuse } from '../refusal.ts';
import { readBody } from '../request-body.ts';
import { createTurns } from '../turns.ts';
import { createAnswerSize, MAX_ANSWER_LENGTH } from './answer-size.ts';
import { createGraphql, type GraphqlDeps, type YogaContext } from './yoga.ts';

/** `/graphql`, for requests that may ask: from the body to the last byte of the answer. */
export interface GraphqlEndpoint {
  /** Resolves when the answer has left, or its client. */
  answer(request: IncomingMessage, response: ServerResponse, viewer: Viewer): Promise<void>;
  /** Refuses the requests whose bodies have not come whole yet. */
  refuseHalfRead(refusal: Refusal): void;
  dispose(): Promise<void>;
}

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

const tooSlow: Refusal = {
  status: 408,
  code: 'BAD_USER_INPUT',
  message: 'the request was sent too slowly',
  headers: { connection: 'close' },
};

/** Bodies that have not come whole yet: beyond it the oldest gives its place to the next. */
const MAX_HALF_READ = 1_000;
/** How long requests may be executed in one turn of the event loop before the next waits for another, ms. */
const TURN_MS = 10;

/** An answer of that length fits into what the system keeps for a connection: nobody waits until it is read. */
const SMALL_LENGTH = 16_000;

/** So many forms of an Accept header are known: clients send a few. */
const MAX_ACCEPTS = 100;
const MAX_ACCEPT_LENGTH = 500;

/** What is to be sent. */
interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The whole answer is sent, with its length. */
const OF_THE_CONNECTION = new Set(['transfer-encoding', 'connection']);
/** Anything else is more than the text of an answer. */
const JSON_TYPE = /^application\/(?:graphql-response\+)?json\b/;

/** Why the answer that was made is not sent. */
function refusalOf(
  { share, answerSize }: Pick<YogaContext, 'share' | 'answerSize'>,
  text: string,
): Refusal | undefined {
  if (share.isRefused) return busy;
  return answerSize.isExceeded || text.length > MAX_ANSWER_LENGTH ? tooLong : undefined;
}

export function createGraphqlEndpoint(
  deps: Omit<GraphqlDeps, 'turn'> & { contextFor: (viewer: Viewer) => GraphQLContext },
): GraphqlEndpoint {
  const turn = createTurns(deps.clock, TURN_MS);
  const load = createLoad(deps.clock);
  const { yoga, known } = createGraphql({ ...deps, turn });
  /** What Yoga sent with a plain answer, by the Accept header: what is sent with those that it does not make. */
  const plainHeaders = new LRUCache<string, Readonly<Record<string, string>>>({ max: MAX_ACCEPTS });
  const halfRead = new Map<IncomingMessage, ServerResponse>();

  async function readWhole(request: IncomingMessage, response: ServerResponse) {
    const [oldest] = halfRead;
    if (oldest && halfRead.size >= MAX_HALF_READ) end(oldest, tooSlow);
    halfRead.set(request, response);
    const body = await readBody(request);
    halfRead.delete(request);
    return body;
  }

  /** Once: it is forgotten before its client hears of it. */
  function end([request, response]: readonly [IncomingMessage, ServerResponse], refusal: Refusal): void {
    halfRead.delete(request);
    response.once('close', () => request.destroy());
    refuse(request, response, refusal);
  }

  /** An answer of at most MAX_ANSWER_LENGTH, or why there is none. */
  async function execute(
    request: IncomingMessage,
    { body, viewer, share }: { body: string | null; viewer: Viewer; share: Share },
  ): Promise<Answer | Refusal> {
    const { method = 'GET', url = '/', headers } = request;
    const { accept = '*/*' } = headers;
    const answerSize = createAnswerSize();
    const context: YogaContext = Object.assign(deps.contextFor(viewer), { answerSize, share });
    const plain = plainHeaders.get(accept);
    const run = plain && body !== null ? known(body) : undefined;
    if (plain && run) {
      const text = await run(context);
      return refusalOf(context, text) ?? { status: 200, headers: plain, text };
    }
    const asked = new yoga.fetchAPI.Request(`http://sluice${url}`, {
      method,
      headers: { accept, ...(body !== null && { 'content-type': 'application/json' }) },
      ...(body !== null && { body }),
    });
    // Behind another object: Yoga copies the properties of what it is given, one by one, and more than once.
    const answer = await yoga.fetch(asked, Object.create(context) as YogaContext);
    const text = await answer.text();
    const refusal = refusalOf(context, text);
    if (refusal) return refusal;
    if (answer.status === notAcceptable.status) return notAcceptable;
    const sent = Object.fromEntries([...answer.headers].filter(([name]) => !OF_THE_CONNECTION.has(name.toLowerCase())));
    const isJson = JSON_TYPE.test(answer.headers.get('content-type') ?? '');
    if (answer.status === 200 && body !== null && isJson && accept.length <= MAX_ACCEPT_LENGTH)
      plainHeaders.set(accept, sent);
    return { status: answer.status, headers: sent, text };
  }

  /** Undefined where it was too much. */
  async function send(response: ServerResponse, { status, headers, text }: Answer): Promise<true | undefined> {
    if (text.length <= SMALL_LENGTH) {
      response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(text) }).end(text);
      return true;
    }
    const body = Buffer.from(text);
    const sent = load.send({ bytes: body.length, cut: () => response.destroy() }, () => {
      response.writeHead(status, { ...headers, 'content-length': body.length });
      return endWhenSent(response, body);
    });
    if (!sent) return undefined;
    await sent;
    return true;
  }

  return {
    async answer(request, response, viewer) {
      const body = request.method === 'POST' ? await readWhole(request, response) : null;
      if (body === undefined || response.writableEnded) return;
      if (body !== null && typeof body === 'object') return refuse(request, response, body);
      const answer = await load.work(async (share) => {
        await turn();
        return execute(request, { body, viewer, share });
      });
      if (answer === undefined || 'code' in answer) return refuse(request, response, answer ?? busy);
      if (!(await send(response, answer))) refuse(request, response, busy);
    },
    refuseHalfRead(refusal) {
      for (const one of halfRead) end(one, refusal);
    },
    async dispose() {
      await yoga.dispose();
    },
  };
}
