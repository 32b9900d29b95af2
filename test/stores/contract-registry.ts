import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Store } from '../../src/stores/store.ts';
import type { Use } from './contract.ts';
import { appendTo, commitTo, HOUR, NOW, orderKey, postIdsOf, samplePost, sampleRecord, written } from './samples.ts';

const MANY = Array.from({ length: 600 }, (_, n) => `${n + 1}`);

/** Which logs there are, and the end of one. */
export function describeRegistry(use: Use): void {
  describe('listLogs', () => {
    it('tells the logs that were named and when they were last, and those that hold anything', async (t) => {
      const store = await use(t);
      const { timelines } = store;
      assert.deepEqual(await timelines.listLogs(), []);
      await timelines.nameLogs(['town', 'a:{b}/ü', 'village'], NOW);
      await timelines.nameLogs(['village', 'late'], NOW + HOUR);
      await appendTo(store, 'town', ['1']);
      await appendTo(store, 'unnamed', ['1']);
      await timelines.liftHead('lifted', `${NOW}-0`);
      await timelines.writeStatus('failing', { state: 'FAILING', overlapMs: 0, problems: [] });
      assert.deepEqual(await listed(store), {
        town: NOW,
        'a:{b}/ü': NOW,
        village: NOW + HOUR,
        late: NOW + HOUR,
        unnamed: undefined,
        lifted: undefined,
        failing: undefined,
      });
      await timelines.nameLogs(['village', 'unnamed'], NOW - HOUR);
      const again = await listed(store);
      assert.deepEqual([again.village, again.unnamed], [NOW - HOUR, NOW - HOUR], 'when a clock was set back');
    });

    it('does not list what was only read, nor a commit that was lost', async (t) => {
      const store = await use(t);
      await store.timelines.readLog('town');
      const stale = { logId: 'city', expectedVersion: 7, nowMs: NOW, append: [], posts: [] };
      await store.timelines.commit(stale);
      await store.timelines.nameLogs([], NOW);
      assert.deepEqual(await listed(store), {});
    });

    it('takes any number of names, which change nothing in the logs', async (t) => {
      const store = await use(t);
      const state = await appendTo(store, '77', ['1']);
      await store.timelines.nameLogs(
        Array.from({ length: 5_000 }, (_, n) => `${n}`),
        NOW,
      );
      assert.equal((await store.timelines.listLogs()).length, 5_000);
      assert.deepEqual(await store.timelines.readLog('77'), state);
      assert.equal((await store.timelines.readLog('78')).version, 0);
    });
  });

  describe('dropLog', () => {
    it('leaves nothing of a log but its positions, and a version that nobody read before', async (t) => {
      const store = await use(t);
      const { timelines } = store;
      await useAll(store, 'town');
      const before = await timelines.readLog('town');
      assert.equal(await timelines.dropLog('town'), true);
      const { version, ...left } = await timelines.readLog('town');
      assert.ok(version > before.version);
      const counts = { posts: 0, requests: 0, duplicatesDropped: 0, leaksPrevented: 0, backfilled: 0, gaps: 0 };
      assert.deepEqual(left, { head: before.head, trimmedTo: `${NOW}-603`, gaps: [], counts });
      assert.deepEqual(await timelines.recordsAfter({ logId: 'town', limit: 999 }), []);
      assert.deepEqual(await timelines.entriesBefore({ logId: 'town', upTo: `${NOW + HOUR}-0`, limit: 999 }), []);
      const uris = MANY.map((id) => `uri:${id}`);
      assert.deepEqual(await timelines.entriesByUri('town', uris), []);
      assert.equal((await timelines.known('town', MANY)).size, 0);
      assert.deepEqual(await timelines.knownBetween({ logId: 'town', limit: 999 }), []);
      assert.equal(await timelines.readStatus('town'), undefined);
      assert.equal(await timelines.readRepair('town'), undefined);
      assert.deepEqual(await listed(store), {});
    });

    it('says whether there was such a log', async (t) => {
      const store = await use(t);
      const { timelines } = store;
      assert.equal(await timelines.dropLog('none'), false);
      assert.equal((await timelines.readLog('none')).version, 0);
      await timelines.nameLogs(['named'], NOW);
      await timelines.writeStatus('failing', { state: 'FAILING', overlapMs: 0, problems: [] });
      await appendTo(store, 'town', ['1']);
      for (const logId of ['named', 'failing', 'town']) {
        assert.deepEqual([await timelines.dropLog(logId), await timelines.dropLog(logId)], [true, false], logId);
      }
      assert.equal(await timelines.readStatus('failing'), undefined);
    });

    it('takes along at once the bodies that no other log shows, nested ones too', async (t) => {
      const store = await use(t);
      const outer = samplePost('1', { quoted: samplePost('inner') });
      const boost = samplePost('2', { repostOf: samplePost('shared') });
      await appendTo(store, 'town', ['1', '2', '3'], { posts: [outer, boost, samplePost('3')].map((p) => written(p)) });
      await appendTo(store, 'city', ['3', '4'], {
        posts: [written(samplePost('3')), written(samplePost('4', { quoted: samplePost('shared') }))],
      });
      await store.timelines.dropLog('town');
      const found = await store.posts.getPosts(['1', 'inner', '2', 'shared', '3', '4']);
      assert.deepEqual(
        [...found].map(([id, { shownBy }]) => [id, shownBy]),
        [
          ['shared', ['city']],
          ['3', ['city']],
          ['4', ['city']],
        ],
      );
    });

    it('takes along a body that was read once more after its record had gone', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['1']);
      await store.timelines.trim({ logId: 'town', beforeMs: NOW + 9, keepEntries: 9, keepKnown: 9 });
      await commitTo(store, 'town', { posts: [written(samplePost('1'), NOW + 1)], nowMs: NOW + HOUR });
      await store.timelines.dropLog('town');
      assert.equal((await store.posts.getPosts(['1'])).size, 0);
    });

    it('leaves other logs alone, be their names alike', async (t) => {
      const store = await use(t);
      const others = ['town:', 'tow', 'town2', '{town}', 'Town'];
      await appendTo(store, 'town', ['1']);
      const states = await Promise.all(others.map((logId) => appendTo(store, logId, ['1'])));
      await store.timelines.dropLog('town');
      assert.deepEqual(await Promise.all(others.map((logId) => store.timelines.readLog(logId))), states);
      assert.deepEqual((await store.posts.getPosts(['1'])).get('1')?.shownBy, others.toSorted());
    });

    it('gives no position twice where the log is committed to again, be the clock behind', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['1', '2']);
      await store.timelines.liftHead('town', `${NOW}-7`);
      await store.timelines.dropLog('town');
      const state = await appendTo(store, 'town', ['1'], { nowMs: NOW - HOUR });
      assert.deepEqual([state.head, state.trimmedTo], [`${NOW}-8`, `${NOW}-1`]);
      const after = store.timelines.recordsAfter({ logId: 'town', after: `${NOW}-7`, limit: 9 });
      assert.deepEqual(await postIdsOf(after), ['1']);
      assert.deepEqual((await store.posts.getPosts(['1'])).get('1')?.shownBy, ['town']);
      assert.deepEqual(await listed(store), { town: undefined });
      assert.equal(await store.timelines.dropLog('town'), true);
      assert.deepEqual(await store.timelines.recordsAfter({ logId: 'town', limit: 9 }), []);
    });

    it('makes a commit fail that looked before', async (t) => {
      const store = await use(t);
      const { version } = await appendTo(store, 'town', ['1']);
      await store.timelines.dropLog('town');
      const empty = await commitTo(store, 'empty');
      await store.timelines.dropLog('empty');
      for (const [logId, expectedVersion] of [
        ['town', 0],
        ['town', version],
        ['empty', empty.version],
      ] as const) {
        const stale = { logId, expectedVersion, nowMs: NOW, append: [sampleRecord('2')], posts: [] };
        assert.deepEqual(await store.timelines.commit(stale), { committed: false }, logId);
      }
      assert.deepEqual(await listed(store), {});
    });

    it('leaves a log whole that is committed to meanwhile', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', MANY);
      const dropping = store.timelines.dropLog('town');
      const others = Array.from({ length: 30 }, (_, n) => `${n + 1001}`);
      for (const id of others) {
        await nextTurn();
        const { version } = await store.timelines.readLog('town');
        const append = [sampleRecord(id)];
        const posts = [written(samplePost(id))];
        await store.timelines.commit({ logId: 'town', expectedVersion: version, nowMs: NOW, append, posts });
      }
      await dropping;
      await appendTo(store, 'town', ['9000']);
      const shown = await postIdsOf(store.timelines.recordsAfter({ logId: 'town', limit: 999 }));
      assert.deepEqual((await store.timelines.known('town', [...shown, ...MANY])).size, shown.length);
      const bodies = await store.posts.getPosts([...MANY, ...others, '9000']);
      assert.deepEqual(new Set(bodies.keys()), new Set(shown));
      assert.deepEqual(Object.keys(await listed(store)), ['town']);
    });
  });
}

