import { setImmediate as nextTurn } from 'node:timers/promises';
import DataLoader from 'dataloader';
import type { Clock } from './clock.ts';
import { type Problem, RecommenderUnavailableError, StoreUnavailableError } from './errors.ts';
import type { Hydrate } from './feed/for-you.ts';
import { homesOf } from './home-copy.ts';
import { parsePostId } from './ids/post-id.ts';
import { mayCarry } from './loaders/access.ts';
import { bringHome } from './loaders/bring-home.ts';
import { createFetchById, type FetchedListener, type Wanted } from './loaders/fetch-by-id.ts';
import { createNamedPosts } from './loaders/named-posts.ts';
import { readVisible, type VisiblePosts } from './loaders/visible-posts.ts';
import type { Post, PostId } from './post.ts';
import { mayRead, type Source, type Viewer } from './source.ts';
import type { PostStore, PostWrite } from './stores/post-store.ts';
import type { TimelineStore } from './stores/timeline-store.ts';

/** Turns ids into posts, for one request of one viewer: everything that comes out, this viewer may see. */
export interface PostLoader {
  /** A post that a source of this viewer showed; never fetches one that nobody brought. */
  load(id: PostId): Promise<Post | undefined>;
  /**
   * For ids that a recommender named: what no readable source has brought is fetched by id, on configured hosts alone, with
   * the credential of a source for anyone, and shown only when PUBLIC or UNLISTED.
   * A copy from elsewhere is the home copy where that was brought. Throws RecommenderUnavailableError when nothing at all can be had now.
   */
  hydrate: Hydrate;
  /**
   * Told which posts a recommender named that are no candidates, in the order of the scroll: those that no readable source has
   * brought are fetched before a page asks for them, as far as the budget goes. Never throws.
   */
  readAhead: (ids: readonly PostId[]) => Promise<void>;
}

/** `forViewer` is called anew for each request: what was loaded for one viewer is never shown to another. */
export interface Hydrator {
  forViewer(viewer: Viewer): PostLoader;
}

/** A post of which a read by id says that it is gone. */
export interface GonePost {
  readonly postId: PostId;
  readonly upstreamId: string;
}

/** `unknown`: no source of this viewer has brought it. */
interface Loaded {
  readonly kind: 'post' | 'hidden' | 'unknown';
  readonly post?: Post | undefined;
  readonly problems: readonly Problem[];
}

/** Read from the record in one turn of the event loop. */
const CHUNK = 100;

