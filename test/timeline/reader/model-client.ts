import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { comparePositions } from '../../../src/ids/position.ts';
import { logTag, type TimelineToken } from '../../../src/ids/tokens.ts';
import type { LogRecord } from '../../../src/stores/timeline-store.ts';
import type { TimelineView } from '../../../src/timeline/reader/read.ts';
import { logIdOf } from './reader-harness.ts';

/** All records of all logs, by key, as they are now. */
export type Logs = ReadonlyMap<string, readonly LogRecord[]>;

export interface Copy extends LogRecord {
  readonly isHistory: boolean;
  /** Of a source that joined without its history. */
  readonly isLate: boolean;
}

/** By uri the copies that stand for this cursor, the first to arrive first, worked out from the kinds of the records alone. */
export function standingAt({ sources }: TimelineToken, logs: Logs): ReadonlyMap<string, readonly Copy[]> {
  const given: (Copy & { readonly tag: string; readonly isFallen: boolean })[] = [];
  for (const [key, records] of logs) {
    const at = sources.find(({ tag }) => tag === logTag(logIdOf(key)));
    if (at === undefined) continue;
    const isWithin = (position: string, bound: string) => comparePositions(position, bound) <= 0;
    for (const [index, record] of records.entries()) {
      if (record.kind !== 'entry' || !isWithin(record.position, at.passed)) continue;
      const isBefore = isWithin(record.position, at.joined);
      if (isBefore && !at.history) continue;
      const end = records.slice(index + 1).find(({ postId, kind }) => postId === record.postId && kind !== 'edit');
      const isFallen = end !== undefined && isWithin(end.position, at.passed);
      given.push({ ...record, isHistory: isBefore, isLate: !at.history, tag: at.tag, isFallen });
    }
  }
  given.sort((a, b) => {
    if (a.isHistory !== b.isHistory) return a.isHistory ? -1 : 1;
    const order = a.isHistory
      ? b.sortAtMs - a.sortAtMs || compareText(b.postId, a.postId)
      : comparePositions(a.position, b.position);
    return order || compareText(a.tag, b.tag);
  });
  const standing = new Map<string, readonly Copy[]>();
  for (const [uri, copies] of Map.groupBy(given, (copy) => copy.uri)) {
    const counting = new Set<Copy>(countingOf(copies));
    const left = copies.filter((copy) => counting.has(copy) && !copy.isFallen);
    if (left.length > 0) standing.set(uri, left);
  }
  return standing;
}

/** True for a copy from the server that its uri names. */
export function isHome({ postId, uri }: Pick<LogRecord, 'postId' | 'uri'>): boolean {
  return new URL(uri).host === postId.slice(postId.indexOf('@') + 1);
}

/**
 * The copies of a uri that count: those of its home alone, where this client was given one. Where the history
 * holds a copy, a source that joined later does not take it over.
 */
export function countingOf<T extends Copy>(copies: readonly T[]): readonly T[] {
  const homes = copies.filter(isHome);
  const isSettled = homes.some(({ isLate }) => !isLate || !copies.some(({ isHistory }) => isHistory));
  return isSettled ? homes : copies;
}

/**
 * What a client must be told, page by page, by one who remembers what it was given. The gateway knows its cursor alone: where
 * a copy that is not the first of those that stand was given, and one of them falls, that does not tell which the
 * client has. Only then it may be given one again, or left without one: such uris are in doubt.
 */
export interface ModelClient {
  /** A page without a token, or one by `until` while the client stands at `since`. */
  show(view: TimelineView, since: TimelineToken, logs: Logs): void;
  /** A whole page by `since`: checks all that it says. */
  follow(view: TimelineView, from: TimelineToken, logs: Logs): void;
  /**
   * A page by `since` that the client cut after an entry, from whose token it goes on: `screen` is what it has then, `ahead`
   * the post ids of the entries that it did not take.
   */
  cut(
    step: { from: TimelineToken; since: TimelineToken; ahead: ReadonlySet<string> },
    screen: Screen,
    logs: Logs,
  ): void;
  /** By uri the post id that is on the screen. */
  screen(): ReadonlyMap<string, string>;
  /** Uris that were ever in doubt. */
  readonly doubts: ReadonlySet<string>;
  /** Uris of which a copy stands and none is on the screen: they are in doubt, or what ends a page is still to come. */
  readonly missing: ReadonlySet<string>;
}

export type Screen = ReadonlyMap<string, readonly string[]>;

