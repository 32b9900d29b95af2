import type { Suspect } from '../stores/sweep-state.ts';
import type { NewRecord } from '../stores/timeline-store.ts';
import { type Committed, commitSifted } from './commit.ts';
import { fetchById } from './reading.ts';
import { NOTHING_SIFTED, sift } from './sift.ts';
import { judge } from './suspects.ts';
import type { Sweeping } from './sweeping.ts';

/**
 * Asks the upstream for suspects by id, in one request where it has such a one: who is gone for the second time is removed
 * from the log, who is alive is brought up to date. Throws UpstreamError, StoreUnavailableError.
 */
export async function askSuspects(sweeping: Sweeping, asked: readonly Suspect[]): Promise<Committed> {
  const { reading, state, sweep, scheme } = sweeping;
  const { source, store, clock, serverClock } = reading;
  const fetched = await fetchById(
    reading,
    asked.map(({ upstreamId }) => upstreamId),
  );
  const { walk, sweptMs } = sweep;
  const { removed, ...suspicions } = judge(sweep, {
    asked,
    gone: new Set(fetched.gone),
    alive: new Set(fetched.posts.keys()),
    askedAtMs: fetched.sentAtMs,
    credentialId: source.credentialId,
    sweepIntervalMs: source.polling.sweepIntervalMs,
  });

  const nowMs = clock.now();
  const reads = [...fetched.posts.values()].map((post) => ({ post, readAtMs: fetched.sentAtMs }));
  const postIds = [...asked.map(({ postId }) => postId), ...reads.map(({ post }) => post.id)];
  const known = await store.timelines.known(source.logId, postIds);
  const stored = await store.posts.getPosts([...known.keys()]);
  const isKnown = reads.filter(({ post }) => known.has(post.id));
  const serverNowMs = serverClock.now();
  const sifted = sift({ reads: isKnown, ids: [], known, stored, state, scheme, mode: 'sweep', nowMs, serverNowMs });

  const removals = removed.flatMap(({ postId }): NewRecord[] => {
    const entry = known.get(postId);
    if (entry === undefined || entry.removedAtMs !== undefined) return [];
    const uri = stored.get(postId)?.post.uri ?? postId;
    const { upstreamId, orderKey, revision, sortAtMs } = entry;
    return [{ kind: 'remove', postId, uri, upstreamId, orderKey, revision, sortAtMs, arrivedAtMs: nowMs, late: false }];
  });
  return commitSifted(reading, {
    state,
    sifted: { ...NOTHING_SIFTED, ...sifted, append: [...sifted.append, ...removals] },
    nowMs,
    sweep: { ...suspicions, walk, sweptMs },
  });
}
