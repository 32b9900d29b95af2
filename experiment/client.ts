import type { Clock } from '../src/clock.ts';
import { parsePostId } from '../src/ids/post-id.ts';
import type { TimelineToken } from '../src/ids/tokens.ts';
import type { Source } from '../src/source.ts';
import type { Store } from '../src/stores/store.ts';
import type { Gap } from '../src/stores/timeline-store.ts';
import { createTimelineReader } from '../src/timeline/reader/read.ts';

/** A client that follows the contract: one page without a token, then `since`. */
export interface LabClient {
  /** What the client shows: texts by upstream id, as entries, edits and removals left them. */
  readonly copy: ReadonlyMap<string, string>;
  /** Reads all that is new; gives the upstream ids of its entries, and the log's gaps as they are told. */
  read(): Promise<{ readonly ids: readonly string[]; readonly gaps: readonly Gap[] }>;
}

export function createLabClient(store: Store, clock: Clock, source: Source): LabClient {
  const reader = createTimelineReader({ store, refresh: async () => new Set(), clock, maxWaitMs: 0 });
  let since: TimelineToken | undefined;
  const copy = new Map<string, string>();
  return {
    copy,
    async read() {
      const ids: string[] = [];
      const gaps: Gap[] = [];
      for (;;) {
        const view = await reader.read({
          sources: [source],
          configured: [source],
          limit: 200,
          ...(since && { since }),
        });
        ids.push(...view.entries.map(({ post }) => post.upstreamId));
        for (const { post } of view.entries) copy.set(post.upstreamId, post.text);
        for (const post of view.edited) copy.set(post.upstreamId, post.text);
        for (const id of view.removed) copy.delete(parsePostId(id)?.upstreamId ?? id);
        gaps.push(...view.gaps.map(({ gap }) => gap));
        since = view.since ?? since;
        if (!view.hasNewer) return { ids, gaps };
      }
    },
  };
}
