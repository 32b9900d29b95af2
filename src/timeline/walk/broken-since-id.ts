import type { IdScheme } from '../../ids/id-scheme.ts';
import type { LogState } from '../../stores/timeline-store.ts';
import type { SourceContext } from './source-context.ts';

/** So long a server is believed to answer since_id wrongly; then it is tried again. */
const BROKEN_MS = 86_400_000;

/** True for a server that answers since_id with nothing for ever, as GoToSocial does for an id of another scheme. */
export function isSinceIdBroken(
  { clock, notes }: Pick<SourceContext, 'clock' | 'notes'>,
  { memory }: Pick<LogState, 'memory'>,
): boolean {
  const brokenAtMs = notes.brokenAtMs ?? Number(memory?.brokenAtMs ?? Number.NaN);
  return Math.abs(clock.now() - brokenAtMs) < BROKEN_MS;
}

/** True when a page that was asked for without since_id holds what the replies above it should have held, or ids of another scheme. */
export function hides(ids: readonly string[], shown: ReadonlySet<string>, sinceId: string, scheme: IdScheme): boolean {
  const isAbove = (id: string) => !scheme.includes(id) || scheme.orderKey(id) > scheme.orderKey(sinceId);
  return ids.some((id) => !shown.has(id) && isAbove(id));
}
