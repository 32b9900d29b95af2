import { UpstreamError } from '../errors.ts';
import type { Post, PostId } from '../post.ts';
import { sizeOf } from '../post-size.ts';
import type { UpstreamPage } from '../upstreams/upstream.ts';

/** What a poll read, page after page. */
export interface Walk {
  /** Newest first; each post once, as it was read last. */
  readonly reads: readonly Read[];
  /** All ids that the replies held, in their order. */
  readonly ids: readonly string[];
  readonly end: WalkEnd;
  /** What broke the walk off. */
  readonly error?: UpstreamError | undefined;
  /** Where reading goes on; absent when the timeline ended. */
  readonly next?: string | undefined;
  readonly pages: readonly UpstreamPage[];
  /** True when the walk came down to what earlier polls had read: whatever is missing below is overlap. */
  readonly joined: boolean;
}

export interface Read {
  readonly post: Post;
  readonly readAtMs: number;
}

/** `closed`: the target was reached. `ended`: the timeline ended before it. Else why it broke off, in a gap's words. */
export type WalkEnd = 'closed' | 'ended' | 'RATE_LIMITED' | 'PAGE_CAP' | 'UPSTREAM_ERROR';

/** How deep a page reached: above what earlier polls read, inside the overlap, or to the target. */
export type Depth = 'new' | 'overlap' | 'target';

/** Pages in a row without posts which may have more behind them, such as posts that are left out (Twitter 2); then it is the end. */
export const MOST_EMPTY_PAGES = 5;

/** Of posts that are held until they are committed, all at once: a hundred pages of usual ones. */
const MAX_BYTES = 16_000_000;

/** Reads pages down to the target. An error on the first page is thrown; later ones end the walk with what was read. */
export async function walk(query: {
  read: (next: string | undefined) => Promise<UpstreamPage>;
  depthOf: (page: UpstreamPage) => Promise<Depth>;
  /** False when the upstream allows no further request now. */
  mayGoOn: () => boolean;
  /** True when an error comes of our own stopping: then nothing is kept. */
  isStopped: () => boolean;
  maxPages: number;
}): Promise<Walk> {
  const reads = new Map<PostId, Read>();
  const ids = new Set<string>();
  const pages: UpstreamPage[] = [];
  let joined = false;
  let emptyPages = 0;
  let bytes = 0;
  let next: string | undefined;
  const done = (end: WalkEnd, error?: UpstreamError): Walk => {
    return { reads: [...reads.values()], ids: [...ids], end, error, next, pages, joined };
  };

  for (;;) {
    let page: UpstreamPage;
    try {
      page = await query.read(next);
    } catch (error) {
      if (pages.length === 0 || query.isStopped() || !(error instanceof UpstreamError)) throw error;
      return done(error.code === 'RATE_LIMITED' ? 'RATE_LIMITED' : 'UPSTREAM_ERROR', error);
    }
    pages.push(page);
    const before = ids.size;
    for (const id of page.ids) ids.add(id);
    for (const post of page.posts) {
      reads.set(post.id, { post, readAtMs: page.sentAtMs });
      bytes += sizeOf(post);
    }
    const depth = await query.depthOf(page);
    next = page.next;
    if (depth !== 'new') joined = true;
    if (depth === 'target') return done('closed');
    emptyPages = page.ids.length === 0 ? emptyPages + 1 : 0;
    const isRoundInCircles = page.ids.length > 0 && ids.size === before;
    if (page.next === undefined || emptyPages > MOST_EMPTY_PAGES || isRoundInCircles) return done('ended');
    // Deep inside the overlap: what it asks beyond is not worth more requests, and k shrinks with the source's pace.
    if (pages.length >= query.maxPages || bytes >= MAX_BYTES) return done(joined ? 'closed' : 'PAGE_CAP');
    if (!query.mayGoOn()) return done('RATE_LIMITED');
  }
}
