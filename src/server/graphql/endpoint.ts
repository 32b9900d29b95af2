import type { IncomingMessage, ServerResponse } from 'node:http';
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

/** What is to be sent. */
interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export function createGraphqlEndpoint(
  deps: Omit<GraphqlDeps, 'turn'> & { contextFor: (viewer: Viewer) => GraphQLContext },
): GraphqlEndpoint {
  const turn = createTurns(deps.clock, TURN_MS);
  const load = createLoad(deps.clock);
  const yoga = createGraphql({ ...deps, turn });
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
    const asked = new yoga.fetchAPI.Request(`http://sluice${url}`, {
      method,
      headers: { accept: headers.accept ?? '*/*', ...(body !== null && { 'content-type': 'application/json' }) },
      ...(body !== null && { body }),
    });
    const answerSize = createAnswerSize();
    // Behind another object: Yoga copies the properties of what it is given, one by one, and more than once.
    const context: YogaContext = { ...deps.contextFor(viewer), answerSize, share };
    const answer = await yoga.fetch(asked, Object.create(context) as YogaContext);
    if (share.isRefused) return busy;
    if (answerSize.isExceeded) return tooLong;
    if (answer.status === notAcceptable.status) return notAcceptable;
    const text = await answer.text();
    if (text.length > MAX_ANSWER_LENGTH) return tooLong;
    return { status: answer.status, headers: Object.fromEntries(answer.headers), text };
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
