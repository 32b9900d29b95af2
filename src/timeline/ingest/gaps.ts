import { randomBytes } from 'node:crypto';
import type { Gap, GapFill } from '../../stores/timeline-store.ts';

/** A gap that a fill works on. */
export type OpenGap = Gap & { readonly fill: GapFill };

/** The most gaps that a log tells; then two become one that tells of both. */
const MOST_GAPS = 100;

/** An id that is unique over all logs. */
export function newGapId(): string {
  return randomBytes(9).toString('base64url');
}

/** The gaps that can be filled, oldest first. */
export function openFills(gaps: readonly Gap[]): readonly OpenGap[] {
  return gaps.filter(isOpen);
}

function isOpen(gap: Gap): gap is OpenGap {
  return gap.fill !== undefined && !gap.final;
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

/** Without final gaps from before `beforeMs`, whose entries are trimmed too. Of too many, the oldest ones are told as one. */
export function keepGaps(gaps: readonly Gap[], beforeMs: number): readonly Gap[] {
  let told = gaps.filter((gap) => !gap.final || (gap.finalAtMs ?? gap.toMs ?? beforeMs) >= beforeMs);
  while (told.length > MOST_GAPS) {
    const [older, newer] = oldestTwo(told);
    if (older === undefined || newer === undefined) break;
    told = told.flatMap((gap) => (gap === older ? [] : gap === newer ? [joined(older, newer)] : [gap]));
  }
  return told;
}

/** Final ones, while there are two; else open ones beside each other. */
function oldestTwo(gaps: readonly Gap[]): readonly Gap[] {
  const final = gaps.filter((gap) => gap.final);
  if (final.length > 1) return final;
  return openFills(gaps).toSorted((a, b) => (a.fill.anchorKey < b.fill.anchorKey ? -1 : 1));
}

/** From the beginning of the one to the end of the other. A fill goes on at the newer one, down to the older one's anchor. */
function joined(older: Gap, newer: Gap): Gap {
  const fromMs =
    older.fromMs === undefined || newer.fromMs === undefined ? undefined : Math.min(older.fromMs, newer.fromMs);
  const toMs = older.toMs === undefined || newer.toMs === undefined ? undefined : Math.max(older.toMs, newer.toMs);
  const fill = isOpen(older) && isOpen(newer) ? { ...newer.fill, anchorKey: older.fill.anchorKey } : undefined;
  return { ...newer, fromMs, toMs, ...(fill && { fill }) };
}
