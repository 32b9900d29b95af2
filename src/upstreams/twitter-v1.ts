import type { Clock } from '../clock.ts';
import { idScheme } from '../ids/id-scheme.ts';
import { type Client, createClient, type Query } from './client.ts';
import { fetchMany } from './fetch-many.ts';
import { parseTime } from './fields.ts';
import { createPageFitter } from './fit-page.ts';
import type { HttpClient, HttpReply } from './http.ts';
import { answersTo, postsOf } from './posts-of.ts';
import { readLimits, readRateLimits } from './rate-limit.ts';
import { malformed, parseBody, readJson } from './reply.ts';
import type { TwitterSpec, TwitterTimeline } from './spec.ts';
import { FEED_DEPTHS, isTweetId, sinceParameter, TWITTER_THROTTLES } from './twitter-post.ts';
import { namedError } from './twitter-v1-errors.ts';
import { toPost } from './twitter-v1-tweet.ts';
import type { Upstream, UpstreamDescription, UpstreamPage } from './upstream.ts';

const PAGE_SIZE = 200;
const BULK = 100;
const PARALLEL = 2;

const FIELDS: Query = [
  ['tweet_mode', 'extended'],
  ['include_ext_alt_text', 'true'],
];

/**
 * A timeline of Twitter's API 1.1. A page's `next` is a max_id, which is inclusive there.
 * Throws TypeError for a search: API 1.1 has none that we use.
 * @see https://developer.x.com/en/docs/x-api/v1/tweets/timelines/overview
 */
export function createTwitterV1(spec: TwitterSpec, deps: { http: HttpClient; clock: Clock }): Upstream {
  const client = createClient({ ...spec, url: spec.url.replace(/\/1\.1\/*$/, '') }, deps);
  const { path, query } = timelineRequest(spec.timeline);
  const context = { host: spec.host, idScheme: spec.idScheme ?? ('twitter' as const) };
  const idOf = (item: unknown) => Object(item).id_str;
  const fit = createPageFitter(PAGE_SIZE);
  const description: UpstreamDescription = {
    software: 'twitter 1.1',
    idScheme: context.idScheme,
    roundsIds: false,
    pageSize: PAGE_SIZE,
    feedDepths: FEED_DEPTHS[spec.timeline.type],
    sinceId: true,
    before: true,
    bulk: BULK,
    throttles: TWITTER_THROTTLES,
    endpoint: spec.timeline.type,
  };

  async function ask(url: URL, signal: AbortSignal | undefined) {
    const reply = await client.get(url, signal);
    return { reply, items: readItems(reply, url, client) };
  }

  return {
    describe: () => Promise.resolve(description),
    async readPage({ sinceId, next, before, limit = PAGE_SIZE, signal }): Promise<UpstreamPage> {
      const { reply, items } = await fit(limit, (count) =>
        ask(
          client.url(path, [
            ...query,
            ['count', String(count)],
            ['since_id', sinceParameter(sinceId)],
            ['max_id', next ?? (before && idScheme('twitter').justBelow(before))],
            ...FIELDS,
          ]),
          signal,
        ),
      );
      const page = await postsOf(items, {
        idOf,
        toPost: (item) => toPost(item, { ...context, arrivedAtMs: reply.sentAtMs }),
        keepPrivate: spec.keepPrivate,
        clock: client,
      });
      return {
        ...page,
        next: olderThan(page.ids, sinceId),
        partial: false,
        ...readRateLimits(reply.headers, client.now()),
        sentAtMs: reply.sentAtMs,
        serverDateMs: parseTime(reply.headers.date ?? ''),
      };
    },
    async fetchPosts(upstreamIds, signal) {
      const ids = [...new Set(upstreamIds)];
      const fetched = await fetchMany(ids.filter(isTweetId), {
        bulk: BULK,
        parallel: PARALLEL,
        now: client.now,
        async fetchBatch(batch) {
          const url = client.url('/1.1/statuses/lookup.json', [['id', batch.join(',')], ...FIELDS]);
          const { reply, items } = await ask(url, signal);
          const read = await postsOf(items, {
            idOf,
            toPost: (item) => toPost(item, { ...context, arrivedAtMs: reply.sentAtMs }),
            keepPrivate: true,
            clock: client,
          });
          const { missing, gone, ...answers } = answersTo(batch, read, spec);
          const limits = readLimits(reply.headers, client.now());
          return { ...answers, gone: [...gone, ...missing], limits, sentAtMs: reply.sentAtMs };
        },
      });
      return { ...fetched, gone: [...fetched.gone, ...ids.filter((id) => !isTweetId(id))] };
    },
  };
}

function timelineRequest(timeline: TwitterTimeline): { path: string; query: Query } {
  switch (timeline.type) {
    case 'home':
      return { path: '/1.1/statuses/home_timeline.json', query: [] };
    case 'user':
      return { path: '/1.1/statuses/user_timeline.json', query: [['user_id', timeline.userId]] };
    case 'list':
      return { path: '/1.1/lists/statuses.json', query: [['list_id', timeline.id]] };
    case 'mentions':
      return { path: '/1.1/statuses/mentions_timeline.json', query: [] };
    case 'search':
      throw new TypeError('a search needs api 2');
  }
}

function readItems(reply: HttpReply, url: URL, client: Client): readonly unknown[] {
  const failure = namedError(parseBody(reply), reply, url, client.now());
  if (failure) throw failure;
  const items = readJson(reply, url, client.now());
  if (!Array.isArray(items)) throw malformed(url, 'answered with JSON that is not a list', reply.status);
  return items;
}

/**
 * max_id is inclusive: just below the page's lowest id, which need not be the last one. Below since_id there is nothing,
 * and asking would be an error (195).
 */
function olderThan(ids: readonly string[], sinceId: string | undefined): string | undefined {
  const { orderKey, justBelow } = idScheme('twitter');
  const lowest = ids.toSorted((a, b) => (orderKey(a) < orderKey(b) ? -1 : 1))[0];
  const next = lowest === undefined ? undefined : justBelow(lowest);
  return next !== undefined && sinceId !== undefined && orderKey(next) <= orderKey(sinceId) ? undefined : next;
}
