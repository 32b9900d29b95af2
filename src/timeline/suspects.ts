import type { PostId } from '../post.ts';
import type { Suspect, SweepState } from '../stores/sweep-state.ts';
import type { KnownPost } from '../stores/timeline-store.ts';

type Suspicions = Pick<SweepState, 'suspects' | 'alive'>;

/** So many posts are suspects at a time: an unfollow, a block or a closed server must not read as hundreds of deletions. */
const MOST_SUSPECTS = 40;
/** So many posts are remembered to be alive though they are missing. */
const MOST_ALIVE = 1000;

/**
 * The suspicions after a stretch was read: `missing` are the known posts of it which the upstream did not show, `shown` those
 * that it did, who are suspects no longer.
 */
export function suspect(
  { suspects, alive }: Suspicions,
  seen: { missing: readonly KnownPost[]; shown: ReadonlySet<PostId> },
): Suspicions {
  const kept = suspects.filter(({ postId }) => !seen.shown.has(postId));
  const known = new Set([...kept.map(({ postId }) => postId), ...alive]);
  const added = seen.missing.filter(({ postId }) => !known.has(postId));
  const room = Math.max(0, MOST_SUSPECTS - kept.length);
  return {
    suspects: [...kept, ...added.slice(0, room).map(({ postId, upstreamId }) => ({ postId, upstreamId }))],
    alive: alive.filter((postId) => !seen.shown.has(postId)),
  };
}

/** True when the upstream is to be asked for it: never asked with this credential, or gone at least a sweep ago and the credential proven good since. */
export function isToAsk(
  { goneAtMs, credentialId }: Suspect,
  at: { nowMs: number; sweepIntervalMs: number; credentialId: string; provenAtMs: number | undefined },
): boolean {
  if (goneAtMs === undefined || credentialId !== at.credentialId) return true;
  // The local clock was set back: the first answer counts from now.
  if (goneAtMs > at.nowMs) return true;
  return at.nowMs - goneAtMs >= at.sweepIntervalMs && at.provenAtMs !== undefined && at.provenAtMs > goneAtMs;
}

/**
 * The suspicions after the upstream was asked for `asked` by id: who is gone for the second time is `removed`, who is alive
 * is remembered, about all others nothing was learnt.
 */
export function judge(
  { suspects, alive }: Suspicions,
  answer: {
    asked: readonly Suspect[];
    gone: ReadonlySet<string>;
    alive: ReadonlySet<string>;
    askedAtMs: number;
    credentialId: string;
    sweepIntervalMs: number;
  },
): Suspicions & { readonly removed: readonly Suspect[] } {
  const { askedAtMs: goneAtMs, credentialId } = answer;
  const asked = new Set(answer.asked.map(({ postId }) => postId));
  const isOldEnough = (sinceMs = goneAtMs) => goneAtMs - sinceMs >= answer.sweepIntervalMs;
  const removed = answer.asked.filter(
    (each) => answer.gone.has(each.upstreamId) && each.credentialId === credentialId && isOldEnough(each.goneAtMs),
  );
  const isRemoved = new Set(removed.map(({ postId }) => postId));
  const acquitted = answer.asked.filter(({ upstreamId }) => answer.alive.has(upstreamId));
  const isAcquitted = new Set(acquitted.map(({ postId }) => postId));
  return {
    removed,
    suspects: suspects
      .filter(({ postId }) => !isRemoved.has(postId) && !isAcquitted.has(postId))
      .map((each) =>
        asked.has(each.postId) && answer.gone.has(each.upstreamId) ? { ...each, goneAtMs, credentialId } : each,
      ),
    alive: [...alive, ...isAcquitted].slice(-MOST_ALIVE),
  };
}
