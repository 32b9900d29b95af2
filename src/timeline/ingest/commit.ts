import type { RepairState } from '../../stores/repair-state.ts';
import type { Gap, LogState } from '../../stores/timeline-store.ts';
import type { SourceContext } from '../walk/source-context.ts';
import type { Stretch, WalkedLog } from '../walk/stretch.ts';
import { type Classified, type ClassifiedFor, classify } from './classify.ts';
import { keepGaps } from './gaps.ts';

/** What a job came to. `conflict`: another gateway committed first, what was read is dropped. */
export interface Committed {
  readonly outcome: 'committed' | 'unchanged' | 'conflict';
  /** The log as it is now. */
  readonly state: LogState;
  readonly appended: number;
}

/** What a stretch amounts to, beside the bodies that the log holds. */
export async function classifyStretch(
  { store, serverClock, clock }: SourceContext,
  { state, scheme }: WalkedLog,
  stretch: Stretch,
  readFor: ClassifiedFor,
): Promise<Classified & { readonly nowMs: number }> {
  const stored = await store.posts.getPosts([...stretch.known.keys()]);
  const nowMs = clock.now();
  return { ...classify({ stretch, stored, state, scheme, readFor, nowMs, serverNowMs: serverClock.now() }), nowMs };
}

/** All of what a job found in one step, or nothing when there is nothing. Takes the counts of `notes` along. */
export async function commitFound(
  { source, store, notes, keepMs }: SourceContext,
  found: {
    state: LogState;
    classified: Classified;
    nowMs: number;
    /** Absent: as they are. */
    gaps?: readonly Gap[] | undefined;
    floorKey?: string | undefined;
    /** Absent: as it is. */
    repair?: RepairState | undefined;
    /** Added to what the log remembers. */
    memory?: Readonly<Record<string, string>> | undefined;
  },
): Promise<Committed> {
  const { state, classified, memory, nowMs, floorKey, repair } = found;
  const { append, posts, places, watermark, counts, lateness } = classified;
  notes.duplicatesDropped += counts.duplicatesDropped;
  const kept = keepGaps(found.gaps ?? state.gaps, nowMs - keepMs);
  const gaps = kept.length === state.gaps.length && kept.every((gap, at) => gap === state.gaps[at]) ? undefined : kept;
  const changes = [append.length, posts.length, places.length, watermark, gaps, memory, floorKey, repair];
  if (!changes.some(Boolean)) return { outcome: 'unchanged', state, appended: 0 };

  const known = new Set(state.gaps.map(({ id }) => id));
  const { requests, duplicatesDropped } = notes;
  const result = await store.timelines.commit({
    ...{ logId: source.logId, expectedVersion: state.version, nowMs },
    ...{ append, posts, places, watermark, floorKey, gaps, lateness, repair },
    counts: {
      ...counts,
      requests,
      duplicatesDropped,
      gaps: (gaps ?? []).filter(({ id }) => !known.has(id)).length,
    },
    memory: memory && { ...state.memory, ...memory },
  });
  if (!result.committed) {
    return { outcome: 'conflict', state: await store.timelines.readLog(source.logId), appended: 0 };
  }
  notes.requests -= requests;
  notes.duplicatesDropped -= duplicatesDropped;
  return { outcome: 'committed', state: result.state, appended: append.length };
}
