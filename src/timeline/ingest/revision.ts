import { createHash } from 'node:crypto';
import type { Post } from '../../post.ts';

/**
 * Which version of a post was read, as a short text: `e<ms>` where the server told when the post was edited, `e0` where it told
 * that it was not, else a digest of its own text, spoiler, sensitive mark, media with their descriptions and poll options.
 * Never counts, avatars, cards, nor a repost's target.
 */
export function revisionOf(post: Post): string {
  if (post.editedAtMs !== undefined || post.tellsEdits) return `e${post.editedAtMs ?? 0}`;
  const content = [
    post.text,
    post.spoilerText ?? '',
    post.sensitive,
    post.media.map(({ url, alt }) => [url, alt ?? '']),
    post.poll?.options.map(({ text }) => text) ?? [],
  ];
  return `d${createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 22)}`;
}

/**
 * True when `revision` is an edit of what is known. Beside a time a digest counts as never edited: it is from before the server
 * told of edits, or of a copy that says less. An older version than the known one is none: there the known one is the edit.
 */
export function isEdit(known: string, revision: string): boolean {
  if (isDigest(known) && isDigest(revision)) return known !== revision;
  return editedMs(revision) > editedMs(known);
}

function isDigest(revision: string): boolean {
  return revision.startsWith('d');
}

function editedMs(revision: string): number {
  return isDigest(revision) ? 0 : Number(revision.slice(1));
}

/**
 * True when counts, votes, media addresses, or what is nested differ between two reads of one revision: worth a new body, not
 * an edit.
 */
export function isRecounted(stored: Post, read: Post): boolean {
  return presentParts(stored) !== presentParts(read);
}

function presentParts(post: Post): string {
  const nested = [post.repostOf, post.quoted].map((inner) => inner && [inner.id, revisionOf(inner), ownParts(inner)]);
  return JSON.stringify([ownParts(post), nested.map((inner) => inner ?? null)]);
}

function ownParts({ counts, poll, media }: Post): unknown {
  const { replies, reposts, likes, quotes } = counts;
  const votes = poll && [poll.closed, poll.votes, poll.options.map((option) => option.votes)];
  const addresses = media.map(({ url, previewUrl }) => [url, previewUrl]);
  return [replies, reposts, likes, quotes, votes, addresses].map((part) => part ?? null);
}