/** Uses every part of a log of many entries. */
async function useAll(store: Store, logId: string): Promise<void> {
  await store.timelines.nameLogs([logId], NOW);
  await appendTo(store, logId, MANY);
  await commitTo(store, logId, {
    append: [
      sampleRecord('1', { kind: 'edit' }),
      sampleRecord('2', { kind: 'remove' }),
      sampleRecord('3', { kind: 'remove' }),
      sampleRecord('2'),
    ],
    watermark: { upstreamId: 'up:600', orderKey: orderKey(600) },
    floorKey: orderKey(0),
    gaps: [{ id: 'g', reason: 'PAGE_CAP', final: true, finalAtMs: NOW }],
    counts: { posts: 600, requests: 3 },
    lateness: { counts: [1], samples: 1, maxMs: 1, fadedAtMs: NOW },
    memory: { walk: 'x' },
    repair: { rescannedMs: [NOW], candidates: [] },
  });
  await store.timelines.liftHead(logId, `${NOW + 1}-5`);
  await store.timelines.writeStatus(logId, { state: 'OK', overlapMs: 0, problems: [] });
}

async function listed(store: Store): Promise<Record<string, number | undefined>> {
  return Object.fromEntries((await store.timelines.listLogs()).map(({ logId, namedAtMs }) => [logId, namedAtMs]));
}
