import { UpstreamError } from '../errors.ts';
import { formatPostId } from '../ids/post-id.ts';
import type { Card, IdSchemeName, Media, Poll, Post, PostId } from '../post.ts';
import { id as anId } from './fields.ts';
import {
  bestVariant,
  TWITTER_MEDIA_KINDS,
  toTwitterAuthor,
  toTwitterMention,
  tweetAddress,
  tweetTimeMs,
} from './twitter-post.ts';
import { readTweetText } from './twitter-text.ts';
import {
  type Page,
  type Tweet,
  type TweetEntities,
  type TweetMedia,
  type TweetPoll,
  type TweetUser,
  tweet,
} from './twitter-v2-schema.ts';

/** What the tweets of one reply refer to. */
export interface TweetContext {
  readonly host: string;
  readonly idScheme: IdSchemeName;
  /** When the reply was asked for, Unix ms: the time of posts that have no other. Absent: they are malformed. */
  readonly arrivedAtMs?: number | undefined;
  readonly tweets: ReadonlyMap<string, unknown>;
  readonly users: ReadonlyMap<string, TweetUser>;
  readonly media: ReadonlyMap<string, TweetMedia>;
  readonly polls: ReadonlyMap<string, TweetPoll>;
  /** Users that the reply says we may not see. */
  readonly hiddenUsers: ReadonlySet<string>;
}

const MAX_DEPTH = 2;

export function tweetContext(page: Page, spec: { host: string; idScheme?: IdSchemeName | undefined }): TweetContext {
  const { tweets = [], users = [], media = [], polls = [] } = page.includes ?? {};
  const withId = tweets.flatMap((raw) => {
    const known = anId.safeParse(Object(raw).id);
    return known.success ? [[known.data, raw] as const] : [];
  });
  const hidden = page.errors.filter(
    ({ type, resource_type }) => resource_type === 'user' && problemName(type) === 'not-authorized-for-resource',
  );
  return {
    host: spec.host,
    idScheme: spec.idScheme ?? 'twitter',
    tweets: new Map(withId),
    users: new Map(users.map((user) => [user.id, user])),
    media: new Map(media.map((item) => [item.media_key, item])),
    polls: new Map(polls.map((poll) => [poll.id, poll])),
    hiddenUsers: new Set(hidden.flatMap(({ resource_id, value }) => resource_id ?? value ?? [])),
  };
}

/** The last part of a problem's type, `https://api.twitter.com/2/problems/resource-not-found`: stable, never translated. */
export function problemName(type: string | undefined): string | undefined {
  return type?.split('/').at(-1);
}

/** A tweet as a Post. Throws UpstreamError MALFORMED, with the reason, for what cannot be one. */
export function toPost(raw: unknown, context: TweetContext, depth = 0): Post {
  const parsed = tweet.safeParse(raw);
  if (!parsed.success) throw new UpstreamError('MALFORMED', 'a tweet must be an object with an id');
  const data = parsed.data;
  const firstId = data.edit_history_tweet_ids[0] ?? data.id;
  const edited = firstId !== data.id;
  const createdAtMs =
    (edited ? tweetTimeMs(firstId) : undefined) ?? data.created_at ?? tweetTimeMs(firstId) ?? context.arrivedAtMs;
  if (createdAtMs === undefined) throw new UpstreamError('MALFORMED', 'created_at must be a time');
  const user = data.author_id === undefined ? undefined : context.users.get(data.author_id);
  const repostOf = referenced(data, 'retweeted', context, depth);
  const { text, html, entities } = readWords(data);

  return {
    id: formatPostId(firstId, context.host),
    upstreamId: data.id,
    network: 'twitter',
    idScheme: context.idScheme,
    ...tweetAddress(firstId, user?.username),
    author: user && toTwitterAuthor({ ...user, avatarUrl: user.profile_image_url }, context.host),
    text: repostOf ? '' : text,
    html: repostOf ? '' : html,
    createdAtMs,
    editedAtMs: edited ? tweetTimeMs(data.id) : undefined,
    tellsEdits: data.edit_history_tweet_ids.length > 0 ? true : undefined,
    language: data.lang,
    visibility: user?.protected || isHidden(data, context) ? 'FOLLOWERS' : 'PUBLIC',
    sensitive: data.possibly_sensitive ?? false,
    inReplyToId: replyTarget(data, context.host),
    repostOf,
    quoted: repostOf ? undefined : referenced(data, 'quoted', context, depth),
    media: repostOf ? [] : toMedia(data, context),
    hashtags: repostOf ? [] : (entities?.hashtags ?? []).map(({ tag }) => tag),
    mentions: repostOf
      ? []
      : (entities?.mentions ?? []).map(({ username, id }) => toTwitterMention(username, id, context.host)),
    emojis: [],
    card: repostOf ? undefined : toCard(entities),
    poll: repostOf ? undefined : toPoll(data, context),
    counts: {
      replies: data.public_metrics?.reply_count,
      reposts: data.public_metrics?.retweet_count,
      likes: data.public_metrics?.like_count,
      quotes: data.public_metrics?.quote_count,
    },
  };
}

