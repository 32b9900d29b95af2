import { BadCursorError, type Problem, StoreUnavailableError } from '../errors.ts';
import type { FeedCursor } from '../ids/tokens.ts';
import type { InstanceHeader } from '../stores/feed-store.ts';
import { firstCursor, successorCursor } from './cursor.ts';
import { createDrafts } from './drafts.ts';
import { createFlights } from './flights.ts';
import type { ReadableInstance } from './instance.ts';
import { createOpener, type Opened } from './open.ts';
import type { OpenDeps, OpenRequest } from './open-request.ts';
import { type CutPage, cutPage, type Hydrate, type PageItem } from './page.ts';
import { type Succession, succeed } from './succeed.ts';
import { createFeedWatch, type FeedWatch } from './watch.ts';

export type { Hydrate } from './page.ts';

/** One page asked for by one viewer. */
export interface ForYouRequest extends OpenRequest {
  /** Absent: the first page. */
  readonly cursor?: FeedCursor | undefined;
  readonly hydrate: Hydrate;
}

/** GENERATED: made for this page; CACHED: it was there; CONTINUED: a successor took over; EXPIRED: ask without a cursor. */
export interface ForYouView {
  readonly items: readonly PageItem[];
  /** Absent exactly when the scroll cannot go on. */
  readonly next?: FeedCursor | undefined;
  readonly state: 'GENERATED' | 'CACHED' | 'CONTINUED' | 'EXPIRED';
  readonly feed?: InstanceHeader | undefined;
  readonly problems: readonly Problem[];
}

/** The feed of all viewers of one gateway. */
export interface ForYou {
  /**
   * One page; no story comes twice in a lineage of cursors. What `hydrate` throws is passed on when nothing can be shown.
   * Throws StoreUnavailableError and RecommenderUnavailableError where the cursor stays valid and nothing else can be shown.
   */
  page(request: ForYouRequest): Promise<ForYouView>;
  /** The first page of a new instance, which is then the current one. Calls of one viewer within 5 s share one. */
  refresh(request: Omit<ForYouRequest, 'cursor'>): Promise<ForYouView>;
  /** Waits for generations and writes under way (they are not cancelled with their request). */
  drain(): Promise<void>;
}

export interface ForYouDeps extends OpenDeps {
  /** Looks at every page that is served; absent: findings are logged alone. */
  readonly watch?: FeedWatch | undefined;
}

const REFRESH_SHARED_MS = 5_000;
/** What was just generated may be evicted before it is read. */
const TRIES = 3;

/** The For You feed over a store and a recommender. @see design.md, section 5 */
export function createForYou(deps: ForYouDeps): ForYou {
  const { storyKeys, clock, settings, log = () => {}, watch = createFeedWatch(log) } = deps;
  const drafts = createDrafts(deps);
  const opener = createOpener(deps, drafts);
  const firsts = createFlights<Opened>();
  const successors = createFlights<Succession>();
  const refreshed = new Map<string, { feedId: string; atMs: number }>();

  /** Undefined: the instance is gone, as is one of a retired key. */
  const cut = async (request: ForYouRequest, instance: ReadableInstance, start: FeedCursor) => {
    const { limit, hydrate } = request;
    const key = storyKeys.of(instance.feedId);
    return key && cutPage({ instance, start, limit, hydrate, key, watch });
  };

  /** When what was found is gone before it is read another is, and where that is gone as fast one that no store need keep. */
  async function firstPage(request: ForYouRequest, open: () => Promise<Opened>): Promise<ForYouView> {
    for (const find of [open, () => first(request)]) {
      const opened = await find();
      const page = await cut(request, opened.instance, firstCursor(opened.instance.feedId)).catch((error: unknown) => {
        if (opened.state === 'CACHED' && error instanceof StoreUnavailableError) return error;
        throw error;
      });
      if (page instanceof StoreUnavailableError) return unpublishedPage(request, page);
      if (page) return viewOf(page, opened.state, opened.problems);
    }
    return unpublishedPage(request, evictedTooFast());
  }

  async function unpublishedPage(request: ForYouRequest, outage: StoreUnavailableError): Promise<ForYouView> {
    const share = () => opener.unpublished(request, outage);
    const aside = await firsts.share(JSON.stringify(['outage', request.userId]), share);
    const page = await cut(request, aside.instance, firstCursor(aside.instance.feedId));
    if (!page) throw outage;
    return viewOf(page, aside.state, aside.problems);
  }

  async function laterPage(request: ForYouRequest, cursor: FeedCursor): Promise<ForYouView> {
    const { userId } = request;
    if (!storyKeys.of(cursor.feedId)) throw new BadCursorError();
    const page = await cut(request, opener.stored(userId, cursor.feedId), cursor);
    if (page) return viewOf(page, 'CACHED');
    if (settings.whenGone === 'empty') return { items: [], state: 'EXPIRED', problems: [] };

    const key = JSON.stringify([userId, cursor.feedId, cursor.offset]);
    for (let tries = 0; tries < TRIES; tries++) {
      const { feedId, problems } = await successors.share(key, () => succeed({ ...deps, drafts }, request, cursor));
      if (feedId === undefined) return { items: [], state: 'CONTINUED', problems };
      const continued = await cut(request, opener.stored(userId, feedId), successorCursor(feedId, cursor));
      if (continued) return viewOf(continued, 'CONTINUED', problems);
    }
    throw evictedTooFast();
  }

  const first = (request: ForYouRequest) =>
    firsts.share(JSON.stringify(['first', request.userId]), () => opener.first(request));

  async function renew(request: ForYouRequest): Promise<Opened> {
    const { userId } = request;
    for (const [key, { atMs }] of refreshed) if (!isRecent(atMs)) refreshed.delete(key);
    const recent = refreshed.get(userId);
    if (recent) return { instance: opener.stored(userId, recent.feedId), state: 'CACHED', problems: [] };
    return firsts.share(JSON.stringify(['refresh', userId]), async () => {
      const opened = await opener.renew(request);
      // With a problem it is worth another try at once.
      if (opened.problems.length === 0) {
        refreshed.set(userId, { feedId: opened.instance.feedId, atMs: clock.now() });
      }
      return opened;
    });
  }

  const isRecent = (atMs: number) => Math.abs(clock.now() - atMs) < REFRESH_SHARED_MS;

  return {
    page: async (request) =>
      request.cursor ? laterPage(request, request.cursor) : firstPage(request, () => first(request)),
    refresh: async (request) => firstPage(request, () => renew(request)),
    async drain() {
      await Promise.all([firsts.drain(), successors.drain()]);
    },
  };
}

function viewOf(page: CutPage, state: ForYouView['state'], problems: readonly Problem[] = []): ForYouView {
  const { items, next, feed } = page;
  return { items, next, feed, state, problems: distinct([...problems, ...page.problems]) };
}

function distinct(problems: readonly Problem[]): readonly Problem[] {
  return [...new Map(problems.map((problem) => [JSON.stringify([problem.code, problem.sourceKey]), problem])).values()];
}

function evictedTooFast(): StoreUnavailableError {
  return new StoreUnavailableError('the store let go of the feed before it could be read');
}
