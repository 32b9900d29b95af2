import { createHash } from 'node:crypto';
import type { Post } from '../post.ts';

/**
 * What an edit changes, as a short text: `e<ms>` where the server told when the post was edited, else a digest of its own
 * text, spoiler, sensitive mark, media with their descriptions and poll options. Never counts, avatars, cards, nor a repost's target.
 */
export function revisionOf(post: Post): string {
  if (post.editedAtMs !== undefined) return `e${post.editedAtMs}`;
  const content = [
    post.text,
    post.spoilerText ?? '',
    post.sensitive,
    post.media.map(({ url, alt }) => [url, alt ?? '']),
    post.poll?.options.map(({ text }) => text) ?? [],
  ];
  return `d${createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 22)}`;
}

/** True when `revision` is an edit of what is known: a copy that says less, or tells an earlier edit, is an old one. */
export function isEdit(known: string, revision: string): boolean {
  if (known === revision) return false;
  if (!known.startsWith('e')) return true;
  return revision.startsWith('e') && Number(revision.slice(1)) > Number(known.slice(1));
}

/** True when counts, votes, or what is nested differ between two reads of one revision: worth a new body, not an edit. */
export function isRecounted(stored: Post, read: Post): boolean {
  return countsOf(stored) !== countsOf(read);
}

function countsOf(post: Post): string {
  const nested = [post.repostOf, post.quoted].map((inner) => inner && [inner.id, revisionOf(inner), ownCounts(inner)]);
  return JSON.stringify([ownCounts(post), nested.map((inner) => inner ?? null)]);
}

function ownCounts({ counts, poll }: Post): unknown {
  const { replies, reposts, likes, quotes } = counts;
  const votes = poll && [poll.closed, poll.votes, poll.options.map((option) => option.votes)];
  return [replies, reposts, likes, quotes, votes].map((count) => count ?? null);
}
