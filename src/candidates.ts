import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.ts';
import type { Problem } from './errors.ts';
import { createFlights } from './feed/flights.ts';
import { type Homes, homesOf, originalOf, withOriginal } from './home-copy.ts';
import { readVisible } from './loaders/visible-posts.ts';
import type { Post, PostId } from './post.ts';
import { sizeOf } from './post-size.ts';
import type { Candidate } from './recommenders/recommender.ts';
import { mayRead, type Source, type Viewer } from './source.ts';
import type { Store } from './stores/store.ts';

const MAX_AGE_MS = 48 * 3_600_000;
const MAX_CANDIDATES = 5_000;
/** Of bodies, held while a feed is generated, the same share for each source: 5,000 usual posts are a tenth of it. */
const MAX_BYTES = 64_000_000;
/** Read in one turn of the event loop: some milliseconds where the store is embedded. */
const CHUNK = 100;
/** Records of one log that are looked at. */
const MAX_RECORDS = 20_000;
/** A pool is handed out so long before somebody makes the next: making one takes some 4 % of a core then, however many ask. */
const FRESH_MS = 5_000;
/** And so long meanwhile; then all wait for the next. */
const STALE_MS = 15_000;
/** Of bodies in all pools: two that are full, or a hundred usual small ones. */
const MAX_POOLS_BYTES = 2 * MAX_BYTES;

export interface Candidates {
  /**
   * Newest first, each post once, at most 48 h old, at most 5,000 and about 64 MB. Where the home copy of a post is among
   * them, no other copy is, and reposts of another show that one. One list for all who ask within some seconds: it never changes.
   */
  readonly candidates: readonly Candidate[];
  readonly problems: readonly Problem[];
}

/** What one set of sources has brought, for all who may read exactly these. */
interface Pool {
  readonly found: Candidates;
  readonly bytes: number;
  /** When its making began, by the monotonic clock. */
  readonly sinceMs: number;
}

/**
 * What a recommender may choose from: the posts of the logs that a viewer may read, and no others. Viewers who may read the
 * same sources share them: at most 5 s old, 15 s while somebody makes the next.
 * Making them wakes the sources, for the next time. While there is nothing at all it waits for them, at most `maxWaitMs`, and
 * tells those that did not answer as STALE.
 */
export function createCandidates(deps: {
  store: Pick<Store, 'timelines' | 'posts'>;
  sources: readonly Source[];
  /** Wakes these logs' loops; gives those that did not answer in time. */
  refresh: (logIds: readonly string[], maxWaitMs: number) => Promise<ReadonlySet<string>>;
  clock: Clock;
  maxWaitMs: number;
}): (viewer: Viewer) => Promise<Candidates> {
  const { store, sources, refresh, clock, maxWaitMs } = deps;

  async function collect(readable: readonly Source[]): Promise<{ candidates: readonly Candidate[]; bytes: number }> {
    let newest: readonly Place[] = [];
    let sinceMs = clock.now() - MAX_AGE_MS;
    for (const { logId } of readable) {
      newest = [...newest, ...(await newestOf(store.timelines, logId, sinceMs))];
      if (newest.length > 2 * MAX_CANDIDATES) {
        newest = merged(newest);
        sinceMs = Math.max(sinceMs, newest[MAX_CANDIDATES - 1]?.sortAtMs ?? 0);
      }
    }
    newest = merged(newest);
    const candidates: Candidate[] = [];
    const left = new Map(readable.map(({ logId }) => [logId, MAX_BYTES / readable.length]));
    let bytes = 0;
    for (let from = 0; from < newest.length; from += CHUNK) {
      const chunk = newest.slice(from, from + CHUNK).filter(({ logId }) => (left.get(logId) ?? 0) > 0);
      const ids = chunk.map(({ postId }) => postId);
      await nextTurn();
      const { records, through, present } = await readVisible(store.posts, ids, readable);
      for (const { postId, logId, sortAtMs } of chunk) {
        const body = through.has(postId) ? records.get(postId)?.post : undefined;
        const post = body && present(body);
        const room = left.get(logId) ?? 0;
        if (!post || room <= 0) continue;
        candidates.push({ post, sortAtMs });
        const size = sizeOf(post);
        left.set(logId, room - size);
        bytes += size;
      }
    }
    return { candidates: atHome(candidates, homesOf(readable)), bytes };
  }

  async function make(readable: readonly Source[]): Promise<Pool> {
    const sinceMs = clock.monotonic();
    const logIds = readable.map(({ logId }) => logId);
    const { candidates, bytes } = await collect(readable);
    if (candidates.length > 0) {
      // Nobody waits for it: the next pool has what it brings.
      void refresh(logIds, 0);
      return { found: { candidates, problems: [] }, bytes, sinceMs };
    }
    const late = await refresh(logIds, maxWaitMs);
    const problems = readable.filter(({ logId }) => late.has(logId)).map(staleProblem);
    const brought = await collect(readable);
    return { found: { candidates: brought.candidates, problems }, bytes: brought.bytes, sinceMs };
  }

  const pools = new LRUCache<string, Pool>({ maxSize: MAX_POOLS_BYTES, sizeCalculation: ({ bytes }) => bytes });
  const making = createFlights<Candidates>();

  return async (viewer) => {
    const readable = sources.filter(({ audience }) => mayRead(audience, viewer));
    if (readable.length === 0) return { candidates: [], problems: [] };
    // Sources, not their hosts or logs: what a post may be seen through decides what of it is shown.
    const key = JSON.stringify(readable.map((source) => source.key));
    const pool = pools.get(key);
    const ageMs = pool ? clock.monotonic() - pool.sinceMs : Number.POSITIVE_INFINITY;
    if (pool && ageMs < FRESH_MS) return pool.found;
    const next = making.share(key, async () => {
      const made = await make(readable);
      // While there is nothing, everybody looks anew.
      if (made.bytes > 0) pools.set(key, made);
      return made.found;
    });
    return pool && ageMs < STALE_MS ? pool.found : next;
  };
}

