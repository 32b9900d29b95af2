import type { Post } from './post.ts';

/**
 * About how many bytes the post takes to hold and to send, with what is inside it: its text and links, and room for the rest.
 * An estimate from above for whatever authors can make long, but for what escaping adds; JSON itself takes twenty times as long.
 */
export function sizeOf(post: Post): number {
  const { author, card, poll } = post;
  return (
    FIELDS_SIZE +
    lengthOf(post.text, post.html, post.spoilerText, post.uri, post.url, post.id, post.upstreamId) +
    (author ? FIELDS_SIZE + lengthOf(author.name, author.handle, author.url, author.avatarUrl, author.id) : 0) +
    (card ? FIELDS_SIZE + lengthOf(card.url, card.title, card.description, card.imageUrl) : 0) +
    sum(post.media, ({ url, previewUrl, alt, blurhash }) => lengthOf(url, previewUrl, alt, blurhash)) +
    sum(post.mentions, ({ handle, url, authorId }) => lengthOf(handle, url, authorId)) +
    sum([...post.emojis, ...(author?.emojis ?? [])], ({ shortcode, url }) => lengthOf(shortcode, url)) +
    sum(post.hashtags, (tag) => tag.length) +
    sum(poll?.options ?? [], ({ text }) => text.length) +
    (post.repostOf ? sizeOf(post.repostOf) : 0) +
    (post.quoted ? sizeOf(post.quoted) : 0)
  );
}

/** Names, numbers and punctuation of an object. */
const FIELDS_SIZE = 600;
const ITEM_SIZE = 150;

function sum<T>(items: readonly T[], length: (item: T) => number): number {
  let size = ITEM_SIZE * items.length;
  for (const item of items) size += length(item);
  return size;
}

function lengthOf(...texts: readonly (string | undefined)[]): number {
  let length = 0;
  for (const text of texts) length += text?.length ?? 0;
  return length;
}
