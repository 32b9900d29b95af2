import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SourceStatus } from '../../src/stores/timeline-store.ts';
import type { Use } from './contract.ts';
import { appendTo, commitTo, NOW, orderKey, postIdsOf, sampleRecord } from './samples.ts';

/** Every way to read a log. */
export function describeReading(use: Use): void {
  describe('reading a log', () => {
    it('known gives only what this log knows, of any number of ids', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['1', '39999']);
      await appendTo(store, 'other', ['2']);
      const asked = Array.from({ length: 40_000 }, (_, index) => `${index}`);
      assert.deepEqual([...(await store.timelines.known('town', asked)).keys()].sort(), ['1', '39999']);
    });

    it('anchor is the highest known entry at or under the key', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['10', '20', '30']);
      const anchor = async (place: number) => store.timelines.anchor('town', orderKey(place));
      const twenty = { upstreamId: 'up:20', orderKey: orderKey(20), postId: '20' };
      assert.deepEqual(await anchor(20), twenty);
      assert.deepEqual(await anchor(29), twenty);
      assert.equal((await anchor(99))?.postId, '30');
      assert.deepEqual(await anchor(10), { upstreamId: 'up:10', orderKey: orderKey(10), postId: '10' });
      assert.equal(await anchor(9), undefined);
    });

    it('anchor passes over removed entries, which no reply would hold', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['10', '20', '30', '40']);
      const gone = ['20', '40'].map((id) => sampleRecord(id, { kind: 'remove' }));
      await commitTo(store, 'town', { append: gone });
      const anchor = await store.timelines.anchor('town', orderKey(45));
      assert.equal(anchor?.postId, '30');
    });

    it('anchor and knownBetween take order keys of any length, a longer one after its beginning', async (t) => {
      const store = await use(t);
      const keys = ['a', 'a0', 'a00', `a0${'f'.repeat(298)}`, 'a1', 'af', 'b'];
      const append = keys.map((key, n) => sampleRecord(`${9 - n}`, { orderKey: key }));
      await commitTo(store, 'town', { append: append.toReversed() });
      const anchor = async (key: string) => (await store.timelines.anchor('town', key))?.orderKey;
      for (const key of keys) assert.equal(await anchor(key), key);
      assert.equal(await anchor('9f'), undefined);
      assert.equal(await anchor('a001'), 'a00');
      assert.equal(await anchor(`a0${'f'.repeat(297)}`), 'a00');
      assert.equal(await anchor('a0fff'), 'a00');
      assert.equal(await anchor('a10'), 'a1');
      const between = async (bounds: { above?: string; upTo?: string }) =>
        (await store.timelines.knownBetween({ logId: 'town', limit: 99, ...bounds })).map((known) => known.orderKey);
      for (const [low, above] of keys.entries()) {
        assert.deepEqual(await between({ above }), keys.slice(low + 1).toReversed());
        for (const [high, upTo] of keys.entries()) {
          assert.deepEqual(await between({ above, upTo }), keys.slice(low + 1, high + 1).toReversed());
        }
      }
    });

    it('recordsAfter walks all records once, page by page', async (t) => {
      const store = await use(t);
      const ids = Array.from({ length: 25 }, (_, index) => `${index + 1}`);
      for (const id of ids) await appendTo(store, 'town', [id], { nowMs: NOW + Math.floor(Number(id) / 4) });
      const walked: string[] = [];
      for (let after: string | undefined; ; ) {
        const page = await store.timelines.recordsAfter({ logId: 'town', limit: 7, ...(after && { after }) });
        assert.ok(page.length <= 7);
        walked.push(...page.map((record) => record.postId));
        after = page.at(-1)?.position;
        if (after === undefined) break;
      }
      assert.deepEqual(walked, ids);
      for (const limit of [0, -1]) assert.deepEqual(await store.timelines.recordsAfter({ logId: 'town', limit }), []);
    });

    it('entriesBefore orders by sort time and then post id, highest first, strictly below the bound', async (t) => {
      const store = await use(t);
      const at = (id: string, sortAtMs: number) => sampleRecord(id, { sortAtMs });
      await commitTo(store, 'town', { append: [at('5', 100), at('1', 200), at('3', 100), at('4', 100), at('2', 300)] });
      const read = (before?: { sortAtMs: number; postId: string }, limit = 9) =>
        postIdsOf(store.timelines.entriesBefore({ logId: 'town', upTo: `${NOW}-9`, limit, ...(before && { before }) }));
      assert.deepEqual(await read(), ['2', '1', '5', '4', '3']);
      assert.deepEqual(await read({ sortAtMs: 100, postId: '5' }), ['4', '3']);
      assert.deepEqual(await read({ sortAtMs: 200, postId: '0' }), ['5', '4', '3']);
      assert.deepEqual(await read({ sortAtMs: 300, postId: '2' }, 2), ['1', '5']);
      assert.deepEqual(await read({ sortAtMs: 100, postId: '3' }), []);
      for (const limit of [0, -1]) assert.deepEqual(await read(undefined, limit), []);
    });

    it('entriesBefore leaves out what lies after the position', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['1', '2', '3']);
      const upTo = (upTo: string) => postIdsOf(store.timelines.entriesBefore({ logId: 'town', upTo, limit: 9 }));
      assert.deepEqual(await upTo(`${NOW}-1`), ['2', '1']);
      assert.deepEqual(await upTo(`${NOW - 1}-9`), []);
      assert.deepEqual(await upTo('0-0'), []);
    });

    it('entriesByUri gives the entries of many uris, oldest first, each once', async (t) => {
      const store = await use(t);
      const copy = sampleRecord('7', { uri: 'uri:1' });
      await commitTo(store, 'town', { append: [sampleRecord('1'), sampleRecord('2'), copy, sampleRecord('3')] });
      await commitTo(store, 'town', { append: [sampleRecord('2', { kind: 'edit' })] });
      const uris = [...Array.from({ length: 40_000 }, (_, index) => `none:${index}`), 'uri:2', 'uri:1', 'uri:1'];
      assert.deepEqual(await postIdsOf(store.timelines.entriesByUri('town', uris)), ['1', '2', '7']);
    });

    it('entriesByUri gives the first and the newest seven of a uri, however many there are, and those that trimming leaves', async (t) => {
      const store = await use(t);
      const append = Array.from({ length: 500 }, (_, n) => sampleRecord(`${n + 1}`, { uri: 'uri:same' }));
      for (let from = 0; from < append.length; from += 100) {
        await commitTo(store, 'town', { append: append.slice(from, from + 100) });
      }
      await commitTo(store, 'town', { append: [sampleRecord('9000')] });
      const found = () => postIdsOf(store.timelines.entriesByUri('town', ['uri:same', 'uri:9000']));
      assert.deepEqual(await found(), ['1', '494', '495', '496', '497', '498', '499', '500', '9000']);
      await store.timelines.trim({ logId: 'town', beforeMs: 0, keepEntries: 4, keepKnown: 1000 });
      assert.deepEqual(await found(), ['498', '499', '500', '9000']);
    });

    it('entriesByUri finds the live entry of a post that came back any number of times', async (t) => {
      const store = await use(t);
      for (let times = 0; times < 12; times++) {
        await appendTo(store, 'town', ['1']);
        await commitTo(store, 'town', { append: [sampleRecord('1', { kind: 'remove' })] });
      }
      await appendTo(store, 'town', ['1']);
      const copies = await store.timelines.entriesByUri('town', ['uri:1']);
      assert.deepEqual(
        copies.map(({ removedAt }) => removedAt),
        [...[0, 6, 7, 8, 9, 10, 11].map((times) => `${NOW}-${2 * times + 1}`), undefined],
      );
    });

    it('the status is overwritten, outside of the version', async (t) => {
      const store = await use(t);
      assert.equal(await store.timelines.readStatus('town'), undefined);
      const status: SourceStatus = { state: 'STARTING', overlapMs: 60_000, problems: [] };
      await store.timelines.writeStatus('town', status);
      const problems = [{ code: 'UNAVAILABLE', message: 'no answer', retryAtMs: NOW }] as const;
      await store.timelines.writeStatus('town', { ...status, state: 'FAILING', problems });
      assert.deepEqual(await store.timelines.readStatus('town'), { ...status, state: 'FAILING', problems });
      assert.equal((await store.timelines.readLog('town')).version, 0);
    });
  });
}
