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
  markup,
  optionalId,
  partOf,
  positive,
  seconds,
  text,
  time,
  uri,
  word,
} from './fields.ts';

/**
 * What we use of the bodies of Mastodon's API. Every other field passes unseen.
 * @see https://docs.joinmastodon.org/entities/Status/
 */

const emoji = z
  .object({ shortcode: word(200), url: link, static_url: link })
  .transform(({ shortcode, url, static_url }) => ({ shortcode, url: url ?? static_url }));

const account = z.object({
  id,
  username: line(200),
  acct: line(500),
  display_name: line(500),
  url: link,
  avatar: link,
  bot: flag,
  emojis: listOf(emoji, 200),
});

const media = z.object({
  type: line(20),
  url: link,
  remote_url: link,
  preview_url: link,
  description: text(10_000),
  blurhash: line(200),
  meta: partOf({ original: partOf({ width: positive, height: positive, duration: seconds }) }),
});

const mention = z.object({ id: optionalId, username: line(200), acct: line(500), url: link });

const poll = z.object({
  options: listOf(z.object({ title: label(500), votes_count: count }), 100),
  multiple: flag,
  expires_at: time,
  expired: flag,
  votes_count: count,
});

const card = z.object({ url: link, title: line(1_000), description: text(2_000), image: link });

/** A status whose `reblog` and `quote` are looked at one at a time, so that their depth is bounded. */
export const status = z.object({
  id,
  uri,
  url: link,
  account: account.optional().catch(undefined),
  // A little more than is shown of it, so that it is seen to be cut.
  content: markup(101_000),
  created_at: time,
  // Null is an answer: it was not edited.
  edited_at: z.null().or(time),
  language,
  visibility: line(20),
  sensitive: flag,
  spoiler_text: text(2_000),
  in_reply_to_id: optionalId,
  reblog: z.unknown().optional(),
  quote: z.unknown().optional(),
  media_attachments: listOf(media, 100),
  mentions: listOf(mention, 500),
  tags: listOf(z.object({ name: word(500) }), 500),
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
export const quote = z.object({ state: line(50), quoted_status: z.unknown().optional() });

/** Of the account that asks. */
export const credentials = z.object({ id });

/** Both versions of the instance document. */
export const instance = z.object({ version: line(300), source_url: line(1_000) });

export const nodeInfoLinks = z.object({ links: listOf(z.object({ rel: line(300), href: z.string().max(4_096) }), 20) });

export const nodeInfo = z.object({ software: z.object({ name: word(100), version: line(100) }) });
