import { comparePositions, parsePosition, ZERO_POSITION } from '../../ids/position.ts';
import { logTag, type TimelineToken, type TokenSource } from '../../ids/tokens.ts';
import type { Source } from '../../source.ts';
import type { Gap, LogRecord, LogState, Position } from '../../stores/timeline-store.ts';

/** Where a client stands in each of its sources, by log id. */
export type Cursor = ReadonlyMap<string, TokenSource>;

/** The token's sources that are still readable; the others are dropped from the cursor. */
export function openCursor(token: TimelineToken, readable: Iterable<Source>): Cursor {
  const states = new Map(token.sources.map((state) => [state.tag, state]));
  const cursor = new Map<string, TokenSource>();
  for (const source of readable) {
    const state = states.get(tagOf(source));
    if (state !== undefined) cursor.set(source.logId, state);
  }
  return cursor;
}

const tags = new WeakMap<Source, string>();

/** Hashed once a source: every page looks at all of them. */
function tagOf(source: Source): string {
  const tag = tags.get(source) ?? logTag(source.logId);
  tags.set(source, tag);
  return tag;
}

/**
 * A source as it enters a cursor. With `history`, what the log holds now belongs to the first page and its `until` pages;
 * without, the client only gets what comes after the head.
 */
export function joinSource(source: Source, { head = ZERO_POSITION }: LogState, history: boolean): TokenSource {
  return { tag: tagOf(source), joined: head, passed: head, history };
}

/**
 * A source as a `since` page takes it up. Where the records after it were trimmed it joins anew at the tail, and keeps
 * what it missed: nothing that `joined` told apart is left below. That is forgotten when it was found `keepMs` ago.
 */
export function resumeSource(at: TokenSource, log: LogState, { nowMs, keepMs }: { nowMs: number; keepMs: number }) {
  const { missed, ...rest } = at;
  const tail = log.trimmedTo ?? ZERO_POSITION;
  if (comparePositions(at.passed, tail) >= 0) return missed && missed.foundAtMs + keepMs <= nowMs ? rest : at;
  const fromMs = missed ? missed.fromMs : timeOf(at.passed);
  const foundAtMs = Math.max(nowMs, parsePosition(tail).ms);
  return { ...rest, joined: tail, passed: tail, missed: { fromMs, foundAtMs } };
}

/** What a cursor missed of a source, the same gap on every page that tells it. */
export function missedGap({ tag, joined, missed }: TokenSource): Gap | undefined {
  if (missed === undefined) return undefined;
  const { fromMs, foundAtMs } = missed;
  const toMs = parsePosition(joined).ms;
  return {
    id: `trimmed-${tag}-${fromMs ?? 0}`,
    fromMs,
    toMs,
    reason: 'LOG_TRIMMED',
    final: true,
    finalAtMs: foundAtMs,
  };
}

function timeOf(position: Position): number | undefined {
  return position === ZERO_POSITION ? undefined : parsePosition(position).ms;
}

/** The cursor as a token's `sources`: by tag, so that the same position is always the same string. */
export function tokenSources(cursor: Cursor): readonly TokenSource[] {
  return [...cursor.values()].sort((a, b) => compareText(a.tag, b.tag));
}

/** Moves the record's source on to where the record lies. */
export function movePast(states: Map<string, TokenSource>, record: LogRecord): void {
  const state = states.get(record.logId);
  if (state !== undefined) states.set(record.logId, { ...state, passed: record.position });
}

/** True when the cursor's client was handed this entry, or reaches it by `until`: it lies at or before `passed`. */
export function isGiven(cursor: Cursor, record: LogRecord): boolean {
  const state = cursor.get(record.logId);
  return (
    state !== undefined &&
    isPassed(cursor, record) &&
    (state.history || comparePositions(record.position, state.joined) > 0)
  );
}

/** True when the record lies at or before where the cursor stands in its log, whether or not the client got it. */
export function isPassed(cursor: Cursor, record: LogRecord): boolean {
  return hasPassed(cursor, record.logId, record.position);
}

/** True when the cursor has passed the record that removed this entry: until then its client holds what it was given. */
export function hasFallen(cursor: Cursor, { logId, removedAt }: LogRecord): boolean {
  return removedAt !== undefined && hasPassed(cursor, logId, removedAt);
}

function hasPassed(cursor: Cursor, logId: string, position: Position): boolean {
  const state = cursor.get(logId);
  return state !== undefined && comparePositions(position, state.passed) <= 0;
}

/** Orders strings as SQLite's and Redis' default comparison does for ASCII. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
