import type { Post, PostId } from '../post.ts';

/**
 * Orders the candidates that it is handed; adding one is one file, and one line in recommenders/registry.ts.
 * May name posts that are no candidates: the gateway then fetches them by id on configured hosts.
 * Throws RecommenderUnavailableError.
 */
export interface Recommender {
  recommend(request: RecommendRequest): Promise<readonly RecommendedItem[]>;
  /** A feed waits so long for an answer; 10 s when absent. */
  readonly maxMs?: number | undefined;
}

export interface RecommendRequest {
  readonly userId: string;
  /** The most items that are of use. */
  readonly limit: number;
  /** What the viewer may see, newest first. */
  readonly candidates: readonly Candidate[];
  /**
   * The list that `candidates` are taken from, which many requests share and nobody changes: what is computed of it may be kept
   * for as long as it is. Absent: `candidates` are all.
   */
  readonly pool?: readonly Candidate[] | undefined;
  /** Candidates that this scroll has served already: a hint, the gateway filters by itself. At most 2,000. */
  readonly exclude: readonly PostId[];
  /** Differs from generation to generation; the same seed and candidates give the same order. */
  readonly seed: string;
  /** Unix ms. */
  readonly nowMs: number;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal?: AbortSignal | undefined;
}

export interface Candidate {
  /** In its present form; a repost carries `repostOf`. */
  readonly post: Post;
  /** Unix ms. */
  readonly sortAtMs: number;
  /** Copies of what the post shows that are not handed out because of it: a recommender that names one means the post. */
  readonly copies?: readonly PostId[] | undefined;
}

/** Best first. */
export interface RecommendedItem {
  readonly postId: PostId;
  /** Items of one canonicalId are one story: the first wins. Default: the post id. */
  readonly canonicalId?: string | undefined;
  readonly reason?: Reason | undefined;
}

export interface Reason {
  readonly kind: ReasonKind;
  /** English, at most 80 characters. */
  readonly text: string;
}

/** What a reason may be; the same words as in the schema. */
export const REASON_KINDS = ['POPULAR', 'RECENT', 'FOLLOWED_AUTHOR', 'TOPIC', 'SIMILAR', 'EXPLORE', 'OTHER'] as const;

export type ReasonKind = (typeof REASON_KINDS)[number];
