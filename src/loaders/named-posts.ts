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
  /**
   * Fetches what is not known freshly; where the budget does not allow it yet, it waits for that a little.
   * `unavailable`: of these nothing is known now; the other missing ones are gone or not for anyone.
   */
  read(ids: readonly PostId[]): Promise<{
    readonly shown: ReadonlyMap<PostId, Post>;
    readonly unavailable: readonly PostId[];
    readonly problems: readonly Problem[];
  }>;
  /**
   * Has these fetched before anybody reads them, in this order, where one request fetches many: one request at a time, as the
   * budget allows, and in what room the requests of others leave.
   */
  readAhead(ids: readonly PostId[]): void;
}

/** The posts used last; most are some kilobytes. */
const MAX_POSTS = 2_000;
const MAX_BYTES = 32_000_000;
/** Of those to be read ahead, the ones asked for first: more would push each other out. */
const MAX_AHEAD = 1_000;
/** Who has not come so far in a scroll by then is not coming, ms. */
const AHEAD_MS = 60_000;
/** How long until the budget is asked again: while a page waits, and while none does. */
const WAITING_MS = 100;
const AHEAD_WAITING_MS = 1_000;

interface Known {
  /** Absent where the upstream says that there is none for anyone. */
  readonly post?: Post | undefined;
  readonly readAtMs: number;
}

interface Ahead extends Wanted {
  readonly untilMs: number;
}

export function createNamedPosts(deps: {
  sources: readonly Source[];
  fetchById: FetchById;
  clock: Clock;
  freshMs: number;
  /** A page waits so long for the budget. */
  maxWaitMs: number;
}): NamedPosts {
  const { sources, fetchById, clock, freshMs, maxWaitMs } = deps;
  const kept = new LRUCache<PostId, Known>({
    max: MAX_POSTS,
    maxSize: MAX_BYTES,
    sizeCalculation: ({ post }) => (post ? sizeOf(post) : 1),
  });
  /** First come, first read. */
  const ahead = new Map<PostId, Ahead>();
  const underWay = new Map<PostId, Promise<unknown>>();
  let isReadingAhead = false;
  const openSource = (host: string) => sources.find((one) => one.host === host && one.audience === 'anyone');

  /** Undefined: it is known freshly, or cannot be asked for. */
  function wanted(id: PostId, known = kept.peek(id)): Wanted | undefined {
    const place = parsePostId(id);
    const source = place && openSource(place.host);
    if (!source || (known && clock.now() - known.readAtMs < freshMs)) return;
    return { id, upstreamId: known?.post?.upstreamId ?? place.upstreamId, source };
  }

  /** `found` holds what is known now; `hadRoom`: there was budget, and a request that could take more. Never throws. */
  async function fetch(some: readonly Wanted[]) {
    const found = new Map<PostId, Known>();
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const ids: PostId[] = [];
    let hadRoom = false;
    const begin = (batch: readonly Wanted[]) => {
      for (const { id } of batch) {
        ids.push(id);
        ahead.delete(id);
        underWay.set(id, done);
      }
      return batch;
    };
    begin(some);
    const { outcomes, problems } = await fetchById(some, (source, room) => {
      hadRoom = true;
      return begin([...ahead.values()].filter((one) => one.source === source).slice(0, room));
    });
    for (const [id, outcome] of outcomes) {
      if (outcome.kind === 'unavailable') continue;
      const post = outcome.kind === 'post' ? openly(outcome.post) : undefined;
      found.set(id, { post, readAtMs: outcome.sentAtMs });
      kept.set(id, { post, readAtMs: outcome.sentAtMs });
    }
    for (const id of ids) underWay.delete(id);
    resolve();
    return { found, problems, hadRoom };
  }

  async function goAhead(): Promise<void> {
    isReadingAhead = true;
    for (let [next] = ahead.values(); next; [next] = ahead.values()) {
      const { id, source, untilMs } = next;
      if (clock.now() >= untilMs || !wanted(id)) {
        ahead.delete(id);
        continue;
      }
      const { found, problems, hadRoom } = await fetch([next]);
      if (problems.length === 0 && hadRoom) continue;
      if (problems.length === 0 && !found.has(id)) {
        // There is no budget now.
        const rest = [...ahead];
        ahead.clear();
        for (const [each, one] of [[id, next] as const, ...rest]) ahead.set(each, one);
        await clock.sleep(AHEAD_WAITING_MS);
      } else {
        // Of one that fails, and where each costs a request, only what a page wants is read.
        for (const [each, one] of ahead) if (one.source === source) ahead.delete(each);
      }
    }
    isReadingAhead = false;
  }

  async function read(ids: readonly PostId[]) {
    const untilMs = clock.now() + maxWaitMs;
    const found = new Map<PostId, Known>();
    const problems: Problem[] = [];
    for (;;) {
      while (ids.some((id) => underWay.has(id))) await Promise.all(ids.map((id) => underWay.get(id)));
      for (const id of ids) {
        const known = kept.get(id);
        if (known) found.set(id, known);
      }
      const missing = ids.flatMap((id) => wanted(id, found.get(id)) ?? []);
      const fetched = await fetch(missing);
      problems.push(...fetched.problems);
      // Not looked up once more: what does not fit is not kept, and shown all the same.
      for (const { id } of missing) {
        const known = fetched.found.get(id);
        if (known) found.set(id, known);
      }
      const unavailable = missing.flatMap(({ id }) => (found.has(id) ? [] : [id]));
      if (unavailable.length === 0 || problems.length > 0 || clock.now() >= untilMs) {
        const posts = [...found].flatMap(([id, { post }]) => (post ? [[id, post] as const] : []));
        return { shown: new Map(posts), unavailable, problems };
      }
      await clock.sleep(Math.min(WAITING_MS, untilMs - clock.now()));
    }
  }

  return {
    read,
    readAhead(ids) {
      const untilMs = clock.now() + AHEAD_MS;
      for (const id of ids) {
        const one = ahead.size < MAX_AHEAD && !underWay.has(id) ? wanted(id) : undefined;
        if (one && !ahead.has(id)) ahead.set(id, { ...one, untilMs });
      }
      if (!isReadingAhead) void goAhead();
    },
  };
}

/** What of a post anyone may see. */
function openly(post: Post): Post | undefined {
  const open = new Set(nestedPosts(post).flatMap((nested) => (isOpen(nested) ? [nested.id] : [])));
  return isOpen(post) ? presented(post, (id) => open.has(id)) : undefined;
}
