import type { PostId } from '../post.ts';

/** How far the sweeps have come, over restarts. */
export interface SweepState {
  /** One a round, youngest age first: the order key up to which it has read everything again. */
  readonly sweptKeys: readonly string[];
  /** The round that is being walked. */
  readonly walk?: SweepWalk | undefined;
  /** Posts that were missing where they should have been. */
  readonly suspects: readonly Suspect[];
  /** Posts that were missing and are alive all the same, oldest first: not asked for again. Bounded. */
  readonly alive: readonly PostId[];
}

export interface SweepWalk {
  readonly round: number;
  /** The order key at which the walk began: the round has swept up to it when the walk ends. */
  readonly topKey: string;
  /** Where reading goes on. */
  readonly next: string;
  /** The lowest order key that was read, what lies above was compared. */
  readonly lowestKey: string;
  /** How often in a row `next` was refused. */
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
