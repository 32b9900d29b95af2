import type { DeletionCandidate } from '../../stores/repair-state.ts';
import { NOTHING_READ } from '../ingest/classify.ts';
import { commitFound } from '../ingest/commit.ts';
import type { SourceContext } from '../walk/source-context.ts';
import { nominated } from './candidates.ts';

const MOST_COMMITS = 3;

/** Makes posts of this log candidates, as a read by id was told that they are gone. Throws StoreUnavailableError. */
export async function nominate(
  context: SourceContext,
  posts: readonly Pick<DeletionCandidate, 'postId' | 'upstreamId'>[],
): Promise<void> {
  const { timelines } = context.store;
  const { logId } = context.source;
  const postIds = posts.map(({ postId }) => postId);
  for (let tries = 0; tries < MOST_COMMITS; tries += 1) {
    const state = await timelines.readLog(logId);
    const repair = (await timelines.readRepair(logId)) ?? { rescannedMs: [], candidates: [] };
    const known = await timelines.known(logId, postIds);
    const live = posts.filter(({ postId }) => known.has(postId) && known.get(postId)?.removedAtMs === undefined);
    const candidates = nominated(repair.candidates, live);
    // Each page that shows a candidate is told the same.
    if (candidates.length === repair.candidates.length) return;
    const found = { ...repair, candidates };
    const nowMs = context.clock.now();
    const { outcome } = await commitFound(context, { state, classified: NOTHING_READ, nowMs, repair: found });
    if (outcome !== 'conflict') return;
  }
}
