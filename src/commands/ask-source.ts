import { operatorMessage, SluiceError } from '../errors.ts';
import type { Source } from '../source.ts';
import type { UpstreamDescription, UpstreamPage } from '../upstreams/upstream.ts';
import { isoTime, printable } from './print.ts';

/** For the description and one page together; each request has the source's own deadline beside it. */
const DEADLINE_MS = 30_000;

/** Asks a source what it is and for one page, and says in one line what came or what is wrong. */
export async function askSource(source: Source): Promise<{ ok: boolean; found: string }> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  try {
    const description = await source.upstream.describe(signal);
    const page = await source.upstream.readPage({ signal });
    return { ok: true, found: [...whatItIs(description), ...whatCame(page)].map((part) => printable(part)).join(', ') };
  } catch (error) {
    if (error instanceof SluiceError)
      return { ok: false, found: printable(`${error.code}: ${operatorMessage(error)}`) };
    return { ok: false, found: printable(error instanceof Error ? error.message : String(error)) };
  }
}

function whatItIs({ software, idScheme }: UpstreamDescription): readonly string[] {
  return [software ?? 'software unknown', `${idScheme} ids`];
}

function whatCame({ posts, ids, partial, problems, rateLimit }: UpstreamPage): readonly string[] {
  const newest = isoTime(posts.length === 0 ? undefined : Math.max(...posts.map(({ createdAtMs }) => createdAtMs)));
  const leftOut = ids.length - posts.length;
  return [
    `${posts.length} post${posts.length === 1 ? '' : 's'}${leftOut > 0 ? ` (${leftOut} left out)` : ''}`,
    ...(newest === undefined ? [] : [`newest ${newest}`]),
    ...(partial ? ['not whole'] : []),
    ...problems.slice(0, 3).map(({ code, message }) => `${code}: ${message}`),
    rateLimit === undefined
      ? 'no rate limit told'
      : `${rateLimit.remaining} of ${rateLimit.limit} requests left until ${isoTime(rateLimit.resetAtMs) ?? 'some day'}`,
  ];
}
