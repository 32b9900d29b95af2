import type { Clock } from './clock.ts';
import type { ForYou, ForYouRequest } from './feed/for-you.ts';
import type { IdService } from './id-service.ts';
import type { Tokens } from './ids/tokens.ts';
import { isOpen, nestedPosts } from './loaders/access.ts';
import { readVisible } from './loaders/visible-posts.ts';
import type { Hydrator } from './loaders.ts';
import type { Post } from './post.ts';
import type { ClientWords } from './resolvers/client-words.ts';
import { mayRead, type Source, type Viewer } from './source.ts';
import type { SourceStates, SourceView } from './source-states.ts';
import type { Store } from './stores/store.ts';
import type { TimelineReader } from './timeline/reader/read.ts';

/** What all requests share. */
export interface ContextDeps {
  readonly sources: readonly Source[];
  readonly store: Pick<Store, 'feeds' | 'posts'>;
  readonly tokens: Tokens;
  readonly timeline: TimelineReader;
  readonly forYou: ForYou;
  /** What a recommender may choose from for this viewer. */
  readonly candidates: (viewer: Viewer) => ReturnType<ForYouRequest['candidates']>;
  readonly hydrator: Hydrator;
  /** Absent: the settings do not want it. */
  readonly ids?: IdService | undefined;
  readonly clock: Clock;
  readonly clientWords: ClientWords;
  /** Each page of a feed or timeline waits for a turn of the event loop of its own. @see server/turns.ts */
  readonly pageTurn: () => Promise<void> | undefined;
  readonly sourceStates: SourceStates;
  /** Tags of the logs that are for anyone: a token of these alone is bound to nobody. */
  readonly openLogTags: ReadonlySet<string>;
}

/** What resolvers see: made anew for each request, so that nothing loaded for one viewer is shown to another. */
export interface GraphQLContext extends Omit<ContextDeps, 'sources' | 'hydrator' | 'sourceStates'> {
  readonly viewer: Viewer;
  /** The sources that the viewer may read, in the order of the settings. Resolvers know no others. */
  readonly readable: readonly Source[];
  /** Loads posts that the viewer may see: one batch per upstream host and credential. */
  readonly posts: ReturnType<Hydrator['forViewer']>;
  /**
   * Gives the function that takes out of these posts what this viewer may not see, themselves included: undefined when
   * nothing is left to show. A body is kept once for all sources, and may hold a quote that only another one's audience may
   * see; a log may hold posts for followers from when its source was for named users.
   */
  readonly present: (bodies: readonly Post[]) => Promise<(body: Post) => Post | undefined>;
  /** A source's log and status, read once a request. Never throws: without the store, what was last known. */
  readonly viewSource: (source: Source) => Promise<SourceView>;
  /** What `seal` makes of this cursor or token: made at the first call, for as often as a query selects it. */
  readonly sealedOnce: (position: object, seal: () => string) => string;
}

/** The context of one request. */
export function createContext(deps: ContextDeps, viewer: Viewer): GraphQLContext {
  const { sources, hydrator, sourceStates, ...shared } = deps;
  const sealed = new WeakMap<object, string>();
  const readable = sources.filter((source) => mayRead(source.audience, viewer));
  return {
    ...shared,
    viewer,
    readable,
    async present(bodies) {
      const isForAll = (body: Post) => isOpen(body) && nestedPosts(body).length === 0;
      const others = bodies.filter((body) => !isForAll(body)).map(({ id }) => id);
      if (others.length === 0) return (body) => body;
      const { present, through } = await readVisible(deps.store.posts, [...new Set(others)], readable);
      return (body) => (isForAll(body) ? body : through.has(body.id) ? present(body) : undefined);
    },
    posts: hydrator.forViewer(viewer),
    viewSource: sourceStates.forRequest(),
    sealedOnce(position, seal) {
      const token = sealed.get(position) ?? seal();
      sealed.set(position, token);
      return token;
    },
  };
}
