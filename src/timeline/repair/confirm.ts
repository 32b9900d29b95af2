import type { DeletionCandidate, RepairState } from '../../stores/repair-state.ts';
import type { KnownEntry, NewRecord } from '../../stores/timeline-store.ts';
import { NOTHING_READ } from '../ingest/classify.ts';
import { type Committed, classifyStretch, commitFound } from '../ingest/commit.ts';
import { fetchById } from '../walk/ask.ts';
import type { SourceContext } from '../walk/source-context.ts';
import type { Stretch, WalkedLog } from '../walk/stretch.ts';
import { type Court, judgeAnswer } from './candidates.ts';

/**
 * Asks the upstream for deletion candidates by id, in one request where it has such a one: who is gone is removed from the log
 * where that was seen before, who is alive is brought up to date. Throws UpstreamError, StoreUnavailableError.
 */
export async function confirmDeletions(
  context: SourceContext,
  log: WalkedLog,
  repair: RepairState,
  question: { asked: readonly DeletionCandidate[]; court: Court },
): Promise<Committed> {
  const { asked, court } = question;
  const fetched = await fetchById(
    context,
    asked.map(({ upstreamId }) => upstreamId),
  );
  const { candidates, removed } = judgeAnswer(repair.candidates, asked, fetched, court);
  const reads = [...fetched.posts.values()].map((post) => ({ post, readAtMs: fetched.sentAtMs }));
  const known = await context.store.timelines.known(
    context.source.logId,
    reads.map(({ post }) => post.id),
  );
  const there = reads.filter(({ post }) => known.has(post.id));
  const stretch = { ...NOTHING_LISTED, reads: there, known };
  const classified = await classifyStretch(context, log, stretch, 'rescan');
  const removals = await removalsOf(context, removed, classified.nowMs);
  return commitFound(context, {
    state: log.state,
    classified: { ...classified, append: [...classified.append, ...removals] },
    nowMs: classified.nowMs,
    repair: { ...repair, candidates },
  });
}

const NOTHING_LISTED: Stretch = {
  ...{ reads: [], ids: new Set(), known: new Map(), places: { keys: new Map(), moved: [] }, end: 'end' },
  ...{ isPartial: false, problems: [], requests: 0 },
};

/** The records that take posts out of the log: those that it still has. */
export async function removalsOf(
  { source, store }: SourceContext,
  removed: readonly DeletionCandidate[],
  nowMs: number,
): Promise<readonly NewRecord[]> {
  const postIds = removed.map(({ postId }) => postId);
  if (postIds.length === 0) return NOTHING_READ.append;
  const known = await store.timelines.known(source.logId, postIds);
  const stored = await store.posts.getPosts(postIds);
  return postIds.flatMap((postId) => {
    const entry: KnownEntry | undefined = known.get(postId);
    if (entry === undefined || entry.removedAtMs !== undefined) return [];
    const uri = stored.get(postId)?.post.uri ?? postId;
    const { upstreamId, orderKey, revision, sortAtMs } = entry;
    return [{ kind: 'remove', postId, uri, upstreamId, orderKey, revision, sortAtMs, arrivedAtMs: nowMs, late: false }];
  });
}
