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

/**
 * Reads how sources fare. `Query.sources` is not nullable, so an outage of the store must not fail it:
 * then the state is FAILING and the rest is what this gateway last read, as the schema says.
 */
export function createSourceStates(timelines: Pick<TimelineStore, 'readLog' | 'readStatus'>): SourceStates {
  const lastKnown = new Map<string, SourceView>();

  async function read({ logId, polling }: Source): Promise<SourceView> {
    try {
      const [log, status] = await Promise.all([timelines.readLog(logId), timelines.readStatus(logId)]);
      const view = { log, status };
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
