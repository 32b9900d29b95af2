import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Use } from './contract.ts';
import { appendTo, commitTo, NOW, orderKey, postIdsOf, sampleRecord } from './samples.ts';

/** The one order of a log, and what edits and removals do in it. */
export function describePositions(use: Use): void {
  describe('positions', () => {
    it('grow by n inside one millisecond, over commits', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['1', '2']);
      await appendTo(store, 'town', ['3']);
      const state = await appendTo(store, 'town', ['4'], { nowMs: NOW + 1 });
      const records = await store.timelines.recordsAfter({ logId: 'town', limit: 9 });
      const positions = records.map((record) => record.position);
      assert.deepEqual(positions, [`${NOW}-0`, `${NOW}-1`, `${NOW}-2`, `${NOW + 1}-0`]);
      assert.equal(state.head, `${NOW + 1}-0`);
    });

    it('go on from the head when the clock steps back', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['1'], { nowMs: NOW });
      assert.equal((await appendTo(store, 'town', ['2'], { nowMs: NOW - 5000 })).head, `${NOW}-1`);
      assert.equal((await appendTo(store, 'town', ['3'], { nowMs: NOW - 1 })).head, `${NOW}-2`);
    });

    it('sort n as a number', async (t) => {
      const store = await use(t);
      const ids = Array.from({ length: 12 }, (_, index) => `${index + 1}`);
      await appendTo(store, 'town', ids);
      assert.deepEqual(await postIdsOf(store.timelines.recordsAfter({ logId: 'town', limit: 99 })), ids);
      const after = store.timelines.recordsAfter({ logId: 'town', after: `${NOW}-9`, limit: 99 });
      assert.deepEqual(await postIdsOf(after), ['11', '12']);
    });

    it('lie after a head that was lifted, on a log that was never committed too', async (t) => {
      const store = await use(t);
      await store.timelines.liftHead('town', `${NOW + 50}-7`);
      assert.equal((await store.timelines.readLog('town')).head, `${NOW + 50}-7`);
      assert.equal((await store.timelines.readLog('town')).version, 0);
      assert.equal((await appendTo(store, 'town', ['1'])).head, `${NOW + 50}-8`);
    });

    it('are never lowered by a lift, which does not change the version', async (t) => {
      const store = await use(t);
      const state = await appendTo(store, 'town', ['1', '2', '3']);
      for (const position of ['0-0', `${NOW - 1}-99`, `${NOW}-1`, `${NOW}-2`]) {
        await store.timelines.liftHead('town', position);
      }
      assert.deepEqual(await store.timelines.readLog('town'), state);
      await store.timelines.liftHead('town', `${NOW}-10`);
      assert.deepEqual(await store.timelines.readLog('town'), { ...state, head: `${NOW}-10` });
    });

    it('stay when a commit appends nothing', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['1']);
      assert.equal((await commitTo(store, 'town', { nowMs: NOW + 999 })).head, `${NOW}-0`);
    });
  });

  describe('edits and removals', () => {
    it('an edit changes the known id, order key and revision, and keeps the times', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['1', '2']);
      const edit = { kind: 'edit', upstreamId: 'up:1b', orderKey: orderKey(30), revision: 'r2' } as const;
      await commitTo(store, 'town', { append: [sampleRecord('1', { ...edit, sortAtMs: 5, arrivedAtMs: NOW + 99 })] });
      assert.deepEqual((await store.timelines.known('town', ['1'])).get('1'), {
        upstreamId: 'up:1b',
        orderKey: orderKey(30),
        revision: 'r2',
        sortAtMs: NOW + 1,
        arrivedAtMs: NOW + 1,
      });
      assert.equal((await store.timelines.anchor('town', orderKey(99)))?.upstreamId, 'up:1b');
      const record = (await store.timelines.recordsAfter({ logId: 'town', limit: 9 })).at(-1);
      assert.deepEqual([record?.kind, record?.sortAtMs, record?.arrivedAtMs], ['edit', NOW + 1, NOW + 99]);
    });

    it('a removal leaves a tombstone with id and uri, and hides the entry, which names its position', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['1', '2']);
      await commitTo(store, 'town', { append: [sampleRecord('1', { kind: 'remove', arrivedAtMs: NOW + 7 })] });
      const records = await store.timelines.recordsAfter({ logId: 'town', limit: 9 });
      assert.deepEqual(
        records.map(({ kind, postId, uri, removedAt }) => [kind, postId, uri, removedAt]),
        [
          ['entry', '1', 'uri:1', `${NOW}-2`],
          ['entry', '2', 'uri:2', undefined],
          ['remove', '1', 'uri:1', undefined],
        ],
      );
      assert.equal((await store.timelines.known('town', ['1'])).get('1')?.removedAtMs, NOW + 7);
      const entries = store.timelines.entriesBefore({ logId: 'town', upTo: `${NOW}-9`, limit: 9 });
      assert.deepEqual(await postIdsOf(entries), ['2']);
      assert.equal((await store.timelines.entriesByUri('town', ['uri:1']))[0]?.removedAt, `${NOW}-2`);
    });

    it('a removed post that comes back is a new entry, shown once', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['1']);
      await commitTo(store, 'town', { append: [sampleRecord('1', { kind: 'remove' })] });
      await appendTo(store, 'town', ['1']);
      const entries = await store.timelines.entriesBefore({ logId: 'town', upTo: `${NOW}-9`, limit: 9 });
      assert.deepEqual(
        entries.map(({ position, removedAt }) => [position, removedAt]),
        [[`${NOW}-2`, undefined]],
      );
      assert.equal((await store.timelines.known('town', ['1'])).get('1')?.removedAtMs, undefined);
      const copies = await store.timelines.entriesByUri('town', ['uri:1']);
      assert.deepEqual(
        copies.map(({ position, removedAt }) => [position, removedAt]),
        [
          [`${NOW}-0`, `${NOW}-1`],
          [`${NOW}-2`, undefined],
        ],
      );
      assert.equal((await store.posts.getPosts(['1'])).get('1')?.post.text, 'text of 1');
    });
  });
}
