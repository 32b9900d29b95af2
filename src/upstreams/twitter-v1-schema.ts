import { z } from 'zod';
import {
  count,
  flag,
  id,
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
 * What we use of the bodies of Twitter's API 1.1. Every other field passes unseen. Ids are taken from the `…_str` fields
 * alone: the numbers beside them are already wrong once they are parsed.
 * @see https://developer.x.com/en/docs/x-api/v1/data-dictionary/object-model/tweet
 */

const media = z.object({
  url: line(2_048),
  media_url_https: link,
  type: line(50),
  ext_alt_text: text(10_000),
  original_info: partOf({ width: positive, height: positive }),
  sizes: partOf({ large: partOf({ w: positive, h: positive }) }),
  video_info: partOf({
    duration_millis: positive,
    variants: listOf(z.object({ bitrate: count, content_type: line(100), url: link }), 50),
  }),
});

const entities = partOf({
  urls: listOf(z.object({ url: z.string().max(2_048), expanded_url: link, display_url: line(1_000) }), 100),
  hashtags: listOf(z.object({ text: word(500) }), 100),
  user_mentions: listOf(z.object({ screen_name: word(100), id_str: optionalId }), 100),
  media: listOf(media, 20),
});

const user = z.object({
  id_str: id,
  screen_name: line(100),
  name: line(500),
  profile_image_url_https: link,
  protected: flag,
});

/** `retweeted_status` and `quoted_status` are looked at one at a time, so that their depth is bounded. */
export const tweet = z.object({
  id_str: z.string().regex(/^\d{1,20}$/),
  full_text: text(100_000),
  text: text(100_000),
  created_at: time,
  lang: language,
  user: user.optional().catch(undefined),
  possibly_sensitive: flag,
  in_reply_to_status_id_str: optionalId,
  retweeted_status: z.unknown().optional(),
  quoted_status: z.unknown().optional(),
  entities,
  extended_entities: partOf({ media: listOf(media, 20) }),
  retweet_count: count,
  favorite_count: count,
  reply_count: count,
  quote_count: count,
});

export type Tweet = z.infer<typeof tweet>;
export type TweetMedia = z.infer<typeof media>;

/** `{errors: [{code, message}]}`; older endpoints answer `{request, error}`, which has no code. */
export const errors = z.object({ errors: listOf(z.object({ code: z.number().int() }), 50) });
