import { Agent, type Dispatcher } from 'undici';
import { type Clock, systemClock } from '../clock.ts';
import { UpstreamError } from '../errors.ts';
import { readBody } from './http-body.ts';

/** One GET that an adapter wants answered. */
export interface HttpRequest {
  readonly url: URL;
  /** Where requests of this caller may go, and its token with them: a `url` elsewhere is refused, MALFORMED. */
  readonly origin: string;
  /** Sent as a bearer token. */
  readonly token?: string | undefined;
  /** For the request as a whole, ms; the client's own where absent. */
  readonly deadlineMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A reply of any status: what it means is the adapter's business. */
export interface HttpReply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyText: string;
  /** Local clock, Unix ms. */
  readonly sentAtMs: number;
}

/**
 * Asks upstreams, with deadlines and bounds. Redirects are not followed, so a token never reaches another host.
 * Throws UpstreamError: UNAVAILABLE where no whole reply came, MALFORMED for a body too large or not to be unpacked.
 */
export interface HttpClient {
  get(request: HttpRequest): Promise<HttpReply>;
  /** Breaks off what is under way and closes the connections. */
  close(): Promise<void>;
}

export interface HttpOptions {
  /** Ours, for the User-Agent. */
  readonly version: string;
  readonly clock?: Pick<Clock, 'now'> | undefined;
  /** A whole request, its retry included; 10 s. */
  readonly deadlineMs?: number | undefined;
  /** To connect, TLS included; 5 s. */
  readonly connectMs?: number | undefined;
  /** Of one reply, as it comes and unpacked; 8 MiB: a page of 100 posts of 25,000 letters each. */
  readonly maxBodyBytes?: number | undefined;
  /** Is shown every whole reply, for `sluice record`. @see recording.ts */
  readonly onReply?: ((request: HttpRequest, reply: HttpReply) => void) | undefined;
}

/** One keep-alive pool an origin. Our timers: undici's own have a resolution of about a second. */
export function createHttpClient(options: HttpOptions): HttpClient {
  const { version, clock = systemClock, deadlineMs = 10_000, connectMs = 5_000, maxBodyBytes = 8 * 2 ** 20 } = options;
  const agent = new Agent({ connections: 8, connect: { timeout: connectMs }, headersTimeout: 0, bodyTimeout: 0 });
  const closing = new AbortController();

  async function send(request: HttpRequest, signal: AbortSignal): Promise<HttpReply> {
    const label = requestLabel(request.url);
    const sentAtMs = clock.now();
    const reply = await agent.request({
      origin: request.url.origin,
      path: request.url.pathname + request.url.search,
      method: 'GET',
      headers: requestHeaders(request, version),
      signal,
    });
    const headers = flatten(reply.headers);
    const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase();
    const bodyText = await readBody(reply.body, { encoding, maxBytes: maxBodyBytes, label }).catch((error: unknown) => {
      // Part of a reply was read: it is not sent again.
      throw error instanceof UpstreamError ? error : unavailable(label, error, signal);
    });
    return { status: reply.statusCode, headers, bodyText, sentAtMs };
  }

  return {
    async get(request) {
      const label = requestLabel(request.url);
      if (request.url.origin !== request.origin) {
        throw new UpstreamError('MALFORMED', `GET ${request.origin} was not sent: its URL lies elsewhere`);
      }
      if (request.token !== undefined && !/^[\x21-\x7e]+$/.test(request.token)) {
        throw new UpstreamError('UNAUTHORIZED', `${label}: the token holds characters that no header may hold`);
      }
      const deadline = new AbortController();
      const waitMs = request.deadlineMs ?? deadlineMs;
      const timer = setTimeout(() => deadline.abort(`did not answer within ${waitMs} ms`), waitMs);
      const signals = [deadline.signal, closing.signal, ...(request.signal ? [request.signal] : [])];
      const signal = AbortSignal.any(signals);
      try {
        const reply = await send(request, signal).catch((error: unknown) => {
          if (!wasReset(error) || signal.aborted) throw error;
          return send(request, signal);
        });
        options.onReply?.(request, reply);
        return reply;
      } catch (error) {
        throw error instanceof UpstreamError ? error : unavailable(label, error, signal);
      } finally {
        clearTimeout(timer);
      }
    },
    async close() {
      closing.abort('was broken off: the client is closed');
      await agent.destroy();
    },
  };
}

/** What is shown of a path: of nodeinfo's it is the upstream that chooses it. */
const MAX_LABEL_PATH = 200;

/** How messages name a request: without its query, which may hold what people search for. */
export function requestLabel({ origin, pathname }: URL): string {
  return `GET ${origin}${pathname.length > MAX_LABEL_PATH ? `${pathname.slice(0, MAX_LABEL_PATH)}…` : pathname}`;
}

function requestHeaders(request: HttpRequest, version: string): Record<string, string> {
  return {
    accept: 'application/json',
    'accept-encoding': 'gzip',
    'user-agent': `sluice/${version} (GraphQL gateway)`,
    ...(request.token === undefined ? {} : { authorization: `Bearer ${request.token}` }),
  };
}

function flatten(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}

/** A kept connection that the server closed meanwhile: no reply began, and a GET is safe to repeat. */
function wasReset(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(errorCode(error));
}

function unavailable(label: string, error: unknown, signal: AbortSignal): UpstreamError {
  const what = signal.aborted
    ? typeof signal.reason === 'string'
      ? signal.reason
      : 'was broken off'
    : `gave no whole reply: ${errorCode(error) || 'the connection failed'}`;
  return new UpstreamError('UNAVAILABLE', `${label} ${what}`, { cause: error });
}

function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.cause === undefined ? '' : errorCode(error.cause);
}
