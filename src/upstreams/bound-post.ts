import type { Post } from '../post.ts';

/** What one post may come to as JSON, without the posts inside it. Posts of real servers have 2 to 10 kB. */
export const MAX_POST_BYTES = 100_000;

/**
 * The post within MAX_POST_BYTES of JSON; each post inside it by its own bound, so that it is the same wherever it is read.
 * Lists are cut where they would go over it; the words and the single fields never come to it. @see words.ts, fields.ts
 */
export function boundPost(post: Post): Post {
  const { repostOf, quoted, ...own } = post;
  return {
    ...(bytesOf(own) <= MAX_POST_BYTES ? own : withinBound(own)),
    repostOf: repostOf && boundPost(repostOf),
    quoted: quoted && boundPost(quoted),
  };
}

function withinBound(post: Post): Post {
  const { media, poll, mentions, hashtags, emojis, card, author } = post;
  const lists = { media, poll, card, mentions, hashtags, emojis };
  const bare = Object.fromEntries(Object.keys(lists).map((name) => [name, []]));
  // A comma each, and the names that a poll and a card bring.
  let left = MAX_POST_BYTES - bytesOf({ ...post, ...bare, author: author && { ...author, emojis: [] } }) - 100;
  const fits = (item: unknown) => {
    const bytes = bytesOf(item) + 1;
    if (bytes > left) return false;
    left -= bytes;
    return true;
  };
  const fitting = <T>(items: readonly T[]): readonly T[] => {
    const end = items.findIndex((item) => !fits(item));
    return end < 0 ? items : items.slice(0, end);
  };
  return {
    ...post,
    media: fitting(media),
    poll: poll && fits(poll) ? poll : undefined,
    card: card && fits(card) ? card : undefined,
    mentions: fitting(mentions),
    hashtags: fitting(hashtags),
    emojis: fitting(emojis),
    author: author && { ...author, emojis: fitting(author.emojis) },
  };
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
