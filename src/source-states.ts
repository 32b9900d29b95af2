import type { Clock } from './clock.ts';
import { StoreUnavailableError } from './errors.ts';
import type { Source } from './source.ts';
import type { LogState, SourceStatus, TimelineStore } from './stores/timeline-store.ts';

/** How a source fares: its log and its loop's last word, each absent while nothing is known. */
export interface SourceView {
  readonly log?: LogState | undefined;
  readonly status?: SourceStatus | undefined;
}

export interface SourceStates {
  /** Reads each log once a request, however many fields ask. */
  forRequest(): (source: Source) => Promise<SourceView>;
}

/** A poll that is due waits for its turn at the budget: it is missing when it is this late, or twice as late as planned. */
const OVERDUE_MS = 120_000;

/**
 * Reads how sources fare. `Query.sources` is not nullable, so an outage of the store must not fail it:
 * then the state is FAILING and the rest is what this gateway last read, as the schema says.
 */
export function createSourceStates(
  timelines: Pick<TimelineStore, 'readLog' | 'readStatus'>,
  clock: Pick<Clock, 'now'>,
): SourceStates {
  const lastKnown = new Map<string, SourceView>();

  async function read({ logId, polling }: Source): Promise<SourceView> {
    try {
      const [log, status] = await Promise.all([timelines.readLog(logId), timelines.readStatus(logId)]);
      const view = { log, status: status && presentStatus(status, clock.now()) };
      lastKnown.set(logId, view);
      return view;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      const { log, status } = lastKnown.get(logId) ?? {};
      return { log, status: { overlapMs: polling.overlapMs, problems: [], ...status, state: 'FAILING' } };
    }
  }

  return {
    forRequest() {
      const views = new Map<string, Promise<SourceView>>();
      return (source) => {
        const view = views.get(source.logId) ?? read(source);
        views.set(source.logId, view);
        return view;
      };
    },
  };
}

/** Who cannot write, or is gone, cannot tell that it fails: a poll that is long due says so. */
function presentStatus(status: SourceStatus, nowMs: number): SourceStatus {
  const { state, nextPollAtMs, lastPolledAtMs = nextPollAtMs } = status;
  if (state === 'STOPPED' || nextPollAtMs === undefined || lastPolledAtMs === undefined) return status;
  const isMissing = nowMs > nextPollAtMs + Math.max(OVERDUE_MS, nextPollAtMs - lastPolledAtMs);
  return isMissing ? { ...status, state: 'FAILING' } : status;
}
