import { arrivalOrderKey, type IdScheme } from '../ids/id-scheme.ts';
import type { PostId } from '../post.ts';
import type { KnownEntry, LogState } from '../stores/timeline-store.ts';
import type { Read } from './walk.ts';

/** A post that the log does not know yet, with its place in the log's order. */
export interface NewPost extends Read {
  readonly orderKey: string;
  /** The id's time, Unix ms; absent where the id has none. */
  readonly timeMs?: number | undefined;
  /** 0 for the newest of those that were read together. */
  readonly fromTop: number;
}

export interface NewPosts {
  /** Lowest order key first. */
  readonly posts: readonly NewPost[];
  /** To remember, so that order keys by arrival never go back when the clock does. */
  readonly lastArrivalMs?: number | undefined;
}

/**
 * The unknown ones of `reads` (newest first) above the log's floor. Ids without an order get one by arrival: those further
 * down in the reply first.
 */
export function orderNew(query: {
  reads: readonly Read[];
  known: ReadonlyMap<PostId, KnownEntry>;
  state: LogState;
  scheme: IdScheme;
  nowMs: number;
}): NewPosts {
  const { known, state, scheme } = query;
  const reads = scheme.name === 'opaque' ? query.reads.slice(0, opaqueEnd(query)) : query.reads;
  const last = Number(state.memory?.lastArrivalMs ?? 0);
  const arrivalMs = Math.max(query.nowMs, last + 1);
  let arrivals = 0;
  const posts: NewPost[] = [];
  for (const [fromTop, read] of [...reads.entries()].reverse()) {
    if (known.has(read.post.id)) continue;
    const id = read.post.upstreamId;
    const isOrdered = scheme.name !== 'opaque' && scheme.includes(id);
    const orderKey = isOrdered ? scheme.orderKey(id) : arrivalOrderKey(arrivalMs, arrivals++);
    if (isOrdered && state.floorKey !== undefined && orderKey <= state.floorKey) continue;
    posts.push({ ...read, orderKey, timeMs: isOrdered ? scheme.timeMs(id) : undefined, fromTop });
  }
  posts.sort((a, b) => (a.orderKey < b.orderKey ? -1 : 1));
  return { posts, lastArrivalMs: arrivals > 0 ? arrivalMs : undefined };
}

/** Below the last known post of the first poll lies what was there before history's begin: it moves up when posts are deleted. */
function opaqueEnd({ reads, known, state }: Parameters<typeof orderNew>[0]): number {
  const historyKey = state.memory?.historyKey;
  const lowest = reads.findLastIndex(({ post }) => known.has(post.id));
  const key = known.get(reads[lowest]?.post.id ?? '')?.orderKey;
  return key !== undefined && historyKey !== undefined && key <= historyKey ? lowest + 1 : reads.length;
}
