import { z } from 'zod';
import {
  count,
  flag,
  id,
  label,
  language,
  line,
  link,
  listOf,
  optionalId,
  partOf,
  positive,
  text,
  time,
  word,
} from './fields.ts';

/**
 * What we use of the bodies of Twitter's API 2. Every other field passes unseen.
 * @see https://docs.x.com/x-api/fundamentals/data-dictionary
 */

const entities = partOf({
  urls: listOf(
    z.object({
      url: z.string().max(2_048),
      expanded_url: link,
      display_url: line(1_000),
      media_key: line(100),
      title: line(1_000),
      description: text(2_000),
      images: listOf(z.object({ url: link }), 5),
    }),
    100,
  ),
  hashtags: listOf(z.object({ tag: word(500) }), 100),
  mentions: listOf(z.object({ username: word(100), id: optionalId }), 100),
});

export const tweet = z.object({
  id,
  text: text(100_000),
  note_tweet: partOf({ text: text(100_000), entities }),
  author_id: optionalId,
  created_at: time,
  edit_history_tweet_ids: listOf(id, 100),
  lang: language,
  possibly_sensitive: flag,
  referenced_tweets: listOf(z.object({ type: z.string(), id }), 10),
  attachments: partOf({ media_keys: listOf(z.string(), 50), poll_ids: listOf(id, 10) }),
  entities,
  public_metrics: partOf({ retweet_count: count, reply_count: count, like_count: count, quote_count: count }),
});

const user = z.object({ id, username: line(100), name: line(500), profile_image_url: link, protected: flag });

const media = z.object({
  media_key: z.string(),
  type: line(50),
  url: link,
  preview_image_url: link,
  alt_text: text(10_000),
  width: positive,
  height: positive,
  duration_ms: positive,
  variants: listOf(z.object({ bit_rate: count, content_type: line(100), url: link }), 50),
});

const poll = z.object({
  id,
  options: listOf(z.object({ label: label(500), votes: count, position: count }), 20),
  end_datetime: time,
  voting_status: line(50),
});

/** `type` is a URL that names the problem; `title` and `detail` are for people. */
const problem = z.object({
  type: line(300),
  resource_type: line(50),
  resource_id: line(300),
  value: line(300),
  parameter: line(100),
  message: line(2_000),
  parameters: z.record(z.string(), z.unknown()).optional().catch(undefined),
});

export const errors = z.object({ errors: listOf(problem, 500), type: line(300) });

/** A page, and the reply to a request by ids. A page without posts has no `data`. */
export const page = z.object({
  data: z.array(z.unknown()).optional(),
  includes: partOf({
    tweets: listOf(z.unknown(), 5_000),
    users: listOf(user, 5_000),
    media: listOf(media, 5_000),
    polls: listOf(poll, 5_000),
  }),
  errors: listOf(problem, 500),
  meta: partOf({ next_token: text(2_000) }),
});

export type Page = z.infer<typeof page>;
export type Tweet = z.infer<typeof tweet>;
export type TweetEntities = z.infer<typeof entities>;
export type TweetProblem = z.infer<typeof problem>;
export type TweetMedia = z.infer<typeof media>;
export type TweetPoll = z.infer<typeof poll>;
export type TweetUser = z.infer<typeof user>;
