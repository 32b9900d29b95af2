import type { Clock } from '../clock.ts';
import { type Problem, RecommenderUnavailableError, StoreUnavailableError } from '../errors.ts';
import { emptyServedSet } from '../ids/served-set.ts';
import type { StoryKeys } from '../ids/story-key.ts';
import type { Candidate, Recommender } from '../recommenders/recommender.ts';
import type { FeedStore } from '../stores/feed-store.ts';
import { type Draft, generate, hashed, referenced } from './generate.ts';
import { alreadyCut, type MadeInstance, madeInstance, type ReadableInstance, storedInstance } from './instance.ts';
import { type Outage, problemOf } from './outage.ts';
import { firstCount } from './page.ts';
import { TURN_MS, type Turns } from './turns.ts';

/** What generating and publishing need. */
export interface OpenDeps {
  readonly feeds: FeedStore;
  readonly recommender: Recommender;
  /** Stands in when `recommender` fails and the viewer has no live instance. */
  readonly local: Recommender;
  readonly storyKeys: StoryKeys;
  readonly clock: Clock;
  /** Has one of several gateways generate; absent: there is only this one. */
  readonly turns?: Turns | undefined;
  readonly settings: {
    /** The most items of an instance. */
    readonly size: number;
    /** An instance lives so long after it was last read. */
    readonly instanceTtlSeconds: number;
    /** A first page shows the same instance for so long. */
    readonly currentTtlSeconds: number;
    /** What a page answers whose instance is gone. */
    readonly whenGone: 'continue' | 'empty';
  };
  /** True for hosts that a source has: what a recommender names elsewhere is dropped. Absent: nothing is. */
  readonly hasHost?: ((host: string) => boolean) | undefined;
  readonly log?: ((line: string) => void) | undefined;
}

/** Whose feed, and what it may be made of. */
export interface OpenRequest {
  readonly userId: string;
  /** How many items the page that follows shows at most: at least 1. */
  readonly limit: number;
  /** Newest first, at most 48 h old; waits for an empty log. */
  readonly candidates: () => Promise<{ candidates: readonly Candidate[]; problems: readonly Problem[] }>;
}

/** An instance to cut a page from, and how it was come by. */
export interface Opened {
  readonly instance: ReadableInstance;
  readonly state: 'GENERATED' | 'CACHED';
  readonly problems: readonly Problem[];
}

/** Everything throws StoreUnavailableError and RecommenderUnavailableError only where nothing else can be shown. */
export interface Opener {
  /** The current instance, else a new one, which also takes the place of the one that is `unreadable`. Throws only when there is nothing to show at all. */
  first(request: OpenRequest, unreadable?: string): Promise<Opened>;
  /** A new instance as the current one, whatever the current one is. */
  renew(request: OpenRequest): Promise<Opened>;
  /** A new instance that no store knows; its cursors go on with a successor once the store is back. */
  unpublished(request: OpenRequest, outage: StoreUnavailableError): Promise<Opened>;
  /** A published instance of this viewer, live or not. */
  stored(userId: string, feedId: string): ReadableInstance;
}

/** Live instances of one viewer. */
export const KEEP = 4;
/** An empty instance, or one of the stand-in recommender, is the current one so long. */
const BRIEF_TTL_MS = 5_000;
const PUBLISH_ATTEMPTS = 4;

