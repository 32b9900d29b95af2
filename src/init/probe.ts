import { operatorMessage, UpstreamError } from '../errors.ts';
import { recogniseIdScheme } from '../ids/id-scheme.ts';
import type { IdSchemeName } from '../post.ts';
import { type Client, pathSegment, type Query } from '../upstreams/client.ts';
import { identifySoftware, isMastodonProper } from '../upstreams/mastodon-instance.ts';
import { readLimits } from '../upstreams/rate-limit.ts';
import { parseBody, readJson } from '../upstreams/reply.ts';
import type { NamedLimit } from '../upstreams/upstream.ts';

/** What a server turned out to be. Texts are the server's own: not to be trusted, nor printed as they are. */
export interface Findings {
  /** `mastodon 4.3.1`. */
  readonly software?: string | undefined;
  readonly idScheme: IdSchemeName;
  /** The scheme which the software's name promises, where the ids are of another. */
  readonly promisedScheme?: IdSchemeName | undefined;
  readonly timelines: readonly FoundTimeline[];
  /** What the headers told. */
  readonly limits: readonly NamedLimit[];
  readonly hasDate: boolean;
  readonly sinceId: SinceIdVerdict;
  readonly accountSinceId: SinceIdVerdict;
  readonly byId: ByIdVerdict;
}

/** What a server says when a post that it lists is asked for by its id. `untold` where it lists none, or answers something else. */
export type ByIdVerdict = 'answered' | 'refused' | 'untold';

export type TimelineName = 'local' | 'everything' | 'tag' | 'home';

export interface FoundTimeline {
  readonly name: TimelineName;
  /**
   * `refused`: not for this caller (401, 403, 422), at once or as soon as a since_id is sent. `absent`: the server has no such thing.
   * `unused`: 404 for a tag, as GoToSocial answers until somebody uses it.
   */
  readonly answer: 'readable' | 'refused' | 'absent' | 'unused' | 'failed';
  /** What was wrong, in our words. */
  readonly message?: string | undefined;
  /** The tag that was asked for. */
  readonly tag?: string | undefined;
  readonly posts: number;
}

/** What a server makes of since_id. `not for this caller`: 401 or 403, although pages without one are. `untold` where there are too few posts to see. */
export type SinceIdVerdict = 'heeded' | 'ignored' | 'refused' | 'not for this caller' | 'hides posts' | 'untold';

/** More than Mastodon gives: what comes is the server's own limit. */
const ASKED_LIMIT = '80';
/** The place of the post after which is asked. */
const SINCE_PLACE = 4;
const TAG = 'photography';

interface Page {
  readonly found: FoundTimeline;
  readonly ids: readonly string[];
  /** The first post's account, as it stands in a path. */
  readonly accountSegment?: string | undefined;
}

/**
 * Asks a server of Mastodon's kin some dozen questions. `told` hears of each as it begins. Throws UpstreamError where nothing answers.
 * @see upstreams.md, sections 2, 4 and 6
 */
