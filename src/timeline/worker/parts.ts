import type { JobKind } from '../limits/pools.ts';
import type { Repairs } from '../repair/repairs.ts';
import type { SourceContext } from '../walk/source-context.ts';
import type { Failures } from './failures.ts';
import type { RefreshCoalescer } from './refresh.ts';
import type { Retry } from './retry.ts';
import type { Schedule } from './schedule.ts';
import type { Trimmer } from './trim.ts';

/** What a source's worker is made of, for those who decide what it does next, and for those who do it. */
export interface WorkerParts {
  readonly context: SourceContext;
  readonly schedule: Schedule;
  readonly failures: Failures;
  readonly fills: Retry;
  readonly rescans: Retry;
  readonly repairs: Repairs;
  readonly coalescer: RefreshCoalescer;
  readonly trimmer: Trimmer;
  readonly state: WorkerState;
}

export interface WorkerState {
  isStopped: boolean;
  /** Somebody waits for a poll. */
  isAsked: boolean;
  isAdopted: boolean;
  /** The token's account is known to be the log's. */
  isConfirmed: boolean;
  hasGap: boolean;
  /** A source that is polled when asked has a page of its gap read with each poll. */
  mayFill: boolean;
  pollsInARow: number;
  lastJob: JobKind | undefined;
}
