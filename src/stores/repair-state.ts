import type { PostId } from '../post.ts';

/** How far rescans have come, and which posts may have been deleted; over restarts. */
export interface RepairState {
  /** One a round, youngest age first: the time (of order keys, Unix ms) up to which it has read all again. */
  readonly rescannedMs: readonly number[];
  /** The rescan that is under way. */
  readonly walk?: RescanWalk | undefined;
  /** Posts that were missing where they should have been, or of which a read by id said that they are gone. */
  readonly candidates: readonly DeletionCandidate[];
}

export interface RescanWalk {
  /** Down to this time the walk goes, Unix ms. */
  readonly toMs: number;
  /** When it began, in the same time: rounds reckon their ages from then. */
  readonly startedAtMs: number;
  /** Where it began, absent for the top of the timeline. */
  readonly topMs?: number | undefined;
  /** The id below which it began, with `topMs`. */
  readonly before?: string | undefined;
  /** Where reading goes on, absent for where the walk began. */
  readonly next?: string | undefined;
  /** The lowest order key that was read: what lies above was compared. */
  readonly lowestKey?: string | undefined;
  /** True once it lost its place, and began anew at the top. */
  readonly isRestarted?: boolean | undefined;
  /** True once missing posts found no room among the candidates: then nothing counts as read when it ends. */
  readonly isCrowded?: boolean | undefined;
  /** How often in a row `next` was refused, or gave nothing. */
  readonly tries?: number | undefined;
}

export interface DeletionCandidate {
  readonly postId: PostId;
  readonly upstreamId: string;
  /** When a rescan first missed it, Unix ms of the local clock. */
  readonly absentAtMs?: number | undefined;
  /** When the upstream first said that it is gone (404 or 410), Unix ms. */
  readonly goneAtMs?: number | undefined;
  /** The credential that it said so to: another one may see less. */
  readonly credentialId?: string | undefined;
  /** When it was last asked for by id without a verdict, Unix ms. */
  readonly askedAtMs?: number | undefined;
  /** True once the walk under way reads its place again, as nothing else can tell of it. */
  readonly isLookedFor?: boolean | undefined;
}

/** What a store kept as JSON; undefined for what earlier releases wrote, which had another shape: rescans begin anew. */
export function readRepairState(kept: object): RepairState | undefined {
  return 'rescannedMs' in kept ? (kept as RepairState) : undefined;
}
