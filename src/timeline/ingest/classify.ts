import type { IdScheme } from '../../ids/id-scheme.ts';
import type { PostId } from '../../post.ts';
import type { PostWrite, StoredPost } from '../../stores/post-store.ts';
import type { KnownEntry, LogCommit, LogCounts, LogState, NewRecord } from '../../stores/timeline-store.ts';
import { withSamples } from '../poll/lateness.ts';
import { isBack } from '../walk/listed.ts';
import type { Read, Stretch } from '../walk/stretch.ts';
import { isInGap } from './gaps.ts';
import { isEdit, isRecounted, revisionOf } from './revision.ts';

/** The parts of a commit that follow from what was read. */
export interface Classified {
  /** Entries lowest id first, edits after. */
  readonly append: readonly NewRecord[];
  readonly posts: readonly PostWrite[];
  readonly places: NonNullable<LogCommit['places']>;
  /** Absent while it stays. */
  readonly watermark?: LogState['watermark'];
  readonly counts: Pick<LogCounts, 'posts' | 'duplicatesDropped' | 'leaksPrevented' | 'backfilled'>;
  /** Absent while no sample came. */
  readonly lateness?: LogCommit['lateness'];
  /** How long ago the oldest new post was made, ms; 0 where ids do not tell. */
  readonly spanMs: number;
}

/**
 * `history`: the first poll, where nothing is late. `fill`: whatever is new is backfilled. `rescan`: the same, and what lies
 * above the watermark is left to the polls, which know whether anything is between.
 */
export type ClassifiedFor = 'history' | 'poll' | 'fill' | 'rescan';

/** So many late posts of one author in one reply are history. */
const SEVERAL = 3;

/** Where nothing was read. */
export const NOTHING_READ: Classified = {
  append: [],
  posts: [],
  places: [],
  counts: { posts: 0, duplicatesDropped: 0, leaksPrevented: 0, backfilled: 0 },
  spanMs: 0,
};

/** What is classified. */
export interface Classification {
  readonly stretch: Pick<Stretch, 'reads' | 'ids' | 'known' | 'places'>;
  readonly stored: ReadonlyMap<PostId, StoredPost>;
  readonly state: LogState;
  readonly scheme: IdScheme;
  readonly readFor: ClassifiedFor;
  /** Local clock: when the commit is made. */
  readonly nowMs: number;
  /** Ids made after it are of the future. */
  readonly serverNowMs: number;
}

/** A post that the log does not have, with its place in the log's order. */
interface NewPost extends Read {
  readonly orderKey: string;
  /** The id's time, Unix ms; absent where the id has none. */
  readonly timeMs?: number | undefined;
  /** 0 for the newest of those that were read together. */
  readonly fromTop: number;
}

/** Tells what is new, known, changed and back again, and what of it is late. Pure. */
export function classify(query: Classification): Classified {
  const { stretch, state, readFor, nowMs, serverNowMs } = query;
  const fresh = findNew(query);
  const mark = readFor === 'history' ? undefined : state.watermark;
  const isLate = ({ orderKey, timeMs }: NewPost) =>
    mark !== undefined && timeMs !== undefined && orderKey < mark.orderKey;
  const late = fresh.filter((post) => isLate(post) && !stretch.known.has(post.post.id));
  const isBackfill = readFor === 'fill' || readFor === 'rescan';
  const backfilled = isBackfill ? fresh : late.filter(({ timeMs }) => isInGap(state.gaps, timeMs ?? nowMs));
  const leaks = readFor === 'poll' ? late.filter((post) => !backfilled.includes(post)) : [];
  const samples = readFor === 'fill' ? [] : samplesMs(readFor === 'poll' ? leaks : late, query);
  const changes = findChanges(query);
  return {
    append: [...fresh.map((post) => entryOf(post, isLate(post), nowMs)), ...changes.edits],
    posts: [...fresh.map(({ post, readAtMs }) => ({ post, readAtMs })), ...changes.writes],
    places: stretch.places.moved,
    watermark: readFor === 'rescan' ? undefined : watermarkOf(query, fresh.at(-1)),
    counts: {
      posts: fresh.length,
      duplicatesDropped: changes.duplicates,
      leaksPrevented: leaks.length,
      backfilled: backfilled.length,
    },
    lateness: samples.length > 0 ? withSamples(state.lateness, samples, nowMs) : undefined,
    spanMs: serverNowMs - (fresh[0]?.timeMs ?? serverNowMs),
  };
}