/** Throws StoreUnavailableError where the store does; an upstream's failure serves what is known, with a problem. */
export function createHydrator(deps: {
  posts: PostStore;
  timelines: Pick<TimelineStore, 'entriesByUri'>;
  sources: readonly Source[];
  /** Takes up to `count` requests of the part for reads by id; returns how many. */
  takeById: (source: Source, count: number) => Promise<number>;
  /** Is told what came of the requests that were taken. */
  fetchedById?: FetchedListener | undefined;
  /** Is told of posts that the upstream says are gone, and which logs that may concern: one answer alone deletes nothing. */
  foundGone?: ((logIds: readonly string[], posts: readonly GonePost[]) => void) | undefined;
  clock: Clock;
  /** A body read longer ago is read again; 10 min. */
  freshMs?: number | undefined;
  /** A page waits so long for posts by id; 3 s. */
  maxWaitMs?: number | undefined;
  /** A page waits so long for the budget to read posts that a recommender named; not at all when absent. */
  budgetWaitMs?: number | undefined;
}): Hydrator {
  const { posts, timelines, sources, takeById, fetchedById, clock, freshMs = 600_000, maxWaitMs = 3_000 } = deps;
  const fetchById = createFetchById({ takeById, fetchedById, clock, maxWaitMs });
  const named = createNamedPosts({ sources, fetchById, clock, freshMs, maxWaitMs: deps.budgetWaitMs ?? 0 });

  /** What the record holds for this viewer, stale bodies read again as far as that goes now. */
  async function readRecord(ids: readonly PostId[], readable: readonly Source[]): Promise<readonly Loaded[]> {
    const visible = await readVisible(posts, ids, readable);
    const { bodies, problems } = await renew(visible);
    return ids.map((id) => {
      const stored = visible.records.get(id);
      if (!visible.through.has(id)) return { kind: 'unknown', problems };
      const body = bodies.has(id) ? bodies.get(id) : stored?.post;
      const post = body && visible.present(body);
      return post ? { kind: 'post', post, problems } : { kind: 'hidden', problems };
    });
  }

  /** Reads stale bodies again and writes them back. In `bodies`, absent: as in the record; undefined: not to be shown. */
  async function renew({ records, through }: VisiblePosts) {
    const wanted = [...through].flatMap(([id, sources]): Wanted[] => {
      const stored = records.get(id);
      if (!stored || clock.now() - stored.readAtMs < freshMs) return [];
      const there = sources.filter(({ host }) => parsePostId(id)?.host === host);
      const source = there.find(({ audience }) => audience === 'anyone') ?? there[0];
      return source ? [{ id, upstreamId: stored.post.upstreamId, source }] : [];
    });
    const { outcomes, problems } = await fetchById(wanted);
    const bodies = new Map<PostId, Post | undefined>();
    const writes: PostWrite[] = [];
    for (const { id, upstreamId, source } of wanted) {
      const outcome = outcomes.get(id);
      if (outcome?.kind === 'post') {
        const isShown = mayCarry(source, outcome.post);
        bodies.set(id, isShown ? outcome.post : undefined);
        if (isShown) writes.push({ post: outcome.post, readAtMs: outcome.sentAtMs });
      } else if (outcome?.kind === 'gone') {
        bodies.set(id, undefined);
        // What one account does not get (any more) others may still see.
        const logIds = source.audience === 'anyone' ? (records.get(id)?.shownBy ?? []) : [source.logId];
        deps.foundGone?.(logIds, [{ postId: id, upstreamId }]);
      }
    }
    const failed = await writeBack(writes);
    return { bodies, problems: [...problems, ...failed] };
  }

  /** The record is a cache here: that it cannot be written does not spoil what was read. */
  async function writeBack(writes: readonly PostWrite[]) {
    try {
      if (writes.length > 0) await posts.putPosts(writes);
      return [];
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      return [{ code: 'STORE_UNAVAILABLE', message: error.message, retryAtMs: error.retryAtMs } as const];
    }
  }

  return {
    forViewer(viewer) {
      const readable = sources.filter(({ audience }) => mayRead(audience, viewer));
      const homes = homesOf(readable);
      const loader = new DataLoader<PostId, Loaded>((ids) => readRecord(ids, readable));
      const load = async (id: PostId) => (await loader.load(id)).post;
      return {
        load,
        async readAhead(ids) {
          try {
            for (let at = 0; at < ids.length; at += CHUNK) {
              const some = ids.slice(at, at + CHUNK);
              const { through } = await readVisible(posts, some, readable);
              named.readAhead(some.filter((id) => !through.has(id)));
              await nextTurn();
            }
          } catch (error) {
            // Nobody waits for it: the page that does tells.
            if (!(error instanceof StoreUnavailableError)) throw error;
          }
        },
        async hydrate(asked) {
          const ids = [...new Set(asked)];
          const loaded = new Map(await Promise.all(ids.map(async (id) => [id, await loader.load(id)] as const)));
          const rest = await named.read(ids.filter((id) => loaded.get(id)?.kind === 'unknown'));
          const problems = distinct([...[...loaded.values()].flatMap((one) => one.problems), ...rest.problems]);
          const shown = ids.flatMap((id) => {
            const post = loaded.get(id)?.post ?? rest.shown.get(id);
            return post ? [[id, post] as const] : [];
          });
          if (shown.length === 0 && rest.unavailable.length > 0) throw nothingAtAll(ids.length, problems);
          const atHome = await bringHome(new Map(shown), { homes, timelines, load });
          return { posts: atHome, unavailable: new Set(rest.unavailable), problems };
        },
      };
    },
  };
}

function distinct(problems: readonly Problem[]): readonly Problem[] {
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()];
}

function nothingAtAll(count: number, [problem]: readonly Problem[]): RecommenderUnavailableError {
  const why = problem ? `: ${problem.message}` : '';
  return new RecommenderUnavailableError(`none of the ${count} posts that the recommender named can be had now${why}`, {
    ...(problem?.retryAtMs !== undefined && { retryAtMs: problem.retryAtMs }),
  });
}