export function createModelClient(): ModelClient {
  const shown = new Map<string, string>();
  /** By uri the copy that was given last, even if it could not be shown; of the history also one that is not reached yet. */
  const held = new Map<string, Copy>();
  const doubts = new Set<string>();
  const missing = new Set<string>();

  /** What one uri's change amounts to; the copy that is given, if any. */
  function move(uri: string, was: readonly Copy[], is: readonly Copy[]): Copy | undefined {
    const stands = (copy: Copy | undefined) => copy !== undefined && is.some((other) => isSame(copy, other));
    const mine = held.get(uri);
    const [believed] = was;
    const isInOrder = mine === undefined || (believed !== undefined && isSame(mine, believed));
    if (stands(mine) && (isInOrder || stands(believed))) return undefined;
    const isKept = stands(believed);
    // Another timeline's entry of the post that is on the screen is as good.
    const same = isKept ? is.find(({ postId }) => postId === shown.get(uri)) : undefined;
    if (stands(mine) || (isKept && !same)) doubts.add(uri);
    if (isKept && !same) missing.add(uri);
    else missing.delete(uri);
    const next = same ?? (isKept ? believed : is[0]);
    if (next) held.set(uri, next);
    else held.delete(uri);
    return isKept ? undefined : next;
  }

  function checkEdited({ edited }: TimelineView, before: Standing, now: Standing) {
    for (const { id, uri = '' } of edited) {
      const [was, is] = [before.get(uri) ?? [], now.get(uri) ?? []];
      const stood = [was, is].every((copies) => copies.some(({ postId }) => postId === id));
      const isHeld = held.get(uri)?.postId === id;
      assert.ok(stood && (isHeld || was.length > 1), `${id} is not held`);
      if (was[0]?.isHistory) assert.ok(isHeld, `${id} is not the one of the history`);
    }
  }

  return {
    doubts,
    missing,
    show({ entries }, since, logs) {
      for (const [uri, [first]] of standingAt(since, logs)) if (first && !held.has(uri)) held.set(uri, first);
      for (const { record } of entries) {
        assert.equal(record.postId, held.get(record.uri)?.postId, `${record.uri} is not the one that is held`);
        assert.ok(!shown.has(record.uri), `${record.uri} twice`);
        shown.set(record.uri, record.postId);
      }
    },
    follow(view, from, logs) {
      assert.ok(view.since);
      const [before, now] = [standingAt(from, logs), standingAt(view.since, logs)];
      const expected: string[] = [];
      for (const uri of new Set([...before.keys(), ...now.keys()])) {
        const [was, is] = [before.get(uri) ?? [], now.get(uri) ?? []];
        const given = move(uri, was, is);
        const entry = given?.removedAt === undefined ? given : undefined;
        if (entry) expected.push(entry.postId);
        const ids = was.map(({ postId }) => postId).filter((id) => view.removed.includes(id));
        const staying = given ? [entry] : is;
        assert.ok(!ids.some((id) => staying.some((copy) => copy?.postId === id)), `${uri} is removed and stays`);
        if (ids.includes(shown.get(uri) ?? '')) shown.delete(uri);
        const left = shown.get(uri);
        assert.ok(left === undefined || staying.some((copy) => copy?.postId === left), `${left} stays`);
        if (entry) shown.set(uri, entry.postId);
        const { isHistory = true, removedAt } = held.get(uri) ?? {};
        if (!isHistory && removedAt === undefined && !missing.has(uri)) assert.ok(shown.has(uri), `${uri} is lost`);
      }
      assert.deepEqual(view.entries.map(({ record }) => record.postId).sort(), expected.sort());
      const known = new Set([...before.values()].flat().map(({ postId }) => postId));
      for (const id of view.removed) assert.ok(known.has(id), `${id} was not there`);
      checkEdited(view, before, now);
    },
    cut({ from, since, ahead }, screen, logs) {
      const [before, now] = [standingAt(from, logs), standingAt(since, logs)];
      for (const uri of new Set([...before.keys(), ...now.keys()])) {
        move(uri, before.get(uri) ?? [], now.get(uri) ?? []);
      }
      shown.clear();
      for (const [uri, ids] of screen) {
        const mine = held.get(uri);
        // One that was removed and is back further on, which the page told as its entry alone, is on the screen all the while.
        const isBack = mine === undefined && ids.length === 1 && ahead.has(ids[0] ?? '');
        assert.ok(
          isBack || isDeepStrictEqual(ids, [mine?.postId]),
          `${uri} is shown as ${ids} instead of ${mine?.postId}`,
        );
        shown.set(uri, ids[0] ?? '');
        missing.delete(uri);
      }
      for (const [uri, { isHistory }] of held) if (!isHistory && !shown.has(uri)) missing.add(uri);
    },
    screen: () => shown,
  };
}

type Standing = ReadonlyMap<string, readonly Copy[]>;

function isSame(a: LogRecord, b: LogRecord): boolean {
  return a.logId === b.logId && a.position === b.position;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
