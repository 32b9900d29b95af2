import type { IdScheme } from '../ids/id-scheme.ts';
import type { SweepState } from '../stores/sweep-state.ts';
import type { LogState } from '../stores/timeline-store.ts';
import type { UpstreamDescription } from '../upstreams/upstream.ts';
import type { Reading } from './reading.ts';

/** What a sweep works on, as it is now. */
export interface Sweeping {
  readonly reading: Reading;
  readonly state: LogState;
  readonly sweep: SweepState;
  readonly scheme: IdScheme;
  readonly description: UpstreamDescription;
  /** In the time of ids (the server's), or of arrival (the local clock's) where they have none. */
  readonly nowMs: number;
}
