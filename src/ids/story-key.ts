import { createHmac, randomBytes } from 'node:crypto';
import { type SipKey, sipKey } from './sip-hash.ts';

/** What hashes the names of stories: the same on every gateway that has the token key that it is made of. */
export interface StoryKey {
  readonly sip: SipKey;
  /** 4 hex digits, with which the ids of all feeds begin whose stories are hashed with it. */
  readonly tag: string;
}

/**
 * One story key for each key of the tokens, so that what a token has served can be read by whoever can open it, whatever became
 * of the store. All hashes of a feed, and the served set of a cursor into it, are of the key that the feed's id names.
 */
export interface StoryKeys {
  /** For new feeds: that of the key which signs. */
  readonly current: StoryKey;
  /** That of a feed, and of its cursors; undefined for one of a retired key. */
  of(feedId: string): StoryKey | undefined;
}

/** @throws RangeError for no keys, and for two that give one tag, which is so once in 65,536 pairs. */
export function createStoryKeys(tokenKeys: readonly Uint8Array[]): StoryKeys {
  const keys = tokenKeys.map(storyKey);
  const byTag = new Map(keys.map((key) => [key.tag, key]));
  const [current] = keys;
  if (current === undefined) throw new RangeError('stories need at least one key');
  const distinct = new Set(tokenKeys.map((key) => Buffer.from(key).toString('hex')));
  if (byTag.size < distinct.size) throw new RangeError('two token keys cannot be told apart: choose another new one');
  return { current, of: (feedId) => byTag.get(feedId.slice(0, current.tag.length)) };
}

/** The id of a new feed whose stories are hashed with this key: 16 hex digits, 12 of them random. */
export function createFeedId({ tag }: StoryKey): string {
  return tag + randomBytes(6).toString('hex');
}

function storyKey(tokenKey: Uint8Array): StoryKey {
  const bytes = createHmac('sha256', tokenKey).update('sluice stories').digest();
  return { sip: sipKey(bytes), tag: bytes.toString('hex', 16, 18) };
}
