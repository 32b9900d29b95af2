import type { PostId } from '../post.ts';

/** How far the sweeps have come, over restarts. */
export interface SweepState {
  /** One a round, youngest age first: the time (of ids, or of arrival for opaque ones; Unix ms) up to which it has read all again. */
  readonly sweptMs: readonly number[];
  /** The round that is being walked. */
  readonly walk?: SweepWalk | undefined;
  /** Posts that were missing where they should have been. */
  readonly suspects: readonly Suspect[];
  /** Posts that were missing and are alive all the same, oldest first: not asked for again. Bounded. */
  readonly alive: readonly PostId[];
}

export interface SweepWalk {
  /** Down to this time the walk goes, Unix ms. */
  readonly toMs: number;
  /** When it began, in the same time: rounds reckon their ages from then. */
  readonly startedAtMs: number;
  /** Where it began, absent for the top of the timeline. */
  readonly topMs?: number | undefined;
  /** Where reading goes on, absent for where the walk began. */
  readonly next?: string | undefined;
  /** The lowest order key that was read: what lies above was compared. */
  readonly lowestKey?: string | undefined;
  /** It began anew, after `next` brought nothing although that may not have been the end. */
  readonly isAgain?: boolean | undefined;
  /** How often in a row `next` was refused, or gave nothing. */
  readonly tries?: number | undefined;
}

export interface Suspect {
  readonly postId: PostId;
  readonly upstreamId: string;
  /** When the upstream first said that it is gone (404 or 410), Unix ms; absent while it was not asked. */
  readonly goneAtMs?: number | undefined;
  /** The credential that it said so to: another one may see less. */
  readonly credentialId?: string | undefined;
}
