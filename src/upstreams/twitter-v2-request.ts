import type { Client, Query } from './client.ts';
import type { HttpReply } from './http.ts';
import { malformed, parseBody, readJson } from './reply.ts';
import type { TwitterTimeline } from './spec.ts';
import { errorsAlone, twitterStatusError } from './twitter-v2-errors.ts';
import { type Page, page as pageSchema } from './twitter-v2-schema.ts';

/** What we ask for beside ids and texts. @see https://docs.x.com/x-api/fundamentals/fields */
export const FIELDS: Query = [
  [
    'tweet.fields',
    'attachments,author_id,created_at,edit_history_tweet_ids,entities,lang,note_tweet,possibly_sensitive,public_metrics,referenced_tweets',
  ],
  [
    'expansions',
    'attachments.media_keys,attachments.poll_ids,author_id,referenced_tweets.id,referenced_tweets.id.author_id',
  ],
  ['user.fields', 'id,name,profile_image_url,protected,username'],
  ['media.fields', 'alt_text,duration_ms,height,media_key,preview_image_url,type,url,variants,width'],
  ['poll.fields', 'end_datetime,id,options,voting_status'],
];

/** Where a timeline is, and what its paging is like. */
export interface Endpoint {
  readonly path: string;
  readonly query: Query;
  /** False where since_id is refused. */
  readonly sinceId: boolean;
  /** False where until_id is refused. */
  readonly untilId: boolean;
  /** The smallest legal `max_results`. */
  readonly leastResults: number;
  readonly tokenParameter: 'pagination_token' | 'next_token';
}

export function timelineEndpoint(timeline: TwitterTimeline): Endpoint {
  const usual = {
    query: [],
    sinceId: true,
    untilId: true,
    leastResults: 5,
    tokenParameter: 'pagination_token',
  } as const;
  switch (timeline.type) {
    case 'home':
      return { ...usual, path: `/2/users/${encodeURIComponent(timeline.userId)}/timelines/reverse_chronological` };
    case 'user':
      return { ...usual, path: `/2/users/${encodeURIComponent(timeline.userId)}/tweets` };
    case 'mentions':
      return { ...usual, path: `/2/users/${encodeURIComponent(timeline.userId)}/mentions` };
    case 'list':
      return {
        ...usual,
        path: `/2/lists/${encodeURIComponent(timeline.id)}/tweets`,
        sinceId: false,
        untilId: false,
        leastResults: 1,
      };
    case 'search':
      return {
        ...usual,
        path: '/2/tweets/search/recent',
        query: [['query', timeline.query]],
        leastResults: 10,
        tokenParameter: 'next_token',
      };
  }
}

/** The page of a timeline in a reply. Throws UpstreamError where there is none, or errors alone. */
export function readPageBody(reply: HttpReply, url: URL, client: Client): Page {
  const page = readTweets(reply, url, client);
  const failure = page.data ? undefined : errorsAlone(page, reply, url, client.now());
  if (failure) throw failure;
  if (!page.data && !page.meta) throw malformed(url, NO_PAGE, reply.status);
  return page;
}

/** Tweets, and errors about those that are missing. Throws UpstreamError where neither is. */
export function readTweets(reply: HttpReply, url: URL, client: Client): Page {
  if (reply.status >= 400) throw twitterStatusError(reply, url, client.now(), parseBody(reply));
  const parsed = pageSchema.safeParse(readJson(reply, url, client.now()));
  if (!parsed.success) throw malformed(url, NO_PAGE, reply.status);
  return parsed.data;
}

const NO_PAGE = 'answered with JSON that is no page of tweets';
