import type { Clock } from '../clock.ts';
import type { Problem } from '../errors.ts';
import type { Source } from '../source.ts';
import type { SourceStatus, TimelineStore } from '../stores/timeline-store.ts';

/** How a source fares, as its loop tells it. */
export interface StatusTeller {
  /** Overwrites the status in the store; kept here alone while the store is out. Never throws. */
  tell(status: SourceStatus): Promise<void>;
  /** What the store holds, from this gateway or another one; undefined when it does not answer. */
  read(): Promise<SourceStatus | undefined>;
  /** True when another gateway polled within the last `ms`. */
  isPolledWithin(ms: number): Promise<boolean>;
}

/** `log` gets a line per change of state, not per attempt. */
export function createStatusTeller(deps: {
  source: Source;
  timelines: TimelineStore;
  clock: Clock;
  log: (line: string) => void;
}): StatusTeller {
  const { source, timelines, clock, log } = deps;
  let last = 'STARTING';

  async function read(): Promise<SourceStatus | undefined> {
    return timelines.readStatus(source.logId).catch(() => undefined);
  }

  return {
    async tell(status) {
      const problem = status.problems[0];
      const now = status.state === 'OK' ? 'OK' : `${status.state} ${problem?.code}`;
      if (now !== last) log(`source ${source.key}: ${status.state}${reasonOf(status.state, problem)}`);
      last = now;
      // The log tells of the outage itself; the next attempt writes what holds then.
      await timelines.writeStatus(source.logId, status).catch(() => {});
    },
    read,
    async isPolledWithin(ms) {
      const polledAtMs = (await read())?.lastPolledAtMs;
      if (polledAtMs === undefined) return false;
      const agoMs = clock.now() - polledAtMs;
      return agoMs >= 0 && agoMs < ms;
    },
  };
}

function reasonOf(state: SourceStatus['state'], problem: Problem | undefined): string {
  return problem === undefined || state === 'OK' ? '' : ` (${problem.code}: ${problem.message})`;
}
