import { encodeSnowflake, MASTODON } from '../ids/snowflake.ts';
import type { DemoReply, DemoRequest } from './demo-server.ts';
import type { JsonObject, Recording } from './recording.ts';
import { createReplay, type Replay, type ReplayShape } from './replay.ts';

/** A server that speaks Mastodon's API and replays a recording. */
export interface MastodonDemo {
  readonly replay: Replay;
  answer(request: DemoRequest): DemoReply;
}

/** Mastodon proper: Snowflake ids of 48 bits of milliseconds. */
export function snowflakeIds(timeMs: number, n: number): string {
  return encodeSnowflake(MASTODON, { timeMs, sequence: n });
}

/** GoToSocial: ULIDs, 48 bits of milliseconds and 80 more in Crockford's base32. */
export function ulids(timeMs: number, n: number): string {
  return crockford(BigInt(timeMs), 10) + crockford(BigInt(n), 16);
}

export function createMastodonDemo(options: {
  host: string;
  version: string;
  /** Servers whose version has no name are told by this. */
  sourceUrl: string;
  recording: Recording;
  newId: ReplayShape['id'];
}): MastodonDemo {
  const { host, version, sourceUrl, newId } = options;
  const replay = createReplay(options.recording.body as readonly JsonObject[], {
    id: newId,
    post: (recorded, { id, timeMs, round }) => ({
      ...recorded,
      id,
      content: round === 1 ? recorded.content : `${recorded.content}<p>(Round ${round})</p>`,
      created_at: new Date(timeMs).toISOString(),
      edited_at: null,
      uri: `https://${host}/statuses/${id}`,
      url: `https://${host}/statuses/${id}`,
    }),
    edited: (post, nowMs) => ({
      ...post,
      edited_at: new Date(nowMs).toISOString(),
      content: `${post.content}<p>(Edited: the time was wrong.)</p>`,
    }),
  });

  return {
    replay,
    answer({ path, query }) {
      if (path === '/api/v1/timelines/public') return timelinePage(replay, query, host);
      if (path === '/api/v2/instance' || path === '/api/v1/instance') {
        return { status: 200, body: { domain: host, uri: host, title: host, version, source_url: sourceUrl } };
      }
      if (path === '/api/v1/statuses') {
        return { status: 200, body: query.getAll('id[]').flatMap((id) => replay.find(id) ?? []) };
      }
      const found = path.startsWith('/api/v1/statuses/')
        ? replay.find(path.slice('/api/v1/statuses/'.length))
        : undefined;
      return found ? { status: 200, body: found } : { status: 404, body: { error: 'Record not found' } };
    },
  };
}

function timelinePage(replay: Replay, query: URLSearchParams, host: string): DemoReply {
  const posts = replay.page({
    sinceId: query.get('since_id') ?? undefined,
    beforeId: query.get('max_id') ?? undefined,
    limit: Math.min(Number(query.get('limit') ?? 20), 40),
  });
  const first = posts.at(0)?.id;
  const last = posts.at(-1)?.id;
  if (first === undefined) return { status: 200, body: posts };
  const page = `https://${host}/api/v1/timelines/public`;
  return {
    status: 200,
    body: posts,
    headers: { link: `<${page}?max_id=${last}>; rel="next", <${page}?min_id=${first}>; rel="prev"` },
  };
}

function crockford(value: bigint, length: number): string {
  const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  let text = '';
  for (let rest = value; text.length < length; rest >>= 5n) text = alphabet.charAt(Number(rest & 31n)) + text;
  return text;
}
