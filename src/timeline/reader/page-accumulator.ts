import type { Homes } from '../../home-copy.ts';
import type { TokenSource } from '../../ids/tokens.ts';
import type { Post, PostId } from '../../post.ts';
import type { LogRecord } from '../../stores/timeline-store.ts';
import { type Cursor, movePast } from './cursor.ts';
import { type Duplicates, isSame } from './duplicates.ts';
import { type Outcome, outcomeOf } from './held-copy.ts';

/** What a `since` page amounts to while it passes records, one outcome a uri. */
export interface PageAccumulator {
  /** Takes in the duplicates of the records that are passed next. */
  learn(duplicates: Duplicates): void;
  /** Passes records, in order, until it is full; returns how many it passed. */
  pass(records: readonly LogRecord[]): number;
  /** True once what it says counts `limit`, or its posts `maxBytes`. Both may fall, as a removal undoes an entry. */
  isFull(): boolean;
  /** In the order of the last word on each. */
  outcomes(): readonly PageOutcome[];
  /** All records passed, in order. */
  passed(): readonly LogRecord[];
  post(id: PostId): Post | undefined;
}

export interface PageOutcome extends Outcome {
  /** The index in `passed` of the record that made it; of an entry, the one with which it began to be held. */
  readonly at: number;
}

/** An accumulator for a page that starts at `before`. */
export function createPageAccumulator(page: {
  before: Cursor;
  homes: Homes;
  limit: number;
  maxBytes: number;
}): PageAccumulator {
  const { before, homes, limit, maxBytes } = page;
  const now = new Map<string, TokenSource>(before);
  const copies = new Map<string, readonly LogRecord[]>();
  const posts = new Map<PostId, Post>();
  const sizes = new Map<PostId, number>();
  const edits = new Set<PostId>();
  const outcomes = new Map<string, PageOutcome>();
  const passed: LogRecord[] = [];
  let count = 0;
  let bytes = 0;

  function passOne(record: LogRecord) {
    const { uri } = record;
    movePast(now, record);
    if (record.kind === 'edit') edits.add(record.postId);
    const outcome = outcomeOf({ copies: copies.get(uri) ?? [], posts, before, now, edits, homes });
    const last = outcomes.get(uri);
    count += countOf(outcome) - countOf(last);
    bytes += bytesOf(outcome) - bytesOf(last);
    outcomes.delete(uri);
    const isLastEntry = outcome?.entry && last?.entry && isSame(outcome.entry, last.entry);
    if (outcome) outcomes.set(uri, { ...outcome, at: isLastEntry ? last.at : passed.length });
    passed.push(record);
  }

  function bytesOf(outcome: Outcome | undefined): number {
    const shown = outcome ? [outcome.entry?.postId ?? '', ...outcome.edited] : [];
    return shown.reduce((sum, id) => sum + (sizes.get(id) ?? 0), 0);
  }

  const isFull = () => count >= limit || bytes >= maxBytes;

  return {
    learn(found) {
      for (const [uri, records] of found.byUri) copies.set(uri, records);
      for (const [id, post] of found.posts) posts.set(id, post);
      // The size that was counted stays: a later look may find another form.
      for (const [id, size] of found.sizes) if (!sizes.has(id)) sizes.set(id, size);
    },
    pass(records) {
      const start = passed.length;
      for (const record of records) {
        if (isFull()) break;
        passOne(record);
      }
      return passed.length - start;
    },
    isFull,
    outcomes: () => [...outcomes.values()],
    passed: () => passed,
    post: (id) => posts.get(id),
  };
}

/** How much of a page's limit: an entry, edits of several copies, or removals alone. */
function countOf(outcome: Outcome | undefined): number {
  return outcome ? Math.max(1, outcome.edited.length) : 0;
}
