import type { SweepState } from '../stores/sweep-state.ts';
import type { CommitResult, Gap, LogState } from '../stores/timeline-store.ts';
import type { Reading } from './reading.ts';
import type { Sifted } from './sift.ts';

/** What a poll or a fill came to. `conflict`: another gateway committed first, what was read is dropped. */
export interface Committed {
  readonly outcome: 'committed' | 'unchanged' | 'conflict';
  /** The log as it is now. */
  readonly state: LogState;
  readonly appended: number;
}

/** All of what a poll or a fill found in one step, or nothing when there is nothing. Takes the counts of `notes` along. */
export async function commitSifted(
  { source, store, notes, holder }: Reading,
  found: {
    state: LogState;
    sifted: Sifted;
    nowMs: number;
    /** Absent: as they are. */
    gaps?: readonly Gap[] | undefined;
    floorKey?: string | undefined;
    /** Absent: as it is. */
    sweep?: SweepState | undefined;
    /** Added to what the log remembers. */
    memory?: Readonly<Record<string, string>> | undefined;
  },
): Promise<Committed> {
  const { state, sifted, gaps, memory } = found;
  notes.duplicatesDropped += sifted.counts.duplicatesDropped;
  const changes = [
    sifted.append.length,
    sifted.posts.length,
    sifted.watermark,
    gaps,
    memory,
    found.floorKey,
    found.sweep,
  ];
  if (!changes.some(Boolean)) return { outcome: 'unchanged', state, appended: 0 };

  const known = new Set(state.gaps.map(({ id }) => id));
  const { requests, duplicatesDropped } = notes;
  const result: CommitResult = await store.timelines.commit({
    logId: source.logId,
    expectedVersion: state.version,
    holder,
    nowMs: found.nowMs,
    append: sifted.append,
    posts: sifted.posts,
    watermark: sifted.watermark,
    floorKey: found.floorKey,
    gaps,
    counts: {
      ...sifted.counts,
      requests,
      duplicatesDropped,
      gaps: (gaps ?? []).filter(({ id }) => !known.has(id)).length,
    },
    lateness: sifted.lateness,
    sweep: found.sweep,
    memory: {
      ...state.memory,
      ...memory,
      ...(sifted.lastArrivalMs !== undefined && { lastArrivalMs: String(sifted.lastArrivalMs) }),
    },
  });
  if (!result.committed) {
    return { outcome: 'conflict', state: await store.timelines.readLog(source.logId), appended: 0 };
  }
  notes.requests -= requests;
  notes.duplicatesDropped -= duplicatesDropped;
  return { outcome: 'committed', state: result.state, appended: sifted.append.length };
}
