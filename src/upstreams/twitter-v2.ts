import type { Clock } from '../clock.ts';
import { createClient } from './client.ts';
import { parseTime } from './fields.ts';
import { createPageFitter } from './fit-page.ts';
import type { HttpClient } from './http.ts';
import { postsOf } from './posts-of.ts';
import { readRateLimits } from './rate-limit.ts';
import { parseBody } from './reply.ts';
import type { TwitterSpec } from './spec.ts';
import { FEED_DEPTHS, sinceParameter, TWITTER_THROTTLES } from './twitter-post.ts';
import { isPartial, partialProblems, smallestSinceId } from './twitter-v2-errors.ts';
import { BULK, fetchTweets } from './twitter-v2-fetch.ts';
import { FIELDS, readPageBody, timelineEndpoint } from './twitter-v2-request.ts';
import { toPost, tweetContext } from './twitter-v2-tweet.ts';
import type { Upstream, UpstreamDescription, UpstreamPage } from './upstream.ts';

const PAGE_SIZE = 100;
/** Recent search. */
const SEARCHED_MS = 7 * 86_400_000;

/**
 * A timeline of Twitter's API 2. A page's `next` is a pagination token.
 * @see https://docs.x.com/x-api/posts/timelines/introduction
 */
export function createTwitterV2(spec: TwitterSpec, deps: { http: HttpClient; clock: Clock }): Upstream {
  const client = createClient({ ...spec, url: spec.url.replace(/\/2\/*$/, '') }, deps);
  const endpoint = timelineEndpoint(spec.timeline);
  const fit = createPageFitter(PAGE_SIZE, endpoint.leastResults);

  const description: UpstreamDescription = {
    software: 'twitter 2',
    idScheme: spec.idScheme ?? 'twitter',
    roundsIds: false,
    pageSize: PAGE_SIZE,
    feedDepths: FEED_DEPTHS[spec.timeline.type],
    feedMs: spec.timeline.type === 'search' ? SEARCHED_MS : undefined,
    sinceId: endpoint.sinceId,
    before: endpoint.untilId,
    bulk: BULK,
    throttles: TWITTER_THROTTLES,
    endpoint: spec.timeline.type,
  };

  return {
    describe: () => Promise.resolve(description),
    async readPage({ sinceId, next, before, limit = PAGE_SIZE, signal }): Promise<UpstreamPage> {
      const since = endpoint.sinceId ? sinceParameter(sinceId) : undefined;
      const { reply, body, legal } = await fit(limit, async (results) => {
        const urlSince = (sinceId: string | undefined) =>
          client.url(endpoint.path, [
            ...endpoint.query,
            ['max_results', String(results)],
            ['since_id', sinceId],
            ['until_id', endpoint.untilId ? before : undefined],
            [endpoint.tokenParameter, next],
            ...FIELDS,
          ]);
        const url = urlSince(since);
        const reply = await client.get(url, signal);
        // Search refuses a since_id older than its 7 days: without a second try it would never get over a long pause.
        const legal = reply.status === 400 && since ? smallestSinceId(parseBody(reply), since) : undefined;
        if (legal === undefined) return { reply, body: readPageBody(reply, url, client), legal };
        const legalUrl = urlSince(legal);
        const second = await client.get(legalUrl, signal);
        return { reply: second, body: readPageBody(second, legalUrl, client), legal };
      });
      const context = { ...tweetContext(body, spec), arrivedAtMs: reply.sentAtMs };
      const { posts, ids, problems } = await postsOf(body.data ?? [], {
        idOf: (item) => Object(item).id,
        toPost: (item) => toPost(item, context),
        keepPrivate: spec.keepPrivate,
        clock: client,
      });
      const older = body.meta?.next_token;
      return {
        posts,
        ids,
        next: older === next ? undefined : older,
        partial: isPartial(body),
        problems: [
          ...(legal === undefined
            ? []
            : [{ code: 'UNAVAILABLE' as const, message: `the search holds nothing before id ${legal}` }]),
          ...partialProblems(body),
          ...problems,
        ],
        ...readRateLimits(reply.headers, client.now()),
        sentAtMs: reply.sentAtMs,
        serverDateMs: parseTime(reply.headers.date ?? ''),
      };
    },
    fetchPosts: (upstreamIds, signal) => fetchTweets(client, upstreamIds, { spec, signal }),
  };
}
