import { type Problem, RecommenderUnavailableError, StoreUnavailableError } from '../errors.ts';
import type { Candidate } from '../recommenders/recommender.ts';
import type { Drafts } from './drafts.ts';
import { type Draft, hashed } from './generate.ts';
import { alreadyCut, madeInstance, type ReadableInstance, storedInstance } from './instance.ts';
import type { OpenDeps, OpenRequest } from './open-request.ts';
import { type Outage, problemOf } from './outage.ts';
import { firstCount } from './page.ts';
import { publishAsCurrent } from './publish.ts';
import { TURN_MS } from './turns.ts';

/** An instance to cut a page from, and how it was come by. */
export interface Opened {
  readonly instance: ReadableInstance;
  readonly state: 'GENERATED' | 'CACHED';
  readonly problems: readonly Problem[];
}

/** Everything throws StoreUnavailableError and RecommenderUnavailableError only where nothing else can be shown. */
export interface Opener {
  /** The current instance, else a new one. Throws only when there is nothing to show at all. */
  first(request: OpenRequest): Promise<Opened>;
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

/** Finds instances and makes them: the store elects one winner, whoever else generates. @see design.md, section 5 */
export function createOpener(deps: OpenDeps, drafts: Drafts): Opener {
  const { feeds, local, storyKeys, clock, turns, settings, log } = deps;
  const ttlMs = settings.instanceTtlSeconds * 1000;
  const aliasTtlMs = settings.currentTtlSeconds * 1000;
  const stored = (userId: string, feedId: string) =>
    storedInstance(feeds, { viewerId: userId, feedId, now: clock.now, ttlMs });

  async function publish(
    { userId }: OpenRequest,
    draft: Draft,
    options: { alias?: string | undefined; renew: boolean; brief: boolean },
  ): Promise<Opened> {
    const isEmpty = draft.items.length === 0;
    const made = await drafts.settle(draft);
    const winner = await publishAsCurrent(
      feeds,
      {
        viewerId: userId,
        instance: made,
        ttlMs: isEmpty ? BRIEF_TTL_MS : ttlMs,
        keep: KEEP,
        replaces: options.alias,
        aliasTtlMs: options.brief || isEmpty ? Math.min(BRIEF_TTL_MS, aliasTtlMs) : aliasTtlMs,
      },
      { renew: options.renew, now: clock.now },
    );
    if (winner === made.feedId) return { instance: madeInstance(made), state: 'GENERATED', problems: [] };
    return { instance: stored(userId, winner), state: 'CACHED', problems: [] };
  }

  /** The newest live instance, in the place of one that cannot be made. */
  async function previousOf({ userId }: OpenRequest, problems: readonly Problem[]): Promise<Opened | undefined> {
    const newest = await feeds.newest(userId, clock.now()).catch(ignoreOutage);
    if (newest && newest.size > 0 && storyKeys.of(newest.feedId))
      return { instance: stored(userId, newest.feedId), state: 'CACHED', problems };
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
      return known && previousOf(request, problems);
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
      draft = await drafts.draw(request, candidates);
    } catch (error) {
      if (!(error instanceof RecommenderUnavailableError)) throw error;
      const previous = await failed(error);
      if (previous) return previous;
      draft = await drafts.draw(request, candidates, { recommender: local });
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
    const opened = await drafts.run(() => make(request, undefined));
    return { ...opened, problems: [problemOf(outage), ...opened.problems] };
  }

  async function current({ userId, limit }: OpenRequest) {
    return feeds.current(userId, clock.now(), { count: firstCount(limit), ttlMs }).catch((error: unknown) => {
      if (error instanceof StoreUnavailableError) return error;
      throw error;
    });
  }

  /** One of a retired key is as good as none: what it has shown cannot be told any more. */
  function cached({ userId }: OpenRequest, found: Awaited<ReturnType<typeof current>>): Opened | undefined {
    if (found instanceof StoreUnavailableError || !found.instance || !storyKeys.of(found.instance.feedId)) return;
    const instance = stored(userId, found.instance.feedId);
    return { instance: found.cut ? alreadyCut(instance, found.cut) : instance, state: 'CACHED', problems: [] };
  }

  async function generated(
    request: OpenRequest,
    found: Awaited<ReturnType<typeof current>>,
    renew: boolean,
  ): Promise<Opened> {
    if (found instanceof StoreUnavailableError) return unpublished(request, found);
    try {
      return await drafts.run(() => make(request, { alias: found.alias, renew }));
    } catch (error) {
      // Too many others wait for theirs.
      if (!(error instanceof RecommenderUnavailableError)) throw error;
      const previous = await previousOf(request, [problemOf(error)]);
      if (!previous) throw error;
      return previous;
    }
  }

  return {
    stored,
    unpublished,
    async first(request) {
      const found = await current(request);
      const opened = cached(request, found);
      if (opened || !turns) return opened ?? generated(request, found, false);
      const find = async () => cached(request, await current(request));
      const make = async () => {
        // Another one may have made it before this turn came.
        const again = await current(request);
        return cached(request, again) ?? generated(request, again, false);
      };
      return turns.take({ name: `first:${request.userId}`, holds: () => false, find, make });
    },
    async renew(request) {
      const make = async () => generated(request, await current(request), true);
      const find = async () => {
        const found = await current(request);
        const isFresh = 'instance' in found && clock.now() - (found.instance?.generatedAtMs ?? 0) < TURN_MS;
        return isFresh ? cached(request, found) : undefined;
      };
      const holds = ({ problems }: Opened) => problems.length === 0;
      return turns ? turns.take({ name: `refresh:${request.userId}`, holds, find, make }) : make();
    },
  };
}

function ignoreOutage(error: unknown): undefined {
  if (!(error instanceof StoreUnavailableError)) throw error;
}
