import type { IdScheme } from '../ids/id-scheme.ts';
import type { PostId } from '../post.ts';
import type { PostWrite, StoredPost } from '../stores/post-store.ts';
import type { KnownEntry, LogCommit, LogCounts, LogState, NewRecord } from '../stores/timeline-store.ts';
import { isInGap } from './gaps.ts';
import { withSamples } from './lateness.ts';
import { type NewPost, orderNew } from './order.ts';
import { isEdit, isRecounted, revisionOf } from './revision.ts';
import type { Read } from './walk.ts';

/** The parts of a commit that follow from what was read. */
export interface Sifted {
  /** Entries lowest id first, edits after. */
  readonly append: readonly NewRecord[];
  readonly posts: readonly PostWrite[];
  /** Absent while it stays. */
  readonly watermark?: LogState['watermark'];
  readonly counts: Pick<LogCounts, 'posts' | 'duplicatesDropped' | 'leaksPrevented' | 'backfilled'>;
  /** Absent while no sample came. */
  readonly lateness?: LogCommit['lateness'];
  readonly lastArrivalMs?: number | undefined;
  /** How long ago the oldest new post was made, ms; 0 where ids do not tell. */
  readonly spanMs: number;
}

/**
 * `history`: the first poll, where nothing is late. `fill`: whatever is new is backfilled. `sweep`: the same, and what lies
 * above the watermark is left to the polls, which know whether anything is between.
 */
export type SiftMode = 'history' | 'poll' | 'fill' | 'sweep';

/** So many late posts of one author in one reply are history. */
const SEVERAL = 3;

/** Where nothing was read. */
export const NOTHING_SIFTED: Sifted = {
  append: [],
  posts: [],
  counts: { posts: 0, duplicatesDropped: 0, leaksPrevented: 0, backfilled: 0 },
  spanMs: 0,
};

/** Drops what is known, finds edits and late posts. Pure; `reads` newest first, `ids` all that the replies held. */
export function sift(query: {
  reads: readonly Read[];
  ids: readonly string[];
  known: ReadonlyMap<PostId, KnownEntry>;
  stored: ReadonlyMap<PostId, StoredPost>;
  state: LogState;
  scheme: IdScheme;
  mode: SiftMode;
  /** `sweep`: the reads go on below known posts that were read before. */
  isBelowKnown?: boolean;
  /** Local clock: when the commit is made. */
  nowMs: number;
  /** Ids made after it are of the future. */
  serverNowMs: number;
}): Sifted {
  const { state, mode, nowMs } = query;
  const present = { ...query, known: withoutReturned(query) };
  const fresh = orderNew(mode === 'sweep' ? belowMark(present) : present);
  const mark = mode === 'history' ? undefined : state.watermark;
  const isLate = ({ orderKey, timeMs }: NewPost) =>
    mark !== undefined && timeMs !== undefined && orderKey < mark.orderKey;
  const late = fresh.posts.filter((post) => isLate(post) && !query.known.has(post.post.id));
  const backfilled =
    mode === 'fill' || mode === 'sweep'
      ? fresh.posts
      : late.filter(({ timeMs }) => isInGap(state.gaps, timeMs ?? nowMs));
  const leaks = mode === 'poll' ? late.filter((post) => !backfilled.includes(post)) : [];
  const samples = mode === 'fill' ? [] : samplesMs(late, query);
  const changes = findChanges(present);
  const { serverNowMs } = query;

  return {
    append: [...fresh.posts.map((post) => entryOf(post, isLate(post), nowMs)), ...changes.edits],
    posts: [...fresh.posts.map(({ post, readAtMs }) => ({ post, readAtMs })), ...changes.writes],
    watermark: mode === 'sweep' ? undefined : watermarkOf(query, fresh.posts.at(-1)),
    counts: {
      posts: fresh.posts.length,
      duplicatesDropped: changes.repeats,
      leaksPrevented: leaks.length,
      backfilled: backfilled.length,
    },
    lateness: samples.length > 0 ? withSamples(state.lateness, samples, nowMs) : undefined,
    lastArrivalMs: fresh.lastArrivalMs,
    spanMs: serverNowMs - (fresh.posts[0]?.timeMs ?? serverNowMs),
  };
}

/**
 * How far below the watermark late posts showed, ms. Left out is what comes late for another reason: what an open gap had
 * hidden, boosts that are put in again, and several posts of one author in one reply, as when a follow merges history.
 */
