import assert from 'node:assert/strict';
import type { Store } from '../../src/stores/store.ts';
import { createCalls } from './calls.ts';
import { checkLog, commitPosts, type Losses, readPosts, witnessOf } from './logging.ts';
import { scrollFeeds } from './scrolling.ts';
import { until } from './until.ts';

const VIEWERS = Array.from({ length: 300 }, (_, n) => `viewer-${n}`);
const SCROLLERS = 6;
/** So many calls in a row meet every server. */
const WELL = 60;

/** So far. */
export interface Progress {
  /** Posts. */
  acknowledged(): number;
  /** Calls that failed. */
  failures(): number;
}

/**
 * Several gateways on one store: feeds of some hundred viewers are made and read, posts are committed to these logs and read,
 * while `fail` makes servers fail. Resolves when all is well again and what is there was checked; gives what each log lost, and how
 * many calls failed.
 */
export async function failUnderLoad(
  stores: readonly Store[],
  logIds: readonly string[],
  fail: (progress: Progress) => Promise<void>,
): Promise<{ losses: ReadonlyMap<string, Losses>; failures: number }> {
  const [first] = stores;
  assert.ok(first);
  const calls = createCalls();
  const logs = logIds.map(witnessOf);
  for (const [n, store] of stores.entries()) {
    for (let at = 0; at < SCROLLERS; at += 1) calls.begin(scrollFeeds(store, VIEWERS, `${n}${at}`));
    for (const log of logs) calls.begin(commitPosts(store, log));
  }
  for (const log of logs) calls.begin(readPosts(first, log));

  const failures = await calls.untilOver(async () => {
    await until('all clients are served', () => calls.areWell(WELL));
    assert.deepEqual(calls.failures(), []);
    await fail({
      acknowledged: () => logs.reduce((sum, log) => sum + log.acknowledged.length, 0),
      failures: () => calls.failures().length,
    });
    for (const log of logs) log.killedAt = log.acknowledged.length;
    calls.forget();
    await until('all clients are served again', () => calls.areWell(WELL));
    for (const log of logs) log.wellAt = log.acknowledged.length;
    const failed = calls.failures().length;
    calls.forget();
    await until('they go on', () => calls.areWell(WELL));
    return failed;
  });
  assert.equal(calls.failures().length, failures, 'calls failed after all was well');

  const losses = new Map<string, Losses>();
  for (const log of logs) losses.set(log.logId, await checkLog(first, log));
  return { losses, failures };
}
