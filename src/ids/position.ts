import type { Position } from '../stores/timeline-store.ts';

/** Before every record of a log. */
export const ZERO_POSITION: Position = '0-0';

const FORM = /^(0|[1-9][0-9]{0,15})-(0|[1-9][0-9]{0,15})$/;

/** `<ms>-<n>`, such as `1792000000000-3`. Both are whole numbers from 0 to 2^53 - 1, else RangeError. */
export function formatPosition(ms: number, n: number): Position {
  if (!isCount(ms) || !isCount(n))
    throw new RangeError(`a position must be two whole numbers from 0, got ${ms} and ${n}`);
  return `${ms}-${n}`;
}

/** The parts of a position. @throws RangeError when it is none. */
export function parsePosition(position: Position): { ms: number; n: number } {
  const parts = split(position);
  if (parts === undefined) throw new RangeError('a position must be <ms>-<n>');
  return parts;
}

/** Negative when `a` lies before `b`, 0 when they are the same. @throws RangeError when one is no position. */
export function comparePositions(a: Position, b: Position): number {
  const left = parsePosition(a);
  const right = parsePosition(b);
  return left.ms - right.ms || left.n - right.n;
}

/** True for exactly what `formatPosition` gives. */
export function isPosition(text: string): boolean {
  return split(text) !== undefined;
}

function split(text: string): { ms: number; n: number } | undefined {
  const match = FORM.exec(text);
  if (match === null) return undefined;
  const ms = Number(match[1]);
  const n = Number(match[2]);
  return isCount(ms) && isCount(n) ? { ms, n } : undefined;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
