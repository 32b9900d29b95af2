import type { IdScheme } from '../ids/id-scheme.ts';
import type { LogState } from '../stores/timeline-store.ts';
import type { UpstreamPage } from '../upstreams/upstream.ts';
import type { Reading } from './reading.ts';

/** So long a server is believed to answer since_id wrongly; then it is tried again. */
const BROKEN_MS = 86_400_000;

/** True for a server that answers since_id with nothing for ever, as GoToSocial does for an id of another scheme. */
export function isSinceIdBroken({ clock, notes }: Reading, { memory }: LogState): boolean {
  const brokenAtMs = notes.brokenAtMs ?? Number(memory?.brokenAtMs ?? Number.NaN);
  return Math.abs(clock.now() - brokenAtMs) < BROKEN_MS;
}

/** What the log is to remember over restarts; undefined where it does already. */
export function brokenSinceId({ notes }: Reading, { memory }: LogState): Readonly<Record<string, string>> | undefined {
  const told = notes.brokenAtMs === undefined ? undefined : String(notes.brokenAtMs);
  return told === undefined || told === memory?.brokenAtMs ? undefined : { brokenAtMs: told };
}

/**
 * True when an empty reply is an odd one: since_id lies below what is known. All of that may have been deleted, so it is
 * looked into once.
 */
export function isDoubtful({ notes }: Reading, { counts }: LogState, sinceId: string | undefined): boolean {
  return sinceId !== undefined && counts.posts > 0 && notes.doubtedSinceId !== sinceId;
}

/** True when the newest page, asked for without since_id, holds what the reply above `sinceId` should have held, or ids of another scheme. */
export function hides(whole: UpstreamPage, sinceId: string | undefined, scheme: IdScheme): boolean {
  if (sinceId === undefined) return false;
  if (scheme.name === 'opaque') return whole.ids.indexOf(sinceId) > 0;
  return whole.ids.some((id) => !scheme.includes(id) || scheme.orderKey(id) > scheme.orderKey(sinceId));
}
