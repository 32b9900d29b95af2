import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Post, PostId } from '../post.ts';
import type { Candidate } from '../recommenders/recommender.ts';
import { storyUri } from './story.ts';

/** Candidates that are looked at in one turn of the event loop: a millisecond or two. */
const CHUNK = 500;

const known = new WeakMap<readonly Candidate[], Promise<ReadonlyMap<PostId, string>>>();

/**
 * Of each post in these candidates (what they repost and their copies included) the uri of its story. Made once for all
 * generations of one list, which must not change, in pieces that leave turns to others.
 */
export function storiesOf(candidates: readonly Candidate[]): Promise<ReadonlyMap<PostId, string>> {
  const stories = known.get(candidates) ?? findStories(candidates);
  known.set(candidates, stories);
  return stories;
}

async function findStories(candidates: readonly Candidate[]): Promise<ReadonlyMap<PostId, string>> {
  const found = new Map<PostId, string>();
  for (const [index, { post, copies }] of candidates.entries()) {
    if (index > 0 && index % CHUNK === 0) await nextTurn();
    addStories(found, post, copies);
  }
  return found;
}

/** The post, what it reposts, and its copies. */
function addStories(found: Map<PostId, string>, post: Post, copies: readonly PostId[] = []): void {
  const story = storyUri(post);
  for (const id of [post.id, ...copies]) found.set(id, story);
  if (post.repostOf) addStories(found, post.repostOf);
}
