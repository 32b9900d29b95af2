import { randomBytes } from 'node:crypto';
import type { Gap, GapFill } from '../stores/timeline-store.ts';

/** A gap that a fill works on. */
export type OpenGap = Gap & { readonly fill: GapFill };

/** The most gaps that a log tells; then the oldest final ones go. */
const MOST_GAPS = 100;

/** An id that is unique over all logs. */
export function newGapId(): string {
  return randomBytes(9).toString('base64url');
}

/** The gaps that can be filled, oldest first. */
export function openFills(gaps: readonly Gap[]): readonly OpenGap[] {
  return gaps.filter((gap): gap is OpenGap => gap.fill !== undefined && !gap.final);
}

/** True for a time inside a gap, bounds included: what is read there was never a leak. */
export function isInGap(gaps: readonly Gap[], timeMs: number): boolean {
  return gaps.some(({ fromMs, toMs }) => (fromMs ?? 0) <= timeMs && timeMs <= (toMs ?? Number.POSITIVE_INFINITY));
}

/** A partial page's gap is open for as long as no whole poll followed. */
export function isPartialGap(gap: Gap): boolean {
  return gap.reason === 'PARTIAL' && !gap.final && gap.fill === undefined;
}

/** The gap as nothing will fill it any more, told for as long as what was read beside it is kept. */
export function finalGap({ fill: _, ...gap }: Gap, nowMs: number): Gap {
  return { ...gap, final: true, finalAtMs: nowMs };
}

/** Without final gaps from before `beforeMs`, whose entries are trimmed too, and without the oldest of too many. */
export function keepGaps(gaps: readonly Gap[], beforeMs: number): readonly Gap[] {
  const told = gaps.filter((gap) => !gap.final || (gap.finalAtMs ?? gap.toMs ?? beforeMs) >= beforeMs);
  const excess = told.length - MOST_GAPS;
  if (excess <= 0) return told.length === gaps.length ? gaps : told;
  const going = new Set([...told.filter((gap) => gap.final), ...told.filter((gap) => !gap.final)].slice(0, excess));
  return told.filter((gap) => !going.has(gap));
}
