import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RepairState } from '../../src/stores/repair-state.ts';
import type { Gap, LogCommit } from '../../src/stores/timeline-store.ts';
import type { Use } from './contract.ts';
import { appendTo, commitTo, NOW, orderKey, postIdsOf, samplePost, sampleRecord, written } from './samples.ts';

const GAP: Gap = { id: 'g1', fromMs: NOW, reason: 'PAGE_CAP', final: false };

const lateness = (samples: number) => ({ counts: [samples, 0.5], samples, maxMs: 1, fadedAtMs: NOW });

/** What a commit changes, and that it changes all or nothing. */
export function describeCommits(use: Use): void {
  describe('commit', () => {
    it('finds a log that was never committed at version 0, with nothing in it', async (t) => {
      const { timelines } = await use(t);
      assert.deepEqual(await timelines.readLog('town'), {
        version: 0,
        gaps: [],
        counts: { posts: 0, requests: 0, duplicatesDropped: 0, leaksPrevented: 0, backfilled: 0, gaps: 0 },
      });
      assert.deepEqual(await timelines.recordsAfter({ logId: 'town', limit: 10 }), []);
      assert.deepEqual(await timelines.entriesBefore({ logId: 'town', upTo: `${NOW}-0`, limit: 10 }), []);
      assert.deepEqual(await timelines.entriesByUri('town', ['uri:1']), []);
      assert.equal((await timelines.known('town', ['1'])).size, 0);
      assert.equal(await timelines.anchor('town', orderKey(9)), undefined);
    });

    it('keeps all of a commit and gives the state that readLog gives', async (t) => {
      const { timelines } = await use(t);
      const result = await timelines.commit({
        logId: 'town',
        expectedVersion: 0,
        nowMs: NOW,
        append: [sampleRecord('1'), sampleRecord('2', { late: true })],
        posts: [],
        watermark: { upstreamId: 'up:2', orderKey: orderKey(2) },
        floorKey: orderKey(0),
        gaps: [GAP],
        counts: { posts: 2, requests: 1 },
        lateness: lateness(5),
        memory: { walk: 'x' },
      });
      const state = {
        version: 1,
        head: `${NOW}-1`,
        watermark: { upstreamId: 'up:2', orderKey: orderKey(2) },
        floorKey: orderKey(0),
        gaps: [GAP],
        counts: { posts: 2, requests: 1, duplicatesDropped: 0, leaksPrevented: 0, backfilled: 0, gaps: 0 },
        lateness: lateness(5),
        memory: { walk: 'x' },
      };
      assert.deepEqual(result, { committed: true, state });
      assert.deepEqual(await timelines.readLog('town'), state);
      assert.deepEqual((await timelines.recordsAfter({ logId: 'town', limit: 10 }))[1], {
        logId: 'town',
        position: `${NOW}-1`,
        kind: 'entry',
        postId: '2',
        uri: 'uri:2',
        sortAtMs: NOW + 2,
        arrivedAtMs: NOW + 2,
        late: true,
      });
    });

    it('changes nothing when another version is there', async (t) => {
      const store = await use(t);
      const state = await appendTo(store, 'town', ['1']);
      for (const expectedVersion of [0, 2]) {
        const commit: LogCommit = {
          logId: 'town',
          expectedVersion,
          nowMs: NOW,
          append: [sampleRecord('2')],
          posts: [written(samplePost('2'))],
          gaps: [GAP],
        };
        assert.deepEqual(await store.timelines.commit(commit), { committed: false });
      }
      assert.deepEqual(await store.timelines.readLog('town'), state);
      assert.deepEqual(await postIdsOf(store.timelines.recordsAfter({ logId: 'town', limit: 10 })), ['1']);
      assert.equal((await store.timelines.known('town', ['2'])).size, 0);
      assert.equal((await store.posts.getPosts(['2'])).size, 0);
    });

    it('adds counts, replaces lists and memory, and keeps what a commit does not name', async (t) => {
      const store = await use(t);
      const watermark = { upstreamId: 'up:9', orderKey: orderKey(9) };
      const first = { gaps: [GAP], counts: { posts: 2, gaps: 1 }, lateness: lateness(2), memory: { a: '1' } };
      await commitTo(store, 'town', { ...first, watermark, floorKey: orderKey(5) });
      const kept = await commitTo(store, 'town', { counts: { posts: 3 } });
      assert.equal(kept.counts.posts, 5);
      assert.equal(kept.counts.gaps, 1);
      assert.deepEqual([kept.gaps, kept.lateness, kept.memory], [first.gaps, first.lateness, first.memory]);
      assert.deepEqual([kept.watermark, kept.floorKey], [watermark, orderKey(5)]);
      const replaced = await commitTo(store, 'town', { gaps: [], lateness: lateness(7), memory: { b: '2' } });
      assert.deepEqual([replaced.gaps, replaced.lateness, replaced.memory], [[], lateness(7), { b: '2' }]);
    });

    it('keeps the repair state apart from the state, until a commit replaces it', async (t) => {
      const store = await use(t);
      const repair = (lowestKey: string): RepairState => ({
        rescannedMs: [NOW, NOW - 5],
        walk: { toMs: NOW - 5, startedAtMs: NOW, next: '7', lowestKey },
        candidates: [{ postId: '1', upstreamId: 'up:1', goneAtMs: NOW, credentialId: 'town.example a' }],
      });
      assert.equal(await store.timelines.readRepair('town'), undefined);
      await commitTo(store, 'town', { repair: repair('a') });
      await commitTo(store, 'town', { counts: { posts: 1 } });
      assert.deepEqual(await store.timelines.readRepair('town'), repair('a'));
      await commitTo(store, 'town', { repair: repair('b') });
      const stale = { logId: 'town', expectedVersion: 0, nowMs: NOW, append: [], posts: [], repair: repair('c') };
      assert.deepEqual(await store.timelines.commit(stale), { committed: false });
      assert.deepEqual(await store.timelines.readRepair('town'), repair('b'));
      assert.equal(await store.timelines.readRepair('other'), undefined);
    });

    it('has no repair state where an earlier release wrote one of another shape', async (t) => {
      const store = await use(t);
      await commitTo(store, 'town', { repair: { sweptMs: [NOW], suspects: [], alive: [] } as never });
      assert.equal(await store.timelines.readRepair('town'), undefined);
    });

    it('gives known entries other places without a record, and passes over what is not known or removed', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['1', '2', '3']);
      const before = await commitTo(store, 'town', { append: [sampleRecord('2', { kind: 'remove' })] });
      const known = () => store.timelines.known('town', ['1', '2', '3', '9']);
      const old = await known();
      const places = ['1', '2', '9'].map((postId) => ({ postId, orderKey: `${orderKey(50)}0${postId}` }));
      const state = await commitTo(store, 'town', { places });
      assert.deepEqual(state, { ...before, version: before.version + 1 });
      assert.deepEqual(await known(), new Map([...old, ['1', { ...old.get('1'), orderKey: `${orderKey(50)}01` }]]));
      assert.deepEqual(await postIdsOf(store.timelines.knownBetween({ logId: 'town', limit: 9 })), ['1', '3']);
    });

    it('gives places after it appended', async (t) => {
      const store = await use(t);
      const places = [{ postId: '1', orderKey: orderKey(7) }];
      await commitTo(store, 'town', { append: [sampleRecord('1')], places });
      assert.equal((await store.timelines.anchor('town', orderKey(9)))?.orderKey, orderKey(7));
    });

    it('never lowers the floor', async (t) => {
      const store = await use(t);
      await commitTo(store, 'town', { floorKey: orderKey(5) });
      assert.equal((await commitTo(store, 'town', { floorKey: orderKey(3) })).floorKey, orderKey(5));
      assert.equal((await commitTo(store, 'town', { floorKey: orderKey(8) })).floorKey, orderKey(8));
    });

    it('keeps logs apart whatever their ids are', async (t) => {
      const store = await use(t);
      const logIds = ['town', 'town:1', 'town:', '{town}', 'Town', 'stadt/ü', "t';--", 't%', 'a\u0000b', 'a\u0000c'];
      for (const [index, logId] of logIds.entries()) await appendTo(store, logId, [`${index + 1}`]);
      for (const [index, logId] of logIds.entries()) {
        assert.deepEqual(await postIdsOf(store.timelines.recordsAfter({ logId, limit: 9 })), [`${index + 1}`]);
        assert.equal((await store.timelines.readLog(logId)).version, 1);
      }
    });

    for (const [wrong, commit] of Object.entries({
      'an entry that is known': [sampleRecord('2'), sampleRecord('1')],
      'the same entry twice': [sampleRecord('2'), sampleRecord('2')],
      'an edit of a post that is not known': [sampleRecord('2'), sampleRecord('3', { kind: 'edit' })],
      'a removal of a post that is not known': [sampleRecord('2'), sampleRecord('3', { kind: 'remove' })],
      'a second removal': [sampleRecord('1', { kind: 'remove' }), sampleRecord('1', { kind: 'remove' })],
    })) {
      it(`refuses ${wrong}, and nothing of that commit stays`, async (t) => {
        const store = await use(t);
        const state = await appendTo(store, 'town', ['1']);
        await assert.rejects(
          appendTo(store, 'town', ['2'], { append: commit, counts: { posts: 1 } }),
          (error: Error & { code?: string }) => error.code !== 'STORE_UNAVAILABLE',
        );
        assert.deepEqual(await store.timelines.readLog('town'), state);
        const records = await store.timelines.recordsAfter({ logId: 'town', limit: 9 });
        assert.deepEqual(
          records.map(({ postId, kind, removedAt }) => [postId, kind, removedAt]),
          [['1', 'entry', undefined]],
        );
        assert.deepEqual([...(await store.timelines.known('town', ['1', '2', '3'])).keys()], ['1']);
        assert.equal((await store.posts.getPosts(['2'])).size, 0);
        assert.deepEqual((await store.posts.getPosts(['1'])).get('1')?.shownBy, ['town']);
      });
    }
  });
}
