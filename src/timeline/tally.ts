import type { Homes } from '../home-copy.ts';
import type { TokenSource } from '../ids/tokens.ts';
import type { Post, PostId } from '../post.ts';
import type { LogRecord } from '../stores/timeline-store.ts';
import type { Copies } from './copies.ts';
import { type Cursor, movePast } from './cursor.ts';
import { type Outcome, outcomeOf } from './repeats.ts';

/** What a `since` page amounts to while it passes records, one outcome a uri. */
export interface Tally {
  /** Takes in the copies of the records that are passed next. */
  learn(copies: Copies): void;
  /** Passes records, in order, until it is full; gives how many it passed. */
  pass(records: readonly LogRecord[]): number;
  /** True once `limit` uris have an outcome, or their posts `maxBytes`. Both may fall, as a removal undoes an entry. */
  isFull(): boolean;
  /** In the order of the last word on each. */
  outcomes(): readonly Outcome[];
  outcome(uri: string): Outcome | undefined;
  /** All records passed, in order. */
  passed(): readonly LogRecord[];
  post(id: PostId): Post | undefined;
}

/** A tally for a page that starts at `before`. */
export function createTally(page: { before: Cursor; homes: Homes; limit: number; maxBytes: number }): Tally {
  const { before, homes, limit, maxBytes } = page;
  const now = new Map<string, TokenSource>(before);
  const copies = new Map<string, readonly LogRecord[]>();
  const posts = new Map<PostId, Post>();
  const touched = new Map<string, { edits: Set<PostId>; removals: Map<string, LogRecord> }>();
  const outcomes = new Map<string, Outcome>();
  const sizes = new Map<PostId, number>();
  let bytes = 0;
  const passed: LogRecord[] = [];

  function passOne(record: LogRecord) {
    passed.push(record);
    movePast(now, record);
    const { uri } = record;
    const change = touched.get(uri) ?? { edits: new Set<PostId>(), removals: new Map<string, LogRecord>() };
    if (record.kind === 'edit') change.edits.add(record.postId);
    if (record.kind === 'remove') change.removals.set(record.logId, record);
    touched.set(uri, change);
    const outcome = outcomeOf({ copies: copies.get(uri) ?? [], posts, before, now, homes, ...change });
    bytes += bytesOf(outcome) - bytesOf(outcomes.get(uri));
    outcomes.delete(uri);
    if (outcome !== undefined) outcomes.set(uri, outcome);
  }

  function bytesOf(outcome: Outcome | undefined): number {
    return sizes.get(outcome?.entry?.postId ?? outcome?.edited ?? '') ?? 0;
  }

  const isFull = () => outcomes.size >= limit || bytes >= maxBytes;

  return {
    learn(found) {
      for (const [uri, records] of found.byUri) copies.set(uri, records);
      for (const [id, post] of found.posts) posts.set(id, post);
      // The size that was counted stays: a later look may find another form.
      for (const [id, size] of found.sizes) if (!sizes.has(id)) sizes.set(id, size);
    },
    pass(records) {
      let count = 0;
      for (const record of records) {
        if (isFull()) break;
        passOne(record);
        count += 1;
      }
      return count;
    },
    isFull,
    outcomes: () => [...outcomes.values()],
    outcome: (uri) => outcomes.get(uri),
    passed: () => passed,
    post: (id) => posts.get(id),
  };
}