/** Finds instances and makes them: the store elects one winner, whoever else generates. @see design.md, section 5 */
export function createOpener(deps: OpenDeps): Opener {
  const { feeds, recommender, local, storyKeys, clock, turns, settings, hasHost, log } = deps;
  const ttlMs = settings.instanceTtlSeconds * 1000;
  const aliasTtlMs = settings.currentTtlSeconds * 1000;
  const stored = (userId: string, feedId: string) =>
    storedInstance(feeds, { viewerId: userId, feedId, now: clock.now, ttlMs });

  async function draftFirst({ userId }: OpenRequest, candidates: readonly Candidate[], by: Recommender) {
    const { size } = settings;
    return generate({
      recommender: by,
      userId,
      candidates,
      served: emptyServedSet,
      size,
      key: storyKeys.current,
      clock,
      hasHost,
      log,
    });
  }

  /** For two lives: from then on the store keeps them for as long as an instance names them. */
  async function settle(draft: Draft): Promise<MadeInstance> {
    return referenced(draft, { feeds, key: storyKeys.current, expiresAtMs: clock.now() + 2 * ttlMs });
  }

  async function publish(
    request: OpenRequest,
    draft: Draft,
    options: { alias?: string | undefined; renew: boolean; brief: boolean },
  ): Promise<Opened> {
    const brief = options.brief || draft.items.length === 0;
    const made = await settle(draft);
    let replaces = options.alias;
    for (let attempt = 1; ; attempt++) {
      const winner = await feeds.publish({
        viewerId: request.userId,
        instance: { feedId: made.feedId, generatedAtMs: made.generatedAtMs, items: made.items },
        nowMs: clock.now(),
        ttlMs: draft.items.length === 0 ? BRIEF_TTL_MS : ttlMs,
        keep: KEEP,
        replaces,
        aliasTtlMs: brief ? Math.min(BRIEF_TTL_MS, aliasTtlMs) : aliasTtlMs,
      });
      if (winner.feedId === made.feedId) return { instance: madeInstance(made), state: 'GENERATED', problems: [] };
      if (!options.renew || attempt === PUBLISH_ATTEMPTS) {
        return { instance: stored(request.userId, winner.feedId), state: 'CACHED', problems: [] };
      }
      replaces = (await feeds.current(request.userId, clock.now())).alias;
    }
  }

  /** `known` is absent while the store is out. */
  async function make(
    request: OpenRequest,
    known: { alias?: string | undefined; renew: boolean } | undefined,
  ): Promise<Opened> {
    const problems: Problem[] = [];
    const failed = async (outage: Outage): Promise<Opened | undefined> => {
      problems.push(problemOf(outage));
      log?.(`for you: ${outage.message}`);
      const newest = known && (await feeds.newest(request.userId, clock.now()).catch(ignoreOutage));
      if (newest && newest.size > 0 && storyKeys.of(newest.feedId))
        return { instance: stored(request.userId, newest.feedId), state: 'CACHED', problems };
    };

    let candidates: readonly Candidate[];
    try {
      const found = await request.candidates();
      candidates = found.candidates;
      problems.push(...found.problems);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      const previous = await failed(error);
      if (!previous) throw error;
      return previous;
    }

    let draft: Draft;
    let brief = false;
    try {
      draft = await draftFirst(request, candidates, recommender);
    } catch (error) {
      if (!(error instanceof RecommenderUnavailableError)) throw error;
      const previous = await failed(error);
      if (previous) return previous;
      draft = await draftFirst(request, candidates, local);
      brief = true;
    }
    // What is empty because a source was late is not kept: the next page would show it without a word.
    if (!known || (draft.items.length === 0 && problems.length > 0))
      return { instance: madeInstance(hashed(draft, storyKeys.current)), state: 'GENERATED', problems };
    try {
      const opened = await publish(request, draft, { ...known, brief });
      return { ...opened, problems };
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      problems.push(problemOf(error));
      return { instance: madeInstance(hashed(draft, storyKeys.current)), state: 'GENERATED', problems };
    }
  }

  async function unpublished(request: OpenRequest, outage: StoreUnavailableError): Promise<Opened> {
    const opened = await make(request, undefined);
    return { ...opened, problems: [problemOf(outage), ...opened.problems] };
  }

  async function current({ userId, limit }: OpenRequest) {
    return feeds.current(userId, clock.now(), { count: firstCount(limit), ttlMs }).catch((error: unknown) => {
      if (error instanceof StoreUnavailableError) return error;
      throw error;
    });
  }

  function cached({ userId }: OpenRequest, found: Awaited<ReturnType<typeof current>>): Opened | undefined {
    if (found instanceof StoreUnavailableError || !found.instance) return;
    const instance = stored(userId, found.instance.feedId);
    return { instance: found.cut ? alreadyCut(instance, found.cut) : instance, state: 'CACHED', problems: [] };
  }

  async function generated(
    request: OpenRequest,
    found: Awaited<ReturnType<typeof current>>,
    renew: boolean,
  ): Promise<Opened> {
    if (found instanceof StoreUnavailableError) return unpublished(request, found);
    return make(request, { alias: found.alias, renew });
  }

  return {
    stored,
    unpublished,
    async first(request, unreadable) {
      const readable = (found: Awaited<ReturnType<typeof current>>) => {
        const opened = cached(request, found);
        return opened?.instance.feedId === unreadable ? undefined : opened;
      };
      const found = await current(request);
      const opened = readable(found);
      if (opened || !turns) return opened ?? generated(request, found, false);
      const find = async () => readable(await current(request));
      // Another one may have made it before this turn came.
      const make = async () => (await find()) ?? generated(request, await current(request), false);
      return turns.take({ name: `first:${request.userId}`, holds: false, find, make });
    },
    async renew(request) {
      const make = async () => generated(request, await current(request), true);
      const find = async () => {
        const found = await current(request);
        const isFresh = 'instance' in found && clock.now() - (found.instance?.generatedAtMs ?? 0) < TURN_MS;
        return isFresh ? cached(request, found) : undefined;
      };
      return turns ? turns.take({ name: `refresh:${request.userId}`, holds: true, find, make }) : make();
    },
  };
}

function ignoreOutage(error: unknown): undefined {
  if (!(error instanceof StoreUnavailableError)) throw error;
}
