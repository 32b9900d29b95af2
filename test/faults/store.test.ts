import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { createLabClient } from '../../experiment/client.ts';
import { StoreUnavailableError } from '../../src/errors.ts';
import { createSourceStates } from '../../src/source-states.ts';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import type { Store } from '../../src/stores/store.ts';
import { createTimelineReader } from '../../src/timeline/reader/read.ts';
import { codesOf, dataOf, openEdge } from '../edge-fixture.ts';
import { createPollingHarness, type PollingHarness } from '../timeline/polling-harness.ts';
import { createVirtualClock } from '../virtual-clock.ts';

const SWEPT = { polling: { sweepIntervalMs: 300_000 } };

describe('a store', () => {
  it('whose disk is full keeps what it acknowledged, is told as FAILING, and goes on when there is room', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-full-'));
    const file = join(folder, 'log.db');
    try {
      const clock = createVirtualClock();
      await (await openSqliteStore({ file, clock })).close();
      const other = new DatabaseSync(file);
      other.exec('CREATE TABLE ballast (bytes BLOB); INSERT INTO ballast VALUES (zeroblob(4000000))');
      const pages = Number(other.prepare('PRAGMA page_count').get()?.page_count);
      const store = await openSqliteStore({ file, clock, maxPages: pages + 60 });
      const harness = await createPollingHarness({ ...SWEPT, clock, store });
      const client = createLabClient(store, clock, harness.source);
      harness.publish({ agoMs: 300_000 });
      harness.pollers.start();
      await clock.advance(1000);

      for (let n = 0; n < 20; n += 1) {
        burst(harness, 5, 'x'.repeat(3000));
        await clock.advance(60_000);
      }
      const acknowledged = (await client.read()).ids;
      assert.deepEqual(acknowledged.toSorted(), (await harness.entries()).toSorted());
      assert.ok(acknowledged.length > 1 && acknowledged.length < 101, `${acknowledged.length} of 101 fit`);
      assert.equal(await stateOf(store, harness), 'FAILING');
      assert.match(harness.lines.at(-1) ?? '', /^source town: FAILING \(STORE_UNAVAILABLE: .*full/);

      other.exec('DROP TABLE ballast');
      other.close();
      await clock.advance(600_000);
      const delivered = [...acknowledged, ...(await client.read()).ids];
      assert.deepEqual(delivered.toSorted(), [...harness.server.timeline.posts.keys()].toSorted());
      assert.equal(await stateOf(store, harness), 'OK');
      await harness.pollers.stop();
      await store.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('that is gone for a minute fails requests as such, then everything comes, once', async () => {
    const clock = createVirtualClock();
    const embedded = await openSqliteStore({ file: ':memory:', clock });
    let isGone = false;
    const store = through(embedded, async (call) => {
      if (isGone) throw new StoreUnavailableError('the store is gone');
      return call();
    });
    const harness = await createPollingHarness({ ...SWEPT, clock, store });
    const edge = await openEdge({
      sources: [harness.source],
      replace: () => ({
        store,
        clock,
        timeline: createTimelineReader({ store, refresh: async () => new Set(), clock, maxWaitMs: 0 }),
      }),
    });
    const ids: string[] = [];
    let since = '';
    const read = async () => {
      const found = dataOf(
        await edge.ask(`{ timeline(limit: 200${since}) { since entries { post { upstreamId } } } }`),
      );
      since = `, since: "${found.timeline.since}"`;
      ids.push(...found.timeline.entries.map((entry: { post: { upstreamId: string } }) => entry.post.upstreamId));
    };
    const state = async () => dataOf(await edge.ask('{ sources { state } }')).sources[0].state;
    burst(harness, 3);
    harness.pollers.start();
    await clock.advance(1000);
    await read();
    assert.equal(await state(), 'OK');

    isGone = true;
    for (let n = 0; n < 6; n += 1) {
      burst(harness, 30);
      await clock.advance(10_000);
      assert.deepEqual(codesOf(await edge.ask(`{ timeline(limit: 200${since}) { since } }`)), ['STORE_UNAVAILABLE']);
      assert.equal(await state(), 'FAILING');
    }
    isGone = false;
    await clock.advance(120_000);
    await read();
    assert.equal(await state(), 'OK');
    assert.deepEqual(ids.toSorted(), [...harness.server.timeline.posts.keys()].toSorted());
    assert.deepEqual((await harness.log()).gaps, []);
    await harness.pollers.stop();
    await edge.close();
  });

  it('that refuses any one call, or drops its answer, loses nothing and has nothing twice', {
    timeout: 120_000,
  }, async () => {
    const calls = await runWithFault(-1, 'refused');
    assert.ok(calls > 100, `${calls} calls`);
    const step = Math.max(1, Math.floor(calls / 30));
    for (let n = 0; n < calls; n += step) {
      await runWithFault(n, 'refused');
      await runWithFault(n, 'unanswered');
    }
  });
});

/** Polls, gaps, fills and rescans, with the fault in the n-th call of the store. Gives how many calls there were. */
async function runWithFault(n: number, fault: 'refused' | 'unanswered'): Promise<number> {
  const clock = createVirtualClock();
  const embedded = await openSqliteStore({ file: ':memory:', clock });
  let calls = 0;
  const store = through(embedded, async (call) => {
    const isFaulty = calls === n;
    calls += 1;
    if (!isFaulty) return call();
    if (fault === 'unanswered') await call();
    throw new StoreUnavailableError('the store is gone');
  });
  const harness = await createPollingHarness({ ...SWEPT, clock, store, maxPagesPerPoll: 2 });
  const client = createLabClient(embedded, clock, harness.source);
  burst(harness, 3);
  harness.pollers.start();
  await clock.advance(60_000);
  const late = harness.publish({ agoMs: 0, lateMs: 200_000 });
  burst(harness, 170);
  const removed = burst(harness, 1);
  await clock.advance(400_000);
  for (const id of removed) harness.server.timeline.change(id, { isDeleted: true });
  await clock.advance(1_200_000);
  const delivered = (await client.read()).ids;
  assert.ok(delivered.includes(late), `${fault} call ${n}: the late post is missing`);
  const expected = [...harness.server.timeline.posts.values()].filter(({ isDeleted }) => !isDeleted);
  assert.deepEqual(delivered.toSorted(), expected.map(({ id }) => id).toSorted(), `${fault} call ${n}`);
  const records = await harness.records();
  const kinds = records.filter(({ postId }) => postId.includes(removed[0] ?? '')).map(({ kind }) => kind);
  assert.deepEqual(kinds, ['entry', 'remove'], `${fault} call ${n}`);
  await harness.pollers.stop();
  return calls;
}

function burst(harness: PollingHarness, count: number, text = 'short'): string[] {
  return Array.from({ length: count }, (_, n) => harness.publish({ agoMs: (count - n) * 10, text }));
}

async function stateOf(store: Store, harness: PollingHarness): Promise<string | undefined> {
  const view = await createSourceStates(store.timelines, harness.clock).forRequest()(harness.source);
  return view.status?.state;
}

/** The store behind a network that `pass` stands for. */
function through(store: Store, pass: (call: () => Promise<unknown>) => Promise<unknown>): Store {
  const port = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(each, name, receiver) {
        const method: unknown = Reflect.get(each, name, receiver);
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) => pass(async () => Reflect.apply(method, each, args));
      },
    });
  return { ...store, timelines: port(store.timelines), posts: port(store.posts), leases: port(store.leases) };
}
