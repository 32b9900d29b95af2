import type { Problem, UpstreamError, UpstreamErrorCode } from '../errors.ts';
import { idScheme } from '../ids/id-scheme.ts';
import type { HttpReply } from './http.ts';
import { replyError, statusError } from './reply.ts';
import { errors, type Page, type TweetProblem } from './twitter-v2-schema.ts';
import { problemName } from './twitter-v2-tweet.ts';

/** @see https://docs.x.com/x-api/fundamentals/response-codes-and-errors */
const CODES: ReadonlyMap<string, UpstreamErrorCode> = new Map([
  ['resource-not-found', 'GONE'],
  ['not-authorized-for-resource', 'FORBIDDEN'],
  ['not-authorized-for-field', 'FORBIDDEN'],
  ['resource-unavailable', 'FORBIDDEN'],
  ['disallowed-resource', 'FORBIDDEN'],
  ['client-forbidden', 'FORBIDDEN'],
  ['unsupported-authentication', 'FORBIDDEN'],
  ['oauth1-permissions', 'FORBIDDEN'],
  ['usage-capped', 'RATE_LIMITED'],
  ['invalid-request', 'MALFORMED'],
]);

/** Whatever else a reply says is not repeated. */
const RESOURCES: ReadonlySet<string> = new Set(['user', 'tweet', 'media', 'list', 'space', 'poll']);

/** The code of one of a reply's `errors`. */
export function problemCode(problem: TweetProblem): UpstreamErrorCode {
  return CODES.get(problemName(problem.type) ?? '') ?? 'UNAVAILABLE';
}

/** What a reply of status 200 amounts to that has errors and no posts; absent without errors. */
export function errorsAlone(page: Page, reply: HttpReply, url: URL, nowMs: number): UpstreamError | undefined {
  const first = page.errors[0];
  return first && replyError(problemCode(first), reply, url, nowMs);
}

/** What the errors beside posts say, without Twitter's own words; one line for all of a kind. */
export function partialProblems(page: Page): Problem[] {
  const lines = page.errors.map((problem) => {
    const { resource_type: type = '' } = problem;
    const what = RESOURCES.has(type) ? `a ${type} that the page refers to` : 'a part of the page';
    const name = problemName(problem.type) ?? '';
    return [problemCode(problem), `${what} is missing: ${CODES.has(name) ? name : 'no known reason given'}`] as const;
  });
  return [...new Map(lines.map(([code, message]) => [code + message, { code, message }])).values()];
}

/** True when an error is about the page itself, not about one of the things that its posts refer to. */
export function isPartial(page: Page): boolean {
  return page.errors.some(
    ({ resource_id, resource_type, value, parameter }) =>
      resource_id === undefined && resource_type === undefined && value === undefined && parameter === undefined,
  );
}

/** A spent budget of posts answers 429 as well as 403: its type tells. */
export function twitterStatusError(reply: HttpReply, url: URL, nowMs: number, body: unknown): UpstreamError {
  const parsed = errors.safeParse(body);
  if (parsed.success && problemName(parsed.data.type) === 'usage-capped') {
    return replyError('RATE_LIMITED', reply, url, nowMs);
  }
  return statusError(reply, url, nowMs);
}

/**
 * Recent search refuses a since_id older than 7 days and names the smallest legal one in its message. Only the number is
 * read from there. Absent when this reply is not about that.
 */
export function smallestSinceId(body: unknown, sinceId: string): string | undefined {
  const parsed = errors.safeParse(body);
  const about = parsed.success
    ? parsed.data.errors.filter(({ parameters }) => parameters && 'since_id' in parameters)
    : [];
  const numbers = about.flatMap(({ message }) => message?.match(/\b[1-9]\d{14,18}\b/g) ?? []);
  const { orderKey } = idScheme('twitter');
  return numbers
    .filter((number) => orderKey(number) > orderKey(sinceId))
    .sort((a, b) => (orderKey(a) < orderKey(b) ? 1 : -1))[0];
}
