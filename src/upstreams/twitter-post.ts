import { idScheme } from '../ids/id-scheme.ts';
import { formatNodeId } from '../ids/node-id.ts';
import type { Author, Media, Mention } from '../post.ts';
import type { TwitterTimeline } from './spec.ts';
import type { KnownThrottle } from './upstream.ts';

/** One request a second for each token, which no header tells; a little more, since requests do not take equally long. */
export const TWITTER_THROTTLES: readonly KnownThrottle[] = [{ requests: 1, windowMs: 1100, counts: 'all' }];

/** How many posts a timeline shows; the others are not cut by count. @see https://docs.x.com/x-api/posts/timelines/introduction */
export const FEED_DEPTHS: Readonly<Partial<Record<TwitterTimeline['type'], readonly number[]>>> = {
  home: [800],
  mentions: [800],
  user: [3200],
};

/**
 * Where a tweet is. `uri` names it for good, whoever its author is called today and whether or not the reply told;
 * `url` is what people see.
 */
export function tweetAddress(firstId: string, username: string | undefined): { uri: string; url: string } {
  const path = `status/${encodeURIComponent(firstId)}`;
  return { uri: `https://x.com/i/${path}`, url: `${profileUrl(username ?? 'i')}/${path}` };
}

/** When a tweet's id was made, Unix ms; absent for the sequential ids before November 2010. */
export function tweetTimeMs(id: string): number | undefined {
  return idScheme('twitter').timeMs(id);
}

/** True for a tweet id: a decimal. */
export function isTweetId(id: string): boolean {
  return /^[1-9]\d{0,18}$/.test(id);
}

/** since_id as Twitter takes it: left out for 0, which is an error there, and for what is no tweet id. */
export function sinceParameter(sinceId: string | undefined): string | undefined {
  return sinceId !== undefined && isTweetId(sinceId) ? sinceId : undefined;
}

export function toTwitterAuthor(
  user: { id: string; username?: string | undefined; name?: string | undefined; avatarUrl?: string | undefined },
  host: string,
): Author {
  const handle = user.username || user.id;
  return {
    id: formatNodeId({ type: 'author', upstreamId: user.id, host }),
    upstreamId: user.id,
    handle,
    name: user.name || handle,
    url: user.username === undefined ? undefined : profileUrl(user.username),
    avatarUrl: user.avatarUrl,
    bot: false,
    emojis: [],
  };
}

export function toTwitterMention(handle: string, userId: string | undefined, host: string): Mention {
  const authorId = userId && formatNodeId({ type: 'author', upstreamId: userId, host });
  return { handle, url: profileUrl(handle), authorId };
}

/** The best playable file of a video: the mp4 with the highest bit rate. */
export function bestVariant(
  variants: readonly { url?: string | undefined; bitRate?: number | undefined; type?: string | undefined }[],
) {
  return variants
    .filter((variant) => variant.url !== undefined && variant.type === 'video/mp4')
    .sort((a, b) => (b.bitRate ?? 0) - (a.bitRate ?? 0))[0]?.url;
}

export const TWITTER_MEDIA_KINDS: ReadonlyMap<string, Media['kind']> = new Map([
  ['photo', 'IMAGE'],
  ['video', 'VIDEO'],
  ['animated_gif', 'GIF'],
]);

function profileUrl(username: string): string {
  return `https://x.com/${encodeURIComponent(username)}`;
}