interface Place {
  readonly logId: string;
  readonly postId: PostId;
  readonly sortAtMs: number;
}

/** Of each uri the newest entry. */
async function newestOf(timelines: Store['timelines'], logId: string, sinceMs: number): Promise<readonly Place[]> {
  const { head } = await timelines.readLog(logId);
  const places = new Map<string, Place>();
  let last: Place | undefined;
  for (let looked = 0; head !== undefined && places.size < MAX_CANDIDATES && looked < MAX_RECORDS; looked += CHUNK) {
    const before = last && { before: { sortAtMs: last.sortAtMs, postId: last.postId } };
    const records = await timelines.entriesBefore({ logId, upTo: head, ...before, limit: CHUNK });
    for (const record of records) {
      if (record.sortAtMs >= sinceMs && !places.has(record.uri)) places.set(record.uri, record);
    }
    last = records.at(-1);
    await nextTurn();
    if (records.length < CHUNK || (last?.sortAtMs ?? 0) < sinceMs) break;
  }
  return [...places.values()];
}

/** Newest first, a post that several logs hold once. */
function merged(places: readonly Place[]): readonly Place[] {
  const once = new Map(places.toReversed().map((place) => [place.postId, place]));
  return [...once.values()]
    .sort((a, b) => b.sortAtMs - a.sortAtMs || (a.postId < b.postId ? 1 : -1))
    .slice(0, MAX_CANDIDATES);
}

/** A copy from elsewhere gives way to the home copy, which remembers it; a repost of one shows the home copy. */
function atHome(candidates: readonly Candidate[], { isHome }: Homes): readonly Candidate[] {
  const isOwn = ({ id, uri }: Post) => isHome({ postId: id, uri });
  const originals = candidates.map(({ post }) => originalOf(post));
  const homes = new Map(originals.filter(isOwn).map((original) => [original.uri, original]));
  const copies = new Map<PostId, PostId[]>();
  const kept = candidates.flatMap((candidate, index) => {
    const original = originals[index] ?? candidate.post;
    const home = homes.get(original.uri);
    if (home === undefined || isOwn(original)) return [candidate];
    if (candidate.post !== original) return [{ ...candidate, post: withOriginal(candidate.post, home) }];
    copies.set(home.id, [...(copies.get(home.id) ?? []), original.id]);
    return [];
  });
  return copies.size === 0 ? kept : kept.map((one) => ({ ...one, copies: copies.get(originalOf(one.post).id) }));
}

function staleProblem({ key }: Source): Problem {
  return { code: 'STALE', message: `${key} could not be read in time`, sourceKey: key };
}
