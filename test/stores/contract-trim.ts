import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Store } from '../../src/stores/store.ts';
import type { Use } from './contract.ts';
import { appendTo, commitTo, NOW, orderKey, postIdsOf, samplePost, sampleRecord, written } from './samples.ts';

const EVERYTHING = { beforeMs: 0, keepEntries: 1_000, keepKnown: 1_000 };
/** Some less than a big post takes: two of them take less than three times as much. */
const BIG = 9_000;

function bigPost(id: string) {
  return samplePost(id, { text: 'ü'.repeat(BIG / 2) });
}

async function appendBig(store: Store, ids: readonly string[]) {
  return appendTo(store, 'town', ids, { posts: ids.map((id) => written(bigPost(id))) });
}

/** How a log stays bounded. */
export function describeTrim(use: Use): void {
  describe('trim', () => {
    it('drops records that arrived before the time, and tells the last of them', async (t) => {
      const store = await use(t);
      const state = await appendTo(store, 'town', ['1', '2', '3', '4']);
      await store.timelines.trim({ ...EVERYTHING, logId: 'town', beforeMs: NOW + 3 });
      assert.deepEqual(await postIdsOf(store.timelines.recordsAfter({ logId: 'town', limit: 9 })), ['3', '4']);
      assert.deepEqual(await store.timelines.readLog('town'), { ...state, trimmedTo: `${NOW}-1` });
      assert.equal((await store.timelines.known('town', ['1', '2'])).size, 2);
    });

    it('keeps no more than the newest entries, with what came after them', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['1', '2']);
      await commitTo(store, 'town', { append: [sampleRecord('1', { kind: 'edit' }), sampleRecord('3')] });
      await commitTo(store, 'town', { append: [sampleRecord('2', { kind: 'edit' })] });
      await store.timelines.trim({ ...EVERYTHING, logId: 'town', keepEntries: 2 });
      const records = await store.timelines.recordsAfter({ logId: 'town', limit: 9 });
      assert.deepEqual(
        records.map(({ kind, postId }) => [kind, postId]),
        [
          ['entry', '2'],
          ['edit', '1'],
          ['entry', '3'],
          ['edit', '2'],
        ],
      );
      await store.timelines.trim({ ...EVERYTHING, logId: 'town', keepEntries: 1 });
      assert.equal((await store.timelines.readLog('town')).trimmedTo, `${NOW}-2`);
    });

    it('drops edits alone, whose entry went before', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['1']);
      await commitTo(store, 'town', { append: [sampleRecord('1', { kind: 'edit', arrivedAtMs: NOW + 5 })] });
      for (const beforeMs of [NOW + 5, NOW + 6]) {
        await store.timelines.trim({ ...EVERYTHING, logId: 'town', beforeMs });
      }
      assert.deepEqual(await store.timelines.recordsAfter({ logId: 'town', limit: 9 }), []);
    });

    it('changes nothing when nothing is old, nor on a log that was never committed', async (t) => {
      const store = await use(t);
      const state = await appendTo(store, 'town', ['1', '2']);
      await store.timelines.trim({ ...EVERYTHING, logId: 'town' });
      assert.deepEqual(await store.timelines.readLog('town'), state);
      await store.timelines.trim({ ...EVERYTHING, logId: 'none' });
      assert.equal((await store.timelines.readLog('none')).version, 0);
    });

    it('may empty a log, whose positions go on from its head', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['1', '2']);
      await store.timelines.trim({ ...EVERYTHING, logId: 'town', keepEntries: 0 });
      assert.deepEqual(await store.timelines.recordsAfter({ logId: 'town', limit: 9 }), []);
      assert.equal((await store.timelines.readLog('town')).trimmedTo, `${NOW}-1`);
      assert.equal((await appendTo(store, 'town', ['3'], { nowMs: NOW - 9 })).head, `${NOW}-2`);
    });

    it('lets the lowest leave the known-index and raises the floor to the highest of them', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['30', '10', '20', '40']);
      await store.timelines.trim({ ...EVERYTHING, logId: 'town', keepKnown: 2 });
      const known = await store.timelines.known('town', ['10', '20', '30', '40']);
      assert.deepEqual([...known.keys()], ['30', '40']);
      assert.equal((await store.timelines.readLog('town')).floorKey, orderKey(20));
      const records = store.timelines.recordsAfter({ logId: 'town', limit: 9 });
      assert.deepEqual(await postIdsOf(records), ['30', '10', '20', '40']);
    });

    it('never lowers the floor when it shortens the known-index', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['10', '20'], { floorKey: orderKey(15) });
      await store.timelines.trim({ ...EVERYTHING, logId: 'town', keepKnown: 1 });
      assert.equal((await store.timelines.readLog('town')).floorKey, orderKey(15));
    });

    it('makes a commit fail that looked before entries left the known-index', async (t) => {
      const store = await use(t);
      const { version } = await appendTo(store, 'town', ['10', '20']);
      await store.timelines.trim({ ...EVERYTHING, logId: 'town', keepKnown: 1 });
      const stale = { logId: 'town', expectedVersion: version, nowMs: NOW, append: [sampleRecord('10')], posts: [] };
      assert.deepEqual(await store.timelines.commit(stale), { committed: false });
    });

    it('shows a post once that comes again after it left the known-index', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['10', '20']);
      await store.timelines.trim({ ...EVERYTHING, logId: 'town', keepKnown: 1 });
      await commitTo(store, 'town', { append: [sampleRecord('10', { orderKey: orderKey(50) })] });
      const entries = store.timelines.entriesBefore({ logId: 'town', upTo: `${NOW}-9`, limit: 9 });
      assert.deepEqual(await postIdsOf(entries), ['20', '10']);
    });

    it('keeps no more bytes of bodies than it may, oldest first, and tells the last that went', async (t) => {
      const store = await use(t);
      await appendBig(store, ['1', '2', '3', '4']);
      await store.timelines.trim({ ...EVERYTHING, logId: 'town', keepBytes: 3 * BIG });
      assert.deepEqual(await postIdsOf(store.timelines.recordsAfter({ logId: 'town', limit: 9 })), ['3', '4']);
      assert.equal((await store.timelines.readLog('town')).trimmedTo, `${NOW}-1`);
      await store.timelines.trim({ ...EVERYTHING, logId: 'town', keepBytes: 3 * BIG });
      assert.deepEqual(await postIdsOf(store.timelines.recordsAfter({ logId: 'town', limit: 9 })), ['3', '4']);
    });

    it('counts the bytes of what is inside, and of a body that grew without an edit', async (t) => {
      const store = await use(t);
      const boost = samplePost('2', { repostOf: bigPost('inner') });
      await appendTo(store, 'town', ['1', '2', '3'], { posts: [written(samplePost('1')), written(boost)] });
      await store.timelines.trim({ ...EVERYTHING, logId: 'town', keepBytes: 2 * BIG });
      assert.equal((await store.timelines.readLog('town')).trimmedTo, undefined);
      await commitTo(store, 'town', { posts: [written(bigPost('1'), NOW + 1), written(boost, NOW + 1)] });
      await store.timelines.trim({ ...EVERYTHING, logId: 'town', keepBytes: 2 * BIG });
      assert.deepEqual(await postIdsOf(store.timelines.recordsAfter({ logId: 'town', limit: 9 })), ['2', '3']);
    });

    it('goes on to the edit of what it drops, whose body stays until then', async (t) => {
      const store = await use(t);
      await appendBig(store, ['1', '2']);
      await commitTo(store, 'town', {
        append: [sampleRecord('1', { kind: 'edit' }), sampleRecord('3')],
        posts: [written(bigPost('1'), NOW + 1), written(bigPost('3'))],
      });
      await store.timelines.trim({ ...EVERYTHING, logId: 'town', keepBytes: 2 * BIG });
      assert.deepEqual(await postIdsOf(store.timelines.recordsAfter({ logId: 'town', limit: 9 })), ['3']);
    });

    it('drops bodies first that no record names any more, and counts a removed one no longer', async (t) => {
      const store = await use(t);
      await appendBig(store, ['1', '2', '3']);
      await store.timelines.trim({ ...EVERYTHING, logId: 'town', keepEntries: 2 });
      await commitTo(store, 'town', { posts: [written(bigPost('1'), NOW + 1)] });
      await store.timelines.trim({ ...EVERYTHING, logId: 'town', keepBytes: 3 * BIG });
      assert.deepEqual(await postIdsOf(store.timelines.recordsAfter({ logId: 'town', limit: 9 })), ['2', '3']);
      assert.deepEqual((await store.posts.getPosts(['1'])).get('1')?.shownBy ?? [], []);
      await commitTo(store, 'town', { append: [sampleRecord('2', { kind: 'remove' }), sampleRecord('4')] });
      await commitTo(store, 'town', { posts: [written(bigPost('4'))] });
      await store.timelines.trim({ ...EVERYTHING, logId: 'town', keepBytes: 3 * BIG });
      assert.deepEqual((await store.posts.getPosts(['3', '4'])).size, 2);
    });

    it('counts alike however many steps a trim takes', async (t) => {
      const store = await use(t);
      const ids = Array.from({ length: 600 }, (_, n) => `${n + 1}`);
      await appendTo(store, 'town', ids);
      await store.timelines.trim({ ...EVERYTHING, logId: 'town', keepBytes: 1 });
      assert.deepEqual(await postIdsOf(store.timelines.recordsAfter({ logId: 'town', limit: 9 })), []);
      await appendBig(store, ['700', '701']);
      await store.timelines.trim({ ...EVERYTHING, logId: 'town', keepBytes: 3 * BIG });
      assert.deepEqual(await postIdsOf(store.timelines.recordsAfter({ logId: 'town', limit: 9 })), ['700', '701']);
    });

    it('leaves other logs alone', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['1']);
      const other = await appendTo(store, 'other', ['1']);
      await store.timelines.trim({ logId: 'town', beforeMs: NOW * 2, keepEntries: 0, keepKnown: 0 });
      assert.deepEqual(await store.timelines.readLog('other'), other);
      assert.deepEqual(await postIdsOf(store.timelines.recordsAfter({ logId: 'other', limit: 9 })), ['1']);
    });
  });
}
