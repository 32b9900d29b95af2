import type { PostId } from '../post.ts';
import { escapePart, unescapePart } from './escape.ts';
import { formatPostId, parsePostId } from './post-id.ts';

/** What an id of the schema's `Node` types names. A source's key, a user id and a gap id may hold any character. */
export type NodeRef =
  | { type: 'post'; id: PostId }
  | { type: 'author'; upstreamId: string; host: string }
  | { type: 'source'; key: string }
  /** 16 hex digits: no other text gets to a key of the store. */
  | { type: 'feed'; feedId: string }
  | { type: 'viewer'; userId: string }
  | { type: 'gap'; gapId: string }
  | { type: 'entry'; sourceKey: string; postId: PostId };

const FEED_ID = /^[0-9a-f]{16}$/;

/**
 * The id in the schema, unique over all types: a post's is bare (`115@town.example`), all others are prefixed
 * (`author:12@x.com`, `source:town`, `entry:town:115@town.example`), with `:`, `@` and `%` of their parts percent-encoded.
 * @throws RangeError for an empty part and for a malformed post id, feed id, upstream id or host.
 */
export function formatNodeId(ref: NodeRef): string {
  switch (ref.type) {
    case 'post':
      return wellFormed(ref.id);
    case 'author':
      return `author:${formatPostId(ref.upstreamId, ref.host)}`;
    case 'source':
      return `source:${part(ref.key)}`;
    case 'feed':
      if (!FEED_ID.test(ref.feedId)) throw new RangeError('a feed id must be 16 hex digits');
      return `feed:${ref.feedId}`;
    case 'viewer':
      return `viewer:${part(ref.userId)}`;
    case 'gap':
      return `gap:${part(ref.gapId)}`;
    case 'entry':
      return `entry:${part(ref.sourceKey)}:${wellFormed(ref.postId)}`;
  }
}

/** The exact inverse of `formatNodeId`; undefined for what it would not give. */
export function parseNodeId(id: string): NodeRef | undefined {
  // A post's id has its first colon, if any, in the port: behind the `@`.
  const prefix = /^([a-z]+):/.exec(id)?.[1];
  if (prefix === undefined) return parsePostId(id) && { type: 'post', id };
  const rest = id.slice(prefix.length + 1);
  if (prefix === 'author') {
    const author = parsePostId(rest);
    return author && { type: 'author', ...author };
  }
  if (prefix === 'entry') return parseEntry(rest);
  const name = unescapePart(rest);
  if (name === undefined) return undefined;
  if (prefix === 'source') return { type: 'source', key: name };
  if (prefix === 'feed') return FEED_ID.test(name) ? { type: 'feed', feedId: name } : undefined;
  if (prefix === 'viewer') return { type: 'viewer', userId: name };
  if (prefix === 'gap') return { type: 'gap', gapId: name };
  return undefined;
}

function parseEntry(rest: string): NodeRef | undefined {
  const colon = rest.indexOf(':');
  if (colon < 0) return undefined;
  const sourceKey = unescapePart(rest.slice(0, colon));
  const postId = rest.slice(colon + 1);
  if (sourceKey === undefined || parsePostId(postId) === undefined) return undefined;
  return { type: 'entry', sourceKey, postId };
}

function part(text: string): string {
  if (text === '') throw new RangeError('a part of a node id must not be empty');
  return escapePart(text);
}

function wellFormed(postId: PostId): PostId {
  if (parsePostId(postId) === undefined) throw new RangeError('a post id must be <upstream id>@<host>');
  return postId;
}
