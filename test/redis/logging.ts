import assert from 'node:assert/strict';
import { comparePositions, ZERO_POSITION } from '../../src/ids/position.ts';
import type { Store } from '../../src/stores/store.ts';
import { samplePost, sampleRecord, written } from '../stores/samples.ts';
import type { Call } from './calls.ts';

const AT_ONCE = 3;
const PAGE = 100;

/** What was acknowledged of a log, and how far a reader of it has come. */
export interface LogWitness {
  readonly logId: string;
  /** The highest number of a post that a poller need not send any more. */
  sent: number;
  /** In the order in which it was told. */
  readonly acknowledged: { readonly postId: string; readonly version: number }[];
  /** How many were when a server was killed, and how many when the store was well again. */
  killedAt: number;
  wellAt: number;
  /** What the reader was given, and its cursor. */
  readonly seen: Set<string>;
  passed: string;
}

export function witnessOf(logId: string): LogWitness {
  return { logId, sent: 0, acknowledged: [], killedAt: 0, wellAt: 0, seen: new Set(), passed: ZERO_POSITION };
}

/** A poller, which others race for the same posts; after an answer that never came it asks what is known. */
export function commitPosts(store: Store, witness: LogWitness): (call: Call) => Promise<void> {
  const { logId, acknowledged } = witness;
  return async (call) => {
    const { sent } = witness;
    const ids = Array.from({ length: AT_ONCE }, (_, n) => `${sent + n + 1}`);
    const state = await call(() => store.timelines.readLog(logId));
    const known = state && (await call(() => store.timelines.known(logId, ids)));
    if (!known) return;
    const fresh = ids.filter((id) => !known.has(id));
    const append = fresh.map((id) => sampleRecord(id));
    const posts = fresh.map((id) => written(samplePost(id)));
    const commit = { logId, expectedVersion: state.version, nowMs: Date.now(), append, posts };
    const result = await call(() => store.timelines.commit(commit));
    if (!result?.committed) return;
    const { version } = result.state;
    acknowledged.push(...fresh.map((postId) => ({ postId, version })));
    witness.sent = Math.max(witness.sent, sent + AT_ONCE);
  };
}

/** A client that asks for what is new, as src/timeline/reader/read.ts does with its cursor. */
export function readPosts(store: Store, witness: LogWitness): (call: Call) => Promise<void> {
  const { logId, seen } = witness;
  return async (call) => {
    const state = await call(() => store.timelines.readLog(logId));
    if (!state) return;
    const { passed } = witness;
    const isAhead = comparePositions(passed, state.head ?? ZERO_POSITION) > 0;
    if (isAhead && !(await call(() => store.timelines.liftHead(logId, passed).then(() => true)))) return;
    const records = await call(() => store.timelines.recordsAfter({ logId, after: passed, limit: PAGE }));
    for (const { position, postId } of records ?? []) {
      assert.ok(comparePositions(position, witness.passed) > 0, `${position} came after ${witness.passed}`);
      witness.passed = position;
      seen.add(postId);
    }
  };
}

export interface Losses {
  /** Post ids that were acknowledged before the kill. */
  readonly entries: readonly string[];
  /** Post ids of entries which are there without what they show. */
  readonly bodies: readonly string[];
}

/** Checks what is left of a log, once all is well. */
export async function checkLog(store: Store, witness: LogWitness): Promise<Losses> {
  const { logId, acknowledged, seen, killedAt, wellAt } = witness;
  const records = await store.timelines.recordsAfter({ logId, limit: 1_000_000 });
  const ids = records.map(({ postId }) => postId);
  const present = new Set(ids);
  assert.equal(present.size, ids.length, `${logId} has an entry twice`);

  const read = readPosts(store, witness);
  for (let turns = 0; turns <= records.length / PAGE; turns += 1) await read((work) => work());
  const skipped = ids.filter((id) => !seen.has(id));
  assert.deepEqual(skipped, [], `a reader of ${logId} skipped entries`);

  const after = acknowledged.slice(wellAt);
  assert.ok(after.length > 0 && after.every(({ postId }) => present.has(postId)), `${logId} lost what came later`);
  const before = acknowledged.slice(0, killedAt);
  const lost = before.filter(({ postId }) => !present.has(postId));
  const kept = before.filter(({ postId }) => present.has(postId)).map(({ version }) => version);
  const isTail = lost.every(({ version }) => version > Math.max(...kept));
  assert.ok(isTail, `${logId} lost more than its newest entries`);
  const bodies = await store.posts.getPosts(ids);
  return { entries: lost.map(({ postId }) => postId), bodies: ids.filter((id) => !bodies.has(id)) };
}
