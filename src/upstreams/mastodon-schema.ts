import { z } from 'zod';
import {
  count,
  flag,
  id,
  language,
  link,
  listOf,
  optionalId,
  partOf,
  positive,
  seconds,
  text,
  time,
} from './fields.ts';

/**
 * What we use of the bodies of Mastodon's API. Every other field passes unseen.
 * @see https://docs.joinmastodon.org/entities/Status/
 */

const emoji = z
  .object({ shortcode: z.string().min(1).max(200), url: link, static_url: link })
  .transform(({ shortcode, url, static_url }) => ({ shortcode: shortcode.toWellFormed(), url: url ?? static_url }));

const account = z.object({
  id,
  username: text(200),
  acct: text(500),
  display_name: text(1_000),
  url: link,
  avatar: link,
  bot: flag,
  emojis: listOf(emoji, 200),
});

const media = z.object({
  type: text(20),
  url: link,
  remote_url: link,
  preview_url: link,
  description: text(20_000),
  blurhash: text(200),
  meta: partOf({ original: partOf({ width: positive, height: positive, duration: seconds }) }),
});

const mention = z.object({ id: optionalId, username: text(200), acct: text(500), url: link });

const poll = z.object({
  options: listOf(z.object({ title: z.string(), votes_count: count }), 100),
  multiple: flag,
  expires_at: time,
  expired: flag,
  votes_count: count,
});

const card = z.object({ url: link, title: text(2_000), description: text(10_000), image: link });

/** A status whose `reblog` and `quote` are looked at one at a time, so that their depth is bounded. */
export const status = z.object({
  id,
  uri: text(4_096),
  url: link,
  account: account.optional().catch(undefined),
  content: text(100_000),
  created_at: time,
  edited_at: time,
  language,
  visibility: text(20),
  sensitive: flag,
  spoiler_text: text(20_000),
  in_reply_to_id: optionalId,
  reblog: z.unknown().optional(),
  quote: z.unknown().optional(),
  media_attachments: listOf(media, 100),
  mentions: listOf(mention, 500),
  tags: listOf(z.object({ name: z.string().min(1).max(500) }), 500),
  emojis: listOf(emoji, 500),
  card: card.optional().catch(undefined),
  poll: poll.optional().catch(undefined),
  replies_count: count,
  reblogs_count: count,
  favourites_count: count,
  quotes_count: count,
});

export type Status = z.infer<typeof status>;
export type StatusAccount = z.infer<typeof account>;
export type StatusMedia = z.infer<typeof media>;

/** Mastodon's quote names its state and holds the status; other servers put the status itself there. */
export const quote = z.object({ state: text(50), quoted_status: z.unknown().optional() });

/** Both versions of the instance document. */
export const instance = z.object({ version: text(300), source_url: text(1_000) });

export const nodeInfoLinks = z.object({ links: listOf(z.object({ rel: text(300), href: z.string().max(4_096) }), 20) });

export const nodeInfo = z.object({ software: z.object({ name: z.string().min(1).max(100), version: text(100) }) });