/** Those above the log's floor, lowest order key first. */
function findNew({ stretch, state, scheme, readFor }: Classification): readonly NewPost[] {
  const { reads, known, places } = stretch;
  const { floorKey = '', watermark } = state;
  const found: NewPost[] = [];
  for (const [fromTop, read] of reads.entries()) {
    const { post } = read;
    const entry = known.get(post.id);
    const orderKey = places.keys.get(post.id);
    const isThereAgain = isBack(entry, read);
    if (orderKey === undefined || (entry !== undefined && !isThereAgain)) continue;
    if (orderKey <= floorKey && !isThereAgain) continue;
    if (readFor === 'rescan' && orderKey > (watermark?.orderKey ?? '')) continue;
    const timeMs = scheme.includes(post.upstreamId) ? scheme.timeMs(post.upstreamId) : undefined;
    found.push({ ...read, orderKey, timeMs, fromTop });
  }
  return found.sort((a, b) => (a.orderKey < b.orderKey ? -1 : a.orderKey > b.orderKey ? 1 : b.fromTop - a.fromTop));
}

/**
 * How far below the watermark late posts showed, ms. What the overlap found counts, each of them; of what rescans found, that is
 * left out which comes late for another reason: what an open gap had hidden, boosts that are put in again, and several posts
 * of one author in one reply, as when a follow merges history.
 */
function samplesMs(late: readonly NewPost[], { state, scheme, readFor }: Classification): readonly number[] {
  const markMs = state.watermark && scheme.timeMs(state.watermark.upstreamId);
  if (markMs === undefined) return [];
  if (readFor === 'poll') return late.flatMap(({ timeMs }) => (timeMs === undefined ? [] : [markMs - timeMs]));
  const byAuthor = Map.groupBy(late, ({ post }) => post.author?.id ?? post.id);
  return late.flatMap(({ post, timeMs }) => {
    const isOneOfMany = (byAuthor.get(post.author?.id ?? post.id)?.length ?? 0) >= SEVERAL;
    if (timeMs === undefined || isOneOfMany || post.repostOf !== undefined || isInGap(state.gaps, timeMs)) return [];
    return [markMs - timeMs];
  });
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

interface Changes {
  readonly edits: NewRecord[];
  readonly writes: PostWrite[];
  duplicates: number;
}

function findChanges({ stretch, stored, nowMs }: Classification): Changes {
  const changes: Changes = { edits: [], writes: [], duplicates: 0 };
  const { reads, known, places } = stretch;
  for (const read of reads.toReversed()) {
    const { post, readAtMs } = read;
    const entry = known.get(post.id);
    if (entry === undefined || isBack(entry, read)) continue;
    const revision = revisionOf(post);
    const body = stored.get(post.id);
    if (entry.removedAtMs !== undefined || (body !== undefined && body.readAtMs > readAtMs)) {
      changes.duplicates += 1;
    } else if (isEdit(entry.revision, revision)) {
      const isMoved = places.moved.some(({ postId }) => postId === post.id);
      const orderKey = isMoved ? (places.keys.get(post.id) ?? entry.orderKey) : entry.orderKey;
      changes.edits.push(editOf(read, { ...entry, orderKey }, revision, nowMs));
      changes.writes.push({ post, readAtMs });
    } else {
      changes.duplicates += 1;
      const isStale = body === undefined || isRecounted(body.post, post);
      if (!isEdit(revision, entry.revision) && isStale) changes.writes.push({ post, readAtMs });
    }
  }
  return changes;
}

function editOf({ post }: Read, entry: KnownEntry, revision: string, nowMs: number): NewRecord {
  const { orderKey, sortAtMs } = entry;
  const { id: postId, uri, upstreamId } = post;
  return { kind: 'edit', postId, uri, upstreamId, orderKey, revision, sortAtMs, arrivedAtMs: nowMs, late: false };
}

/** The highest id that was ever seen and is not of the server's future; of opaque ids the one that stands highest. */
function watermarkOf(
  { stretch, state, scheme, serverNowMs }: Classification,
  newest: NewPost | undefined,
): LogState['watermark'] {
  let highest = state.watermark;
  const isHigher = (orderKey: string) => highest === undefined || orderKey > highest.orderKey;
  if (!scheme.isOrdered && newest && isHigher(newest.orderKey))
    return { upstreamId: newest.post.upstreamId, orderKey: newest.orderKey };
  for (const upstreamId of scheme.isOrdered ? stretch.ids : []) {
    const timeMs = scheme.timeMs(upstreamId);
    if (timeMs === undefined || timeMs > serverNowMs) continue;
    const orderKey = scheme.orderKey(upstreamId);
    if (isHigher(orderKey)) highest = { upstreamId, orderKey };
  }
  return highest === state.watermark ? undefined : highest;
}