export async function probe(
  client: Client,
  options: { hasToken: boolean; told: (what: string) => void },
): Promise<Findings> {
  const { hasToken, told } = options;
  const limits = new Map<string, NamedLimit>();
  let hasDate = false;

  async function get(path: string, query: Query = []) {
    const url = client.url(path, query);
    const reply = await client.get(url);
    for (const limit of readLimits(reply.headers, client.now())) limits.set(JSON.stringify([limit.name]), limit);
    hasDate ||= reply.headers.date !== undefined;
    return { url, reply };
  }

  async function read(name: TimelineName, path: string, query: Query, tag?: string): Promise<Page> {
    told(name === 'tag' ? `tag #${tag}` : `timeline: ${name}`);
    try {
      const { url, reply } = await get(path, [...query, ['limit', ASKED_LIMIT]]);
      const items = listOf(readJson(reply, url, client.now()));
      const ids = items.map((item) => Object(item).id).filter((id) => typeof id === 'string');
      const accountId = Object(Object(items[0]).account).id;
      return {
        found: { name, answer: 'readable', tag, posts: ids.length },
        ids,
        accountSegment: typeof accountId === 'string' ? pathSegment(accountId) : undefined,
      };
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      return {
        found: { name, answer: answerOf(name, error), message: operatorMessage(error), tag, posts: 0 },
        ids: [],
      };
    }
  }

  async function askSince(what: string, path: string, query: Query, ids: readonly string[]): Promise<SinceIdVerdict> {
    const sinceId = ids[SINCE_PLACE];
    if (sinceId === undefined) return 'untold';
    told(what);
    const { reply } = await get(path, [...query, ['limit', '40'], ['since_id', sinceId]]);
    if (reply.status === 401 || reply.status === 403) return 'not for this caller';
    if (reply.status === 400 || reply.status === 422) return 'refused';
    const above = listOf(parseBody(reply)).map((item) => Object(item).id);
    if (reply.status !== 200) return 'untold';
    if (above.includes(sinceId)) return 'ignored';
    return above.includes(ids[0]) ? 'heeded' : above.length === 0 ? 'hides posts' : 'untold';
  }

  told('what it is');
  const software = await identifySoftware(async (path, query) => {
    const { url, reply } = await get(path, query);
    return readJson(reply, url, client.now());
  });
  const publicPath = '/api/v1/timelines/public';
  const pages = [
    await read('local', publicPath, [['local', 'true']]),
    await read('everything', publicPath, []),
    await read('tag', `/api/v1/timelines/tag/${TAG}`, [], TAG),
    ...(hasToken ? [await read('home', '/api/v1/timelines/home', [])] : []),
  ];
  const ids = pages.flatMap((page) => page.ids);
  const [best] = [...pages].sort((a, b) => b.ids.length - a.ids.length);
  const ask = (name: TimelineName): readonly [string, Query] =>
    name === 'home'
      ? ['/api/v1/timelines/home', []]
      : name === 'tag'
        ? [`/api/v1/timelines/tag/${TAG}`, []]
        : [publicPath, name === 'local' ? [['local', 'true']] : []];
  const sinceId = best ? await askSince('since_id', ...ask(best.found.name), best.ids) : 'untold';
  const account = pages.find((page) => page.accountSegment !== undefined)?.accountSegment;
  const accountSinceId = account === undefined ? 'untold' : await accountVerdict(account);

  const name = software && [software.name, software.version].filter(Boolean).join(' ');
  const known = isMastodonProper(software) ? 'mastodon' : name;
  const idScheme = recogniseIdScheme({ software: known, ids });
  const promised = recogniseIdScheme({ software: known });
  return {
    software: name,
    idScheme,
    promisedScheme: promised === idScheme || promised === 'opaque' ? undefined : promised,
    timelines: pages.map(({ found }) => (sinceId === 'not for this caller' ? withoutSinceId(found) : found)),
    limits: [...limits.values()],
    hasDate,
    sinceId,
    accountSinceId,
    byId: await askById(best?.ids[0]),
  };

  async function askById(id: string | undefined): Promise<ByIdVerdict> {
    const segment = id && pathSegment(id);
    if (!segment) return 'untold';
    told('a post by its id');
    const { status } = (await get(`/api/v1/statuses/${segment}`)).reply;
    return status === 200 ? 'answered' : status === 401 || status === 403 ? 'refused' : 'untold';
  }

  async function accountVerdict(segment: string): Promise<SinceIdVerdict> {
    const path = `/api/v1/accounts/${segment}/statuses`;
    const { reply } = await get(path, [['limit', '40']]);
    const own = listOf(parseBody(reply)).map((item) => Object(item).id);
    const strings = own.filter((each) => typeof each === 'string');
    return askSince("since_id on an account's page", path, [], strings);
  }
}

function answerOf(name: TimelineName, { code }: UpstreamError): FoundTimeline['answer'] {
  if (code === 'UNAUTHORIZED' || code === 'FORBIDDEN') return 'refused';
  if (code !== 'GONE') return 'failed';
  return name === 'tag' ? 'unused' : 'absent';
}

/** A source polls with a since_id: a first page alone makes none. */
function withoutSinceId(found: FoundTimeline): FoundTimeline {
  if (found.answer !== 'readable') return found;
  return { ...found, answer: 'refused', message: 'it answers a page, but none with a since_id' };
}

function listOf(body: unknown): readonly unknown[] {
  return Array.isArray(body) ? body : [];
}
