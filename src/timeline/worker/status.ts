import type { Problem, UpstreamError } from '../../errors.ts';
import type { Source } from '../../source.ts';
import type { SourceStatus } from '../../stores/timeline-store.ts';
import type { SourceContext } from '../walk/source-context.ts';

/** Reports how a source fares. */
export interface StatusReporter {
  /** Overwrites the status in the store; kept here alone while the store is out. Never throws. */
  report(status: Report): Promise<void>;
  /** What the store holds, from this gateway or another one; undefined when it does not answer. */
  read(): Promise<SourceStatus | undefined>;
  /** True when another gateway polled within the last `ms`. */
  isPolledWithin(ms: number): Promise<boolean>;
}

/** What the worker knows; the rest is in its context. */
export interface Report extends Pick<SourceStatus, 'state' | 'lastPolledAtMs' | 'overlapMs' | 'problems'> {
  /** Absent: no poll is planned. */
  readonly nextPollInMs?: number | undefined;
}

/** `log` gets a line per change of state, not per attempt. */
export function createStatusReporter(
  { source, store, clock, notes, requests }: SourceContext,
  log: (line: string) => void,
): StatusReporter {
  const { timelines } = store;
  let last = 'STARTING';

  async function read(): Promise<SourceStatus | undefined> {
    return timelines.readStatus(source.logId).catch(() => undefined);
  }

  return {
    async report({ nextPollInMs, ...report }) {
      const problem = report.problems[0];
      const now = report.state === 'OK' ? 'OK' : `${report.state} ${problem?.code}`;
      if (now !== last) log(`source ${source.key}: ${report.state}${reasonOf(report.state, problem)}`);
      last = now;
      const status: SourceStatus = {
        ...report,
        nextPollAtMs: nextPollInMs === undefined ? undefined : clock.now() + nextPollInMs,
        software: notes.description?.software,
        rateLimit: notes.rateLimit,
        uncommitted: { requests: notes.requests, duplicatesDropped: notes.duplicatesDropped },
        readToday: requests.day?.state(),
      };
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

/** Why a source is asked once an hour alone, without what another one's timeline is called. */
export function refusedProblem({ key, url, anonymous }: Source, { status }: UpstreamError, retryAtMs: number): Problem {
  const answer = `${url} answered ${status ?? 'nothing, for this token cannot be sent'}`;
  const todo = anonymous ? `it wants a token: set sources.${key}.token` : `set another sources.${key}.token`;
  const message = `${answer}, twice: ${todo} and start again; it is tried once an hour`;
  return { code: 'UNAUTHORIZED', message, sourceKey: key, retryAtMs };
}

/** Why a source waits although it did nothing wrong. */
export function outageProblem({ key, url }: Source, error: UpstreamError): Problem {
  const message = `${url} answers no request with this token; one at a time tries it`;
  return { code: error.code, message, sourceKey: key };
}

/** Why a source waits for the next day; undefined while it need not. */
export function dayProblem({ source, requests, clock }: SourceContext): Problem | undefined {
  const { day } = requests;
  if (day === undefined || day.left('poll') > 0) return undefined;
  const message = `sources.${source.key}.maxPostsPerDay: ${day.state().posts} posts were read today (UTC)`;
  return { code: 'RATE_LIMITED', message, sourceKey: source.key, retryAtMs: clock.now() + day.nextDayMs() };
}

function reasonOf(state: SourceStatus['state'], problem: Problem | undefined): string {
  if (problem === undefined || state === 'OK') return '';
  const { code, message, hint } = problem;
  return ` (${code}: ${message}${hint === undefined ? '' : `: ${hint}`})`;
}