/** A long tweet has its whole text in `note_tweet`, with entities of its own. */
function readWords(data: Tweet) {
  const entities: TweetEntities = data.note_tweet?.text ? (data.note_tweet.entities ?? data.entities) : data.entities;
  const links = (entities?.urls ?? []).map((link) => ({
    short: link.url,
    target: link.media_key === undefined ? (link.expanded_url ?? link.url) : undefined,
    shown: link.display_url,
  }));
  return { ...readTweetText(data.note_tweet?.text ?? data.text ?? '', links), entities };
}

function isHidden(data: Tweet, context: TweetContext): boolean {
  return data.author_id !== undefined && context.hiddenUsers.has(data.author_id);
}

/** A tweet that the reply does not hold, or that cannot be read, is left out. */
function referenced(data: Tweet, type: string, context: TweetContext, depth: number): Post | undefined {
  const reference = data.referenced_tweets.find((candidate) => candidate.type === type);
  const raw = reference && context.tweets.get(reference.id);
  if (raw === undefined || depth >= MAX_DEPTH) return undefined;
  try {
    return toPost(raw, context, depth + 1);
  } catch (error) {
    if (error instanceof UpstreamError) return undefined;
    throw error;
  }
}

function replyTarget(data: Tweet, host: string): PostId | undefined {
  const target = data.referenced_tweets.find(({ type }) => type === 'replied_to');
  return target && formatPostId(target.id, host);
}

function toMedia(data: Tweet, context: TweetContext): Media[] {
  return (data.attachments?.media_keys ?? []).flatMap((key): Media[] => {
    const media = context.media.get(key);
    const variants = media?.variants.map(({ url, bit_rate, content_type }) => ({
      url,
      bitRate: bit_rate,
      type: content_type,
    }));
    const url = media?.url ?? bestVariant(variants ?? []) ?? media?.preview_image_url;
    if (!media || url === undefined) return [];
    return [
      {
        kind: TWITTER_MEDIA_KINDS.get(media.type ?? '') ?? 'OTHER',
        url,
        previewUrl: media.preview_image_url,
        alt: media.alt_text || undefined,
        width: media.width,
        height: media.height,
        durationMs: media.duration_ms,
      },
    ];
  });
}

function toCard(entities: TweetEntities): Card | undefined {
  const link = entities?.urls.find(({ title, expanded_url }) => title && expanded_url);
  if (!link?.title || link.expanded_url === undefined) return undefined;
  return { url: link.expanded_url, title: link.title, description: link.description, imageUrl: link.images[0]?.url };
}

function toPoll(data: Tweet, context: TweetContext): Poll | undefined {
  const poll = context.polls.get(data.attachments?.poll_ids[0] ?? '');
  if (!poll || poll.options.length === 0) return undefined;
  const options = poll.options.toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0));
  return {
    options: options.map(({ label, votes }) => ({ text: label, votes })),
    multiple: false,
    endsAtMs: poll.end_datetime,
    closed: poll.voting_status === 'closed',
    votes: options.every(({ votes }) => votes !== undefined)
      ? options.reduce((sum, { votes = 0 }) => Math.min(sum + votes, 2_147_483_647), 0)
      : undefined,
  };
}
