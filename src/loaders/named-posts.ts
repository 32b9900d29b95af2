import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import type { Problem } from '../errors.ts';
import { parsePostId } from '../ids/post-id.ts';
import type { Post, PostId } from '../post.ts';
import { sizeOf } from '../post-size.ts';
import type { Source } from '../source.ts';
import { isOpen, nestedPosts, presented } from './access.ts';
import type { FetchById, Wanted } from './fetch-by-id.ts';

/**
 * Posts that a recommender named and that no source has brought: fetched on configured hosts alone, with the credential of a
 * source for anyone, and kept when PUBLIC or UNLISTED. They are kept here and not in the store, because a record there
 * cannot tell them from what a private log once showed.
 */
export interface NamedPosts {
  /** Fetches what is not known freshly. `unavailable`: of these nothing is known now; the other missing ones are gone or not for anyone. */
  read(ids: readonly PostId[]): Promise<{
    readonly shown: ReadonlyMap<PostId, Post>;
    readonly unavailable: readonly PostId[];
    readonly problems: readonly Problem[];
  }>;
}

/** The posts used last; most are some kilobytes. */
const MAX_POSTS = 2_000;
const MAX_BYTES = 32_000_000;

export function createNamedPosts(deps: {
  sources: readonly Source[];
  fetchById: FetchById;
  clock: Clock;
  freshMs: number;
}): NamedPosts {
  const { sources, fetchById, clock, freshMs } = deps;
  // `post` is absent where the upstream says that there is none for anyone.
  const kept = new LRUCache<PostId, { post?: Post | undefined; readAtMs: number }>({
    max: MAX_POSTS,
    maxSize: MAX_BYTES,
    sizeCalculation: ({ post }) => (post ? sizeOf(post) : 1),
  });
  const openSource = (host: string) => sources.find((one) => one.host === host && one.audience === 'anyone');

  return {
    async read(ids) {
      // Not looked up once more below: what does not fit is not kept, and shown all the same.
      const found = new Map(ids.map((id) => [id, kept.get(id)]));
      const wanted = ids.flatMap((id): Wanted[] => {
        const known = found.get(id);
        const place = parsePostId(id);
        const source = place && openSource(place.host);
        if (!source || (known && clock.now() - known.readAtMs < freshMs)) return [];
        return [{ id, upstreamId: known?.post?.upstreamId ?? place.upstreamId, source }];
      });
      const { outcomes, problems } = await fetchById(wanted);
      for (const [id, outcome] of outcomes) {
        if (outcome.kind === 'unavailable') continue;
        const post = outcome.kind === 'post' ? openly(outcome.post) : undefined;
        found.set(id, { post, readAtMs: outcome.sentAtMs });
        kept.set(id, { post, readAtMs: outcome.sentAtMs });
      }
      const posts = [...found].flatMap(([id, known]) => (known?.post ? [[id, known.post] as const] : []));
      const unavailable = [...outcomes.keys()].filter((id) => found.get(id) === undefined);
      return { shown: new Map(posts), unavailable, problems };
    },
  };
}

/** What of a post anyone may see. */
function openly(post: Post): Post | undefined {
  const open = new Set(nestedPosts(post).flatMap((nested) => (isOpen(nested) ? [nested.id] : [])));
  return isOpen(post) ? presented(post, (id) => open.has(id)) : undefined;
}
