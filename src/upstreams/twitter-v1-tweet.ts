import { UpstreamError } from '../errors.ts';
import { formatPostId } from '../ids/post-id.ts';
import type { IdSchemeName, Media, Post } from '../post.ts';
import {
  bestVariant,
  TWITTER_MEDIA_KINDS,
  toTwitterAuthor,
  toTwitterMention,
  tweetAddress,
  tweetTimeMs,
} from './twitter-post.ts';
import { readTweetText } from './twitter-text.ts';
import { type Tweet, type TweetMedia, tweet } from './twitter-v1-schema.ts';

export interface TweetContext {
  readonly host: string;
  readonly idScheme: IdSchemeName;
  /** When the reply was asked for, Unix ms: the time of posts that have no other. Absent: they are malformed. */
  readonly arrivedAtMs?: number | undefined;
}

const MAX_DEPTH = 2;

/** A tweet as a Post. Throws UpstreamError MALFORMED, with the reason, for what cannot be one. */
export function toPost(raw: unknown, context: TweetContext, depth = 0): Post {
  const parsed = tweet.safeParse(raw);
  if (!parsed.success) throw new UpstreamError('MALFORMED', 'a tweet must be an object with an id_str');
  const data = parsed.data;
  const createdAtMs = data.created_at ?? tweetTimeMs(data.id_str) ?? context.arrivedAtMs;
  if (createdAtMs === undefined) throw new UpstreamError('MALFORMED', 'created_at must be a time');
  const { host } = context;
  const repostOf = repostOfTweet(data, context, depth);
  const media = data.extended_entities?.media ?? data.entities?.media ?? [];
  const { text, html } = readTweetText(data.full_text ?? data.text ?? '', [
    ...(data.entities?.urls ?? []).map(({ url, expanded_url, display_url }) => ({
      short: url,
      target: expanded_url ?? url,
      shown: display_url,
    })),
    ...media.map(({ url = '' }) => ({ short: url })),
  ]);

  return {
    id: formatPostId(data.id_str, host),
    upstreamId: data.id_str,
    network: 'twitter',
    idScheme: context.idScheme,
    ...tweetAddress(data.id_str, data.user?.screen_name),
    author:
      data.user &&
      toTwitterAuthor(
        {
          id: data.user.id_str,
          username: data.user.screen_name,
          name: data.user.name,
          avatarUrl: data.user.profile_image_url_https,
        },
        host,
      ),
    text: repostOf ? '' : text,
    html: repostOf ? '' : html,
    createdAtMs,
    language: data.lang,
    visibility: data.user?.protected ? 'FOLLOWERS' : 'PUBLIC',
    sensitive: data.possibly_sensitive ?? false,
    inReplyToId: data.in_reply_to_status_id_str && formatPostId(data.in_reply_to_status_id_str, host),
    repostOf,
    quoted: repostOf ? undefined : quotedTweet(data, context, depth),
    media: repostOf ? [] : media.flatMap(toMedia),
    hashtags: repostOf ? [] : (data.entities?.hashtags ?? []).map((tag) => tag.text),
    mentions: repostOf
      ? []
      : (data.entities?.user_mentions ?? []).map(({ screen_name, id_str }) =>
          toTwitterMention(screen_name, id_str, host),
        ),
    emojis: [],
    counts: {
      replies: data.reply_count,
      reposts: data.retweet_count,
      likes: data.favorite_count,
      quotes: data.quote_count,
    },
  };
}

function repostOfTweet(data: Tweet, context: TweetContext, depth: number): Post | undefined {
  if (data.retweeted_status === null || data.retweeted_status === undefined) return undefined;
  if (depth >= MAX_DEPTH) throw new UpstreamError('MALFORMED', 'retweeted_status must not be nested');
  return toPost(data.retweeted_status, context, depth + 1);
}

function quotedTweet(data: Tweet, context: TweetContext, depth: number): Post | undefined {
  if (data.quoted_status === null || data.quoted_status === undefined || depth >= MAX_DEPTH) return undefined;
  try {
    return toPost(data.quoted_status, context, depth + 1);
  } catch (error) {
    // The quoting tweet stands without what it quotes.
    if (error instanceof UpstreamError) return undefined;
    throw error;
  }
}

function toMedia(media: TweetMedia): Media[] {
  const variants = media.video_info?.variants.map(({ url, bitrate, content_type }) => ({
    url,
    bitRate: bitrate,
    type: content_type,
  }));
  const url = bestVariant(variants ?? []) ?? media.media_url_https;
  if (url === undefined) return [];
  return [
    {
      kind: TWITTER_MEDIA_KINDS.get(media.type ?? '') ?? 'OTHER',
      url,
      previewUrl: media.media_url_https,
      alt: media.ext_alt_text || undefined,
      width: media.original_info?.width ?? media.sizes?.large?.w,
      height: media.original_info?.height ?? media.sizes?.large?.h,
      durationMs: media.video_info?.duration_millis,
    },
  ];
}
