import { UpstreamError } from '../errors.ts';
import { idScheme } from '../ids/id-scheme.ts';
import { formatNodeId } from '../ids/node-id.ts';
import { formatPostId } from '../ids/post-id.ts';
import type { Author, Emoji, IdSchemeName, Media, Poll, Post, PostId, Visibility } from '../post.ts';
import { quote, type Status, type StatusAccount, type StatusMedia, status } from './mastodon-schema.ts';
import { readHtml } from './words.ts';

export interface StatusContext {
  /** The part of a post id after `@`. */
  readonly host: string;
  readonly idScheme: IdSchemeName;
  /** When the reply was asked for, Unix ms: the time of posts that have no other. Absent: they are malformed. */
  readonly arrivedAtMs?: number | undefined;
}

/** A repost of a post that quotes another: nothing deeper is shown. */
const MAX_DEPTH = 2;

/** A status as a Post. Throws UpstreamError MALFORMED, with the reason, for what cannot be one. */
export function toPost(raw: unknown, context: StatusContext, depth = 0): Post {
  const parsed = status.safeParse(raw);
  if (!parsed.success) throw new UpstreamError('MALFORMED', 'a status must be an object with an id');
  const data = parsed.data;
  const id = statusPostId(data.id, context.host);
  const createdAtMs = data.created_at ?? idScheme(context.idScheme).timeMs(data.id) ?? context.arrivedAtMs;
  if (createdAtMs === undefined) throw new UpstreamError('MALFORMED', 'created_at must be a time');
  const repostOf = repostOfStatus(data, context, depth);

  return {
    id,
    upstreamId: data.id,
    network: 'mastodon',
    idScheme: context.idScheme,
    uri: repostOf ? boostUri(data, repostOf, id) : (data.uri ?? id),
    url: data.url,
    author: data.account && toAuthor(data.account, context.host),
    ...readHtml(repostOf ? '' : (data.content ?? '')),
    createdAtMs,
    editedAtMs: data.edited_at ?? undefined,
    tellsEdits: data.edited_at === undefined ? undefined : true,
    language: data.language,
    visibility: toVisibility(data.visibility),
    sensitive: data.sensitive ?? false,
    spoilerText: data.spoiler_text || undefined,
    inReplyToId: data.in_reply_to_id && statusPostId(data.in_reply_to_id, context.host),
    repostOf,
    quoted: quotedStatus(data, context, depth),
    media: repostOf ? [] : data.media_attachments.flatMap(toMedia),
    hashtags: repostOf ? [] : data.tags.map((tag) => tag.name.replace(/^#/, '')),
    mentions: repostOf ? [] : data.mentions.flatMap((mention) => toMention(mention, context.host)),
    emojis: repostOf ? [] : toEmojis(data.emojis),
    card: repostOf ? undefined : toCard(data.card),
    poll: repostOf ? undefined : toPoll(data.poll),
    counts: {
      replies: data.replies_count,
      reposts: data.reblogs_count,
      likes: data.favourites_count,
      quotes: data.quotes_count,
    },
  };
}

/** snac: 10 digits that change with an edit, then 32 hex digits that stay; upper-case in a boost. */
const SNAC_ID = /^\d{10}([0-9a-f]{32}|[0-9A-F]{32})$/;

/**
 * A server that gives a boost its original's uri would have the boost taken for a copy of it. snac makes one up: another one for
 * each reader, and with each edit.
 */
function boostUri({ id, uri }: Status, repostOf: Post, postId: PostId): string {
  return uri === undefined || uri === repostOf.uri || SNAC_ID.test(id) ? postId : uri;
}

/** The post id of a status: the same over edits, on snac too. */
export function statusPostId(upstreamId: string, host: string): PostId {
  return formatPostId(stablePart(upstreamId), host);
}

/** What of a status id survives an edit: all of it, but for snac's the last 32 characters. */
export function stablePart(upstreamId: string): string {
  return SNAC_ID.exec(upstreamId)?.[1] ?? upstreamId;
}

/** What to ask for by id: snac looks at the last 32 characters alone, but wants all 42. */
export function askableId(upstreamId: string): string {
  const isStable = /^([0-9a-f]{32}|[0-9A-F]{32})$/.test(upstreamId);
  return encodeURIComponent(isStable ? `0000000000${upstreamId}` : upstreamId);
}

function repostOfStatus(data: Status, context: StatusContext, depth: number): Post | undefined {
  if (data.reblog === null || data.reblog === undefined) return undefined;
  if (depth >= MAX_DEPTH) throw new UpstreamError('MALFORMED', 'reblog must not be nested');
  return toPost(data.reblog, context, depth + 1);
}

function quotedStatus(data: Status, context: StatusContext, depth: number): Post | undefined {
  const parsed = quote.safeParse(data.quote);
  if (!parsed.success || depth >= MAX_DEPTH) return undefined;
  const { state, quoted_status } = parsed.data;
  if (state !== undefined && state !== 'accepted') return undefined;
  try {
    return toPost(quoted_status ?? data.quote, context, depth + 1);
  } catch (error) {
    // The quoting post stands without what it quotes.
    if (error instanceof UpstreamError) return undefined;
    throw error;
  }
}

function toVisibility(visibility: string | undefined): Visibility {
  if (visibility === 'public') return 'PUBLIC';
  if (visibility === 'unlisted') return 'UNLISTED';
  if (visibility === 'direct') return 'DIRECT';
  // `private`, Hollo's `mutuals_only`, and words that we do not know.
  return 'FOLLOWERS';
}

function toAuthor(account: StatusAccount, host: string): Author {
  const handle = localHandle(account.acct || account.username || account.id, host);
  return {
    id: formatNodeId({ type: 'author', upstreamId: account.id, host }),
    upstreamId: account.id,
    handle,
    name: account.display_name || account.username || handle,
    url: account.url,
    avatarUrl: account.avatar,
    bot: account.bot ?? false,
    emojis: toEmojis(account.emojis),
  };
}

/** snac names its own accounts with the host, all others do without. */
function localHandle(acct: string, host: string): string {
  const handle = acct.replace(/^@/, '');
  return handle.endsWith(`@${host}`) ? handle.slice(0, -host.length - 1) : handle;
}

function toMedia(media: StatusMedia): Media[] {
  const url = media.url ?? media.remote_url ?? media.preview_url;
  if (url === undefined) return [];
  return [
    {
      kind: MEDIA_KINDS.get(media.type ?? '') ?? 'OTHER',
      url,
      previewUrl: media.preview_url,
      alt: media.description || undefined,
      width: media.meta?.original?.width,
      height: media.meta?.original?.height,
      blurhash: media.blurhash,
      durationMs: media.meta?.original?.duration,
    },
  ];
}

const MEDIA_KINDS: ReadonlyMap<string, Media['kind']> = new Map([
  ['image', 'IMAGE'],
  ['video', 'VIDEO'],
  ['gifv', 'GIF'],
  ['audio', 'AUDIO'],
]);

function toMention(mention: Status['mentions'][number], host: string) {
  const handle = mention.acct || mention.username;
  if (!handle) return [];
  const authorId = mention.id && formatNodeId({ type: 'author', upstreamId: mention.id, host });
  return [{ handle: localHandle(handle, host), url: mention.url, authorId }];
}

function toEmojis(emojis: Status['emojis']): Emoji[] {
  return emojis.flatMap(({ shortcode, url }) => (url === undefined ? [] : [{ shortcode, url }]));
}

function toCard(card: Status['card']) {
  if (card?.url === undefined) return undefined;
  return {
    url: card.url,
    title: card.title ?? '',
    description: card.description || undefined,
    imageUrl: card.image,
  };
}

function toPoll(poll: Status['poll']): Poll | undefined {
  if (!poll || poll.options.length === 0) return undefined;
  return {
    options: poll.options.map(({ title, votes_count }) => ({ text: title, votes: votes_count })),
    multiple: poll.multiple ?? false,
    endsAtMs: poll.expires_at,
    closed: poll.expired ?? false,
    votes: poll.votes_count,
  };
}
