import type { LogState } from '../../stores/timeline-store.ts';
import type { UpstreamDescription } from '../../upstreams/upstream.ts';

/** How much of `feedMs` may pass before the log notes again that all of it was read. */
const NOTED_SHARE = 1 / 8;

/** True when the upstream shows no posts as old as `timeMs` any more. */
export function isTooOld(timeMs: number, { feedMs }: UpstreamDescription, serverNowMs: number): boolean {
  return feedMs !== undefined && timeMs < serverNowMs - feedMs;
}

/**
 * Up to when all was surely read, Unix ms, a while behind; 0 where that is not known. So a quiet timeline, whose newest
 * post is older than what the upstream shows, is not taken for a cut one.
 */
export function wholeAtMs({ memory }: LogState): number {
  return Number(memory?.wholeAtMs ?? 0);
}

/** What the log is to remember after a whole poll at `atMs` (server time); undefined while it need not. */
export function noteWhole(
  state: LogState,
  { feedMs }: UpstreamDescription,
  atMs: number,
): Readonly<Record<string, string>> | undefined {
  const sinceMs = Math.abs(atMs - wholeAtMs(state));
  return feedMs === undefined || sinceMs < feedMs * NOTED_SHARE ? undefined : { wholeAtMs: String(Math.floor(atMs)) };
}
