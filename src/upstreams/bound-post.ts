import type { Author, Post } from '../post.ts';

/** What one post may come to as JSON, without the posts inside it. Posts of real servers have 2 to 10 kB. */
export const MAX_POST_BYTES = 100_000;

/** Room for the author and the counts, which change without an edit: what of a post is cut must not depend on them. */
const AUTHOR_BYTES = 16_000;
const COUNTS_BYTES = 200;
/** Commas, and the names that a poll and a card bring. */
const SLACK_BYTES = 100;

/**
 * The post within MAX_POST_BYTES of JSON; each post inside it by its own bound, so that it is the same wherever it is read.
 * Lists are cut where they would go over it; the words and the single fields never come to it. @see words.ts, fields.ts
 */
export function boundPost(post: Post): Post {
  const { repostOf, quoted, author, counts, ...body } = post;
  const most = MAX_POST_BYTES - AUTHOR_BYTES - COUNTS_BYTES;
  return {
    ...(bytesOf(body) <= most ? body : withinBound(body, most)),
    counts,
    author: author && boundAuthor(author),
    repostOf: repostOf && boundPost(repostOf),
    quoted: quoted && boundPost(quoted),
  };
}

type Body = Omit<Post, 'repostOf' | 'quoted' | 'author' | 'counts'>;

function withinBound(body: Body, most: number): Body {
  const { media, poll, mentions, hashtags, emojis, card } = body;
  const bare = { ...body, media: [], poll: undefined, card: undefined, mentions: [], hashtags: [], emojis: [] };
  const fits = createBudget(most - bytesOf(bare) - SLACK_BYTES);
  return {
    ...body,
    media: fitting(media, fits),
    poll: poll && fits(poll) ? poll : undefined,
    card: card && fits(card) ? card : undefined,
    mentions: fitting(mentions, fits),
    hashtags: fitting(hashtags, fits),
    emojis: fitting(emojis, fits),
  };
}

function boundAuthor(author: Author): Author {
  if (bytesOf(author) <= AUTHOR_BYTES) return author;
  return { ...author, emojis: fitting(author.emojis, createBudget(AUTHOR_BYTES - bytesOf({ ...author, emojis: [] }))) };
}

/** Spends bytes of JSON, each with a comma; false for what does not fit any more. */
function createBudget(bytes: number): (item: unknown) => boolean {
  let left = bytes;
  return (item) => {
    const own = bytesOf(item) + 1;
    if (own > left) return false;
    left -= own;
    return true;
  };
}

function fitting<T>(items: readonly T[], fits: (item: unknown) => boolean): readonly T[] {
  const end = items.findIndex((item) => !fits(item));
  return end < 0 ? items : items.slice(0, end);
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
