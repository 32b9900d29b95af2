import type { PostId } from '../../post.ts';
import type { DeletionCandidate } from '../../stores/repair-state.ts';
import type { KnownPost } from '../../stores/timeline-store.ts';
import type { FetchedPosts } from '../../upstreams/upstream.ts';

/** So many posts are judged at a time; rescans wait for them, so that none that is missing is left out. */
export const MOST_CANDIDATES = 500;

/** What decides about evidence. Times are of the local clock, Unix ms. */
export interface Court {
  readonly nowMs: number;
  /** Two pieces of evidence lie at least so far apart. */
  readonly sweepIntervalMs: number;
  readonly credentialId: string;
  /** False where reads by id tell nothing: deleted posts still answer, or no read by id is allowed. */
  readonly judgesById: boolean;
}

export interface Judged {
  readonly candidates: readonly DeletionCandidate[];
  readonly removed: readonly DeletionCandidate[];
}

/** What a stretch says about known posts. */
export interface Absence {
  /** The known posts of it that the upstream did not show. */
  readonly missing: readonly KnownPost[];
  /** Those that it did show. */
  readonly shown: ReadonlySet<PostId>;
  /** From this order key on, what is missing lies between posts that are shown; absent: nothing does. */
  readonly betweenKey?: string | undefined;
}

/**
 * After a stretch was read: who was shown is a candidate no longer. Who is missing for the second time is removed where it was
 * told gone before, or where reads by id do not tell and its neighbours are shown; where they are not, it is a candidate no longer.
 * `left`: how many found no room, and have to be looked for again.
 */
export function judgeAbsence(
  candidates: readonly DeletionCandidate[],
  { missing, shown, betweenKey = '2' }: Absence,
  court: Court,
): Judged & { readonly left: number } {
  const found = new Map(missing.map((post) => [post.postId, post]));
  const removed: DeletionCandidate[] = [];
  const kept: DeletionCandidate[] = [];
  for (const candidate of candidates) {
    const { postId, absentAtMs, goneAtMs, credentialId } = candidate;
    const post = found.get(postId);
    found.delete(postId);
    if (shown.has(postId)) continue;
    if (post === undefined) kept.push(candidate);
    else if (credentialId === court.credentialId && isOldEnough(goneAtMs, court)) removed.push(candidate);
    else if (!isUntold(candidate, court) || !isOldEnough(absentAtMs, court)) {
      kept.push(missed(candidate, court.nowMs));
    } else if (post.orderKey >= betweenKey) removed.push(candidate);
  }
  // Where nobody is asked, what lies below the end of a listing may only be older than what it shows.
  const fresh = [...found.values()].filter(({ orderKey }) => court.judgesById || orderKey >= betweenKey);
  const added = fresh.slice(0, Math.max(0, MOST_CANDIDATES - kept.length)).map(({ postId, upstreamId }) => {
    return { postId, upstreamId, absentAtMs: court.nowMs };
  });
  return { candidates: [...kept, ...added], removed, left: fresh.length - added.length };
}

/** True where reads by id do not tell, or did not tell of this one. */
function isUntold({ askedAtMs, goneAtMs }: DeletionCandidate, court: Court): boolean {
  return !court.judgesById || (askedAtMs !== undefined && goneAtMs === undefined);
}

/** True when the upstream is to be asked for it by id. `provenAtMs`: when the credential was last good for a page. */
export function isToAsk(
  { goneAtMs, credentialId, askedAtMs }: DeletionCandidate,
  court: Court & { readonly provenAtMs: number | undefined },
): boolean {
  if (!court.judgesById) return false;
  if (askedAtMs !== undefined && askedAtMs <= court.nowMs && !isOldEnough(askedAtMs, court)) return false;
  // The local clock was set back: the first answer counts from now.
  if (goneAtMs === undefined || credentialId !== court.credentialId || goneAtMs > court.nowMs) return true;
  return isOldEnough(goneAtMs, court) && (court.provenAtMs ?? 0) > goneAtMs;
}

/**
 * After the upstream was asked for `asked` by id: who is alive is a candidate no longer, who is gone for the second time, or was
 * missing before, is removed. Who answered neither is asked again later, and keeps nobody else waiting.
 */
export function judgeAnswer(
  candidates: readonly DeletionCandidate[],
  asked: readonly DeletionCandidate[],
  { posts, gone, sentAtMs }: Pick<FetchedPosts, 'posts' | 'gone' | 'sentAtMs'>,
  court: Court,
): Judged {
  const isAsked = new Set(asked.map(({ postId }) => postId));
  const isGone = new Set(gone);
  const at = { ...court, nowMs: sentAtMs };
  const { credentialId } = court;
  const removed: DeletionCandidate[] = [];
  const kept = candidates.flatMap((each) => {
    if (!isAsked.has(each.postId)) return [each];
    if (posts.has(each.upstreamId)) return [];
    if (!isGone.has(each.upstreamId)) return [{ ...each, askedAtMs: sentAtMs }];
    const isSecond = each.credentialId === credentialId && isOldEnough(each.goneAtMs, at);
    if (isSecond || isOldEnough(each.absentAtMs, at)) {
      removed.push(each);
      return [];
    }
    const isFirst = each.goneAtMs === undefined || each.credentialId !== credentialId || each.goneAtMs > sentAtMs;
    return [{ ...each, goneAtMs: isFirst ? sentAtMs : each.goneAtMs, credentialId }];
  });
  return { candidates: kept, removed };
}

/** True for a candidate whom only a look at its place can judge, and that may have it now. Each has one. */
export function waitsForLook(candidate: DeletionCandidate, court: Court): boolean {
  if (candidate.isLookedFor || !isUntold(candidate, court)) return false;
  const sinceMs = candidate.absentAtMs ?? candidate.askedAtMs;
  // The local clock was set back: it begins anew.
  return sinceMs === undefined || sinceMs > court.nowMs || isOldEnough(sinceMs, court);
}

/** Without those that were looked for in vain, by the walk that has ended: a later rescan that misses them begins anew. */
export function afterLook(candidates: readonly DeletionCandidate[], court: Court): readonly DeletionCandidate[] {
  return candidates.filter((each) => !each.isLookedFor || !isUntold(each, court));
}

/** With more of them, named by whoever was told that they are gone. */
export function nominated(
  candidates: readonly DeletionCandidate[],
  posts: readonly Pick<DeletionCandidate, 'postId' | 'upstreamId'>[],
): readonly DeletionCandidate[] {
  const there = new Set(candidates.map(({ postId }) => postId));
  const added = posts.filter(({ postId }) => !there.has(postId));
  return [...candidates, ...added.map(({ postId, upstreamId }) => ({ postId, upstreamId }))].slice(0, MOST_CANDIDATES);
}

function isOldEnough(atMs: number | undefined, { nowMs, sweepIntervalMs }: Court): boolean {
  return atMs !== undefined && nowMs - atMs >= sweepIntervalMs;
}

/** Keeps when it was first missed; that was now where the local clock was set back, and then another look follows. */
function missed(candidate: DeletionCandidate, nowMs: number): DeletionCandidate {
  const { isLookedFor: _, ...rest } = candidate;
  return (rest.absentAtMs ?? Number.POSITIVE_INFINITY) <= nowMs ? candidate : { ...rest, absentAtMs: nowMs };
}
