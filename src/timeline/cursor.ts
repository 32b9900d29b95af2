import { comparePositions } from '../ids/position.ts';
import { logTag, type TimelineToken, type TokenSource } from '../ids/tokens.ts';
import type { Source } from '../source.ts';
import type { LogRecord, Position } from '../stores/timeline-store.ts';

/** Where a client stands in each of its sources, by log id. */
export type Cursor = ReadonlyMap<string, TokenSource>;

/** The most sources that one token holds. @see design.md section 4, "since" */
export const MAX_TOKEN_SOURCES = 50;

/** The token's sources that are still readable; the others are dropped from the cursor. */
export function openCursor(token: TimelineToken, readable: readonly Source[]): Cursor {
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
 * without, the client only gets what comes after `head`.
 */
export function joinSource(logId: string, head: Position, history: boolean): TokenSource {
  return { tag: logTag(logId), joined: head, passed: head, history };
}

/**
 * The cursor as a token's `sources`: by tag, so that the same position is always the same string. Of more than
 * MAX_TOKEN_SOURCES the asked-for ones stay, then those of the others that were read latest.
 */
export function tokenSources(cursor: Cursor, asked: ReadonlySet<string>): readonly TokenSource[] {
  return [...cursor]
    .sort(
      ([a, x], [b, y]) =>
        Number(asked.has(b)) - Number(asked.has(a)) ||
        comparePositions(y.passed, x.passed) ||
        compareText(x.tag, y.tag),
    )
    .slice(0, MAX_TOKEN_SOURCES)
    .map(([, state]) => state)
    .sort((a, b) => compareText(a.tag, b.tag));
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
  const state = cursor.get(record.logId);
  return state !== undefined && comparePositions(record.position, state.passed) <= 0;
}

/** Orders strings as SQLite's and Redis' default comparison does for ASCII. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