function samplesMs(late: readonly NewPost[], { state, scheme }: Parameters<typeof sift>[0]): readonly number[] {
  const markMs = state.watermark && scheme.timeMs(state.watermark.upstreamId);
  if (markMs === undefined) return [];
  const byAuthor = Map.groupBy(late, ({ post }) => post.author?.id ?? post.id);
  return late.flatMap(({ post, timeMs }) => {
    const isOneOfMany = (byAuthor.get(post.author?.id ?? post.id)?.length ?? 0) >= SEVERAL;
    if (timeMs === undefined || isOneOfMany || post.repostOf !== undefined || isInGap(state.gaps, timeMs)) return [];
    return [markMs - timeMs];
  });
}

/** A removed post that was read after its removal is there again, and new. */
function withoutReturned({ reads, known }: Parameters<typeof sift>[0]): ReadonlyMap<PostId, KnownEntry> {
  const back = reads.filter(({ post, readAtMs }) => readAtMs > (known.get(post.id)?.removedAtMs ?? Infinity));
  if (back.length === 0) return known;
  const rest = new Map(known);
  for (const { post } of back) rest.delete(post.id);
  return rest;
}

/** Without what the polls have not come to. Of opaque ids, what stands above the first known post. */
function belowMark<Query extends Parameters<typeof sift>[0]>(query: Query): Query {
  const { reads, known, state, scheme, isBelowKnown = false } = query;
  if (scheme.name === 'opaque') {
    if (isBelowKnown) return query;
    const first = reads.findIndex(({ post }) => known.has(post.id));
    return { ...query, reads: first < 0 ? [] : reads.slice(first) };
  }
  const markKey = state.watermark?.orderKey ?? '';
  return { ...query, reads: reads.filter(({ post }) => scheme.orderKey(post.upstreamId) <= markKey) };
}

function entryOf({ post, orderKey, timeMs, fromTop }: NewPost, late: boolean, nowMs: number): NewRecord {
  return {
    kind: 'entry',
    postId: post.id,
    uri: post.uri,
    upstreamId: post.upstreamId,
    orderKey,
    revision: revisionOf(post),
    // Posts without a time in their ids keep the upstream's order among those that arrived together.
    sortAtMs: Math.min(timeMs ?? nowMs - fromTop, nowMs),
    arrivedAtMs: nowMs,
    late,
  };
}

function findChanges({ reads, known, stored, nowMs }: Parameters<typeof sift>[0]): {
  edits: NewRecord[];
  writes: PostWrite[];
  repeats: number;
} {
  const edits: NewRecord[] = [];
  const writes: PostWrite[] = [];
  let repeats = 0;
  for (const { post, readAtMs } of [...reads].reverse()) {
    const entry = known.get(post.id);
    if (entry === undefined) continue;
    const revision = revisionOf(post);
    const body = stored.get(post.id);
    if (entry.removedAtMs !== undefined || (body !== undefined && body.readAtMs > readAtMs)) {
      repeats += 1;
    } else if (isEdit(entry.revision, revision)) {
      const { orderKey, sortAtMs } = entry;
      const { id: postId, uri, upstreamId } = post;
      edits.push({
        kind: 'edit',
        postId,
        uri,
        upstreamId,
        orderKey,
        revision,
        sortAtMs,
        arrivedAtMs: nowMs,
        late: false,
      });
      writes.push({ post, readAtMs });
    } else {
      repeats += 1;
      if (entry.revision === revision && (body === undefined || isRecounted(body.post, post)))
        writes.push({ post, readAtMs });
    }
  }
  return { edits, writes, repeats };
}

/** The highest id that was ever seen and is not of the server's future; of opaque ids the one that was seen last. */
function watermarkOf(
  { ids, state, scheme, serverNowMs }: Parameters<typeof sift>[0],
  newest: NewPost | undefined,
): LogState['watermark'] {
  if (scheme.name === 'opaque') return newest && { upstreamId: newest.post.upstreamId, orderKey: newest.orderKey };
  let highest = state.watermark;
  for (const upstreamId of ids) {
    const timeMs = scheme.timeMs(upstreamId);
    if (timeMs === undefined || timeMs > serverNowMs) continue;
    const orderKey = scheme.orderKey(upstreamId);
    if (highest === undefined || orderKey > highest.orderKey) highest = { upstreamId, orderKey };
  }
  return highest === state.watermark ? undefined : highest;
}
