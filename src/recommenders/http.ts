import { Agent, type Dispatcher } from 'undici';
import { RecommenderUnavailableError } from '../errors.ts';
import { parseBoundedJson, readAtMost } from '../input/bounded-json.ts';
import {
  REASON_KINDS,
  type Reason,
  type RecommendedItem,
  type Recommender,
  type RecommendRequest,
} from './recommender.ts';

/** Checked settings. The URL holds no credentials; they go into `headers`, which no message repeats. */
export interface HttpRecommenderSettings {
  readonly kind: 'http';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** For the whole exchange; 2,000 when absent. */
  readonly timeoutMs?: number | undefined;
}

const MAX_CANDIDATES = 1000;
const MAX_EXCLUDE = 2000;
/** 500 items with reasons are about 100 kB. */
const MAX_BODY_BYTES = 2 * 1024 * 1024;
const MAX_REASON_LENGTH = 80;
/** Of a post id and a canonical id. */
const MAX_NAME_LENGTH = 2048;
/** Items that are looked at, for each that is of use: some may be bad, or the same twice. */
const SLACK = 4;

/**
 * Asks a service for the order, as design.md, section 2, has it: POST of post ids as JSON, answered by `{ items }`.
 * Bad items are left out; of items with one canonicalId, and of one id, the first stays. Redirects are not followed.
 * Throws RecommenderUnavailableError, whose message holds neither headers nor bodies.
 */
export function httpRecommender({ url, headers = {}, timeoutMs = 2000 }: HttpRecommenderSettings): Recommender {
  const target = new URL(url);
  const label = `POST ${target.origin}${target.pathname}`;
  const agent = new Agent({ connections: 32, connect: { timeout: timeoutMs }, headersTimeout: 0, bodyTimeout: 0 });
  return {
    // Its own deadline comes first: it says more.
    maxMs: timeoutMs + 1000,
    async recommend(request) {
      const deadline = AbortSignal.timeout(timeoutMs);
      const signal = request.signal ? AbortSignal.any([deadline, request.signal]) : deadline;
      try {
        const reply = await agent.request({
          origin: target.origin,
          path: target.pathname + target.search,
          method: 'POST',
          headers: { ...headers, accept: 'application/json', 'content-type': 'application/json' },
          body: requestBody(request),
          signal,
        });
        return readItems(await readJson(reply, label, request.nowMs), label, request.limit);
      } catch (error) {
        if (error instanceof RecommenderUnavailableError) throw error;
        const what = deadline.aborted ? `did not answer within ${timeoutMs} ms` : `failed: ${codeOf(error)}`;
        throw new RecommenderUnavailableError(`${label} ${what}`, { cause: error });
      }
    },
  };
}

function requestBody({ userId, limit, candidates, exclude }: RecommendRequest): string {
  return JSON.stringify({
    version: 1,
    userId,
    limit,
    candidates: candidates.slice(0, MAX_CANDIDATES).map(({ post }) => post.id),
    exclude: exclude.slice(0, MAX_EXCLUDE),
  });
}

async function readJson(reply: Dispatcher.ResponseData, label: string, nowMs: number): Promise<unknown> {
  if (reply.statusCode !== 200) {
    reply.body.on('error', () => {}).destroy();
    const seconds = /^\d{1,6}$/.exec(String(reply.headers['retry-after'] ?? ''))?.[0];
    const retry = seconds === undefined ? {} : { retryAtMs: nowMs + Number(seconds) * 1000 };
    throw new RecommenderUnavailableError(`${label} answered ${reply.statusCode}, required 200`, retry);
  }
  const bytes = await readAtMost(reply.body, MAX_BODY_BYTES);
  if (!bytes) throw new RecommenderUnavailableError(`${label} answered more than ${MAX_BODY_BYTES} bytes`);
  const body = parseBoundedJson(bytes.toString('utf8'));
  if ('refused' in body) throw new RecommenderUnavailableError(`${label} answered with ${body.refused}`);
  return body.value;
}

function readItems(answer: unknown, label: string, limit: number): readonly RecommendedItem[] {
  const listed: unknown = Object(answer).items;
  if (!Array.isArray(listed)) throw new RecommenderUnavailableError(`${label} answered no list of items`);
  const raw: readonly unknown[] = listed.slice(0, SLACK * limit);
  const items = raw.flatMap(readItem);
  if (items.length === 0 && raw.length > 0) {
    throw new RecommenderUnavailableError(`${label} answered ${raw.length} items, none of them readable`);
  }
  const posts = firstOfEach(items, ({ postId }) => postId);
  return firstOfEach(posts, ({ postId, canonicalId }) => canonicalId ?? postId);
}

/** One item or none. By hand, because a schema makes an error of each bad item, which takes far longer than to read a good one. */
function readItem(raw: unknown): RecommendedItem[] {
  const { id, canonicalId, reason } = Object(raw);
  if (!isName(id)) return [];
  return [{ postId: id, canonicalId: isName(canonicalId) ? canonicalId : undefined, reason: readReason(reason) }];
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_NAME_LENGTH;
}

function firstOfEach(items: readonly RecommendedItem[], key: (item: RecommendedItem) => string): RecommendedItem[] {
  const seen = new Set<string>();
  return items.filter((item) => !seen.has(key(item)) && seen.add(key(item)));
}

function readReason(raw: unknown): Reason | undefined {
  const { kind, text } = Object(raw);
  if (typeof kind !== 'string') return;
  const known = REASON_KINDS.find((one) => one === kind) ?? 'OTHER';
  const words = (typeof text === 'string' && text.trim()) || (known === 'OTHER' ? 'Recommended' : sentence(known));
  return { kind: known, text: [...words.slice(0, 2 * MAX_REASON_LENGTH)].slice(0, MAX_REASON_LENGTH).join('') };
}

/** `FOLLOWED_AUTHOR` → `Followed author`, for a service that gives no text. */
function sentence(kind: string): string {
  return kind.charAt(0) + kind.slice(1).toLowerCase().replaceAll('_', ' ');
}

/** Undici's messages may quote what was sent; its codes do not. */
function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : 'no connection';
}
