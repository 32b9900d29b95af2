import { encodeSnowflake, TWITTER } from '../ids/snowflake.ts';
import type { DemoReply, DemoRequest } from './demo-server.ts';
import type { JsonObject, Recording } from './recording.ts';
import { createReplay, type Replay } from './replay.ts';

/** Twitter's API 2, as far as one user's timeline and look-ups by id go, replaying a recording. */
export interface TwitterDemo {
  readonly replay: Replay;
  answer(request: DemoRequest): DemoReply;
}

export function createTwitterDemo(recording: Recording): TwitterDemo {
  const { data, includes } = recording.body as { data: readonly JsonObject[]; includes: JsonObject };
  const replay = createReplay(data, {
    id: (timeMs, n) => encodeSnowflake(TWITTER, { timeMs, generator: 1, sequence: n }),
    post: (recorded, { id, timeMs, round }) => ({
      ...recorded,
      id,
      text: round === 1 ? recorded.text : `${recorded.text} (Round ${round})`,
      edit_history_tweet_ids: [id],
      created_at: new Date(timeMs).toISOString(),
    }),
    edited: (post) => post,
  });

  return {
    replay,
    answer({ path, query }) {
      if (path === '/2/tweets') {
        const ids = (query.get('ids') ?? '').split(',');
        return { status: 200, body: { data: ids.flatMap((id) => replay.find(id) ?? []), includes } };
      }
      if (!/^\/2\/users\/\d+\/tweets$/.test(path))
        return { status: 404, body: { title: 'Not Found Error', status: 404 } };
      return userPage(replay, query, includes);
    },
  };
}

/** A pagination token is here the id below which the next page lies. */
function userPage(replay: Replay, query: URLSearchParams, includes: JsonObject): DemoReply {
  const limit = Math.min(Number(query.get('max_results') ?? 10), 100);
  const posts = replay.page({
    sinceId: query.get('since_id') ?? undefined,
    beforeId: query.get('pagination_token') ?? undefined,
    limit,
  });
  if (posts.length === 0) return { status: 200, body: { meta: { result_count: 0 } } };
  const meta = {
    result_count: posts.length,
    newest_id: posts.at(0)?.id,
    oldest_id: posts.at(-1)?.id,
    ...(posts.length === limit ? { next_token: posts.at(-1)?.id } : {}),
  };
  return { status: 200, body: { data: posts, includes, meta } };
}
