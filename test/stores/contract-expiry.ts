import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Store } from '../../src/stores/store.ts';
import type { Use } from './contract.ts';
import { cutOf, hash, publication, reference } from './contract-feeds.ts';
import { appendTo, commitTo, deleteAllExpired, HOUR, NOW, samplePost, sampleRecord, written } from './samples.ts';

const LATER = NOW + 24 * HOUR;
const TRIM_ALL = { beforeMs: NOW * 2, keepEntries: 0, keepKnown: 1_000 };

/** What goes when nothing needs it any more, and what stays. */
export function describeExpiry(use: Use): void {
  describe('deleteExpired', () => {
    it('keeps what logs show, and logs and secrets, for ever', async (t) => {
      const store = await use(t);
      const state = await appendTo(store, 'town', ['1']);
      await store.secrets.getOrCreate('tokens', Buffer.from('key'));
      await deleteAllExpired(store, NOW + 10_000 * HOUR);
      assert.deepEqual(await bodies(store, ['1']), ['1']);
      assert.deepEqual(await store.timelines.readLog('town'), state);
      assert.deepEqual(await store.secrets.getOrCreate('tokens', Buffer.from('new')), Buffer.from('key'));
    });

    it('removes bodies that a trim left without a log, nested ones too', async (t) => {
      const store = await use(t);
      const outer = samplePost('1', { quoted: samplePost('inner') });
      await appendTo(store, 'town', ['1', '2'], { posts: [written(outer), written(samplePost('2'))] });
      await appendTo(store, 'city', ['2']);
      await store.timelines.trim({ ...TRIM_ALL, logId: 'town' });
      await deleteAllExpired(store, LATER);
      assert.deepEqual(await bodies(store, ['1', 'inner', '2']), ['2']);
      assert.deepEqual((await store.posts.getPosts(['2'])).get('2')?.shownBy, ['city']);
    });

    it('keeps the body of a post whose edit is still in the log', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['1']);
      const edit = sampleRecord('1', { kind: 'edit', arrivedAtMs: NOW + 500 });
      await commitTo(store, 'town', { append: [edit] });
      await store.timelines.trim({ ...TRIM_ALL, keepEntries: 9, logId: 'town', beforeMs: NOW + 100 });
      await deleteAllExpired(store, LATER);
      assert.deepEqual(await bodies(store, ['1']), ['1']);
    });

    it('removes a body that was read once more after its record was trimmed, with the next trim', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['1', '2']);
      await store.timelines.trim({ ...TRIM_ALL, keepEntries: 9, logId: 'town', beforeMs: NOW + 2 });
      await commitTo(store, 'town', { posts: [written(samplePost('1'), NOW + HOUR)], nowMs: NOW + HOUR });
      await deleteAllExpired(store, LATER);
      assert.deepEqual(await bodies(store, ['1', '2']), ['1', '2']);
      await store.timelines.trim({ ...TRIM_ALL, logId: 'town', beforeMs: NOW + HOUR + 1 });
      await deleteAllExpired(store, LATER);
      assert.deepEqual(await bodies(store, ['1', '2']), []);
    });

    it('keeps bodies that were only read by id for a while', async (t) => {
      const store = await use(t);
      await store.posts.putPosts([written(samplePost('1'))]);
      await deleteAllExpired(store, NOW + 1_000);
      assert.deepEqual(await bodies(store, ['1']), ['1']);
      await deleteAllExpired(store, LATER);
      assert.deepEqual(await bodies(store, ['1']), []);
    });

    it('keeps the bodies that a feed names, with what is nested in them, until the feed is gone', async (t) => {
      const store = await use(t);
      const outer = samplePost('post 1', { quoted: samplePost('inner') });
      await store.posts.putPosts([written(outer)]);
      await store.feeds.putReferences([reference(1)], NOW + 60 * HOUR);
      await store.feeds.publish({ ...publication('ann', 'f1'), ttlMs: 30 * HOUR, aliasTtlMs: HOUR });
      await deleteAllExpired(store, NOW + 29 * HOUR);
      assert.deepEqual(await bodies(store, ['post 1', 'inner']), ['post 1', 'inner']);
      await deleteAllExpired(store, NOW + 900 * HOUR);
      assert.deepEqual(await bodies(store, ['post 1', 'inner']), []);
    });

    it('keeps the bodies of a dropped log that a feed names, until the feed is gone', async (t) => {
      const store = await use(t);
      const outer = samplePost('post 1', { quoted: samplePost('inner') });
      const append = [sampleRecord('1', { postId: 'post 1' }), sampleRecord('2')];
      await commitTo(store, 'town', { append, posts: [written(outer), written(samplePost('2'))] });
      await store.feeds.putReferences([reference(1)], NOW + 60 * HOUR);
      await store.feeds.publish({ ...publication('ann', 'f1'), ttlMs: 30 * HOUR, aliasTtlMs: HOUR });
      await store.timelines.dropLog('town');
      assert.deepEqual(await bodies(store, ['post 1', 'inner', '2']), ['post 1', 'inner']);
      await deleteAllExpired(store, NOW + 29 * HOUR);
      assert.deepEqual(await bodies(store, ['post 1', 'inner']), ['post 1', 'inner']);
      await deleteAllExpired(store, NOW + 900 * HOUR);
      assert.deepEqual(await bodies(store, ['post 1', 'inner']), []);
    });

    it('ends instances, aliases, successors, references and leases whose time is over', async (t) => {
      const { feeds, leases, ...store } = await use(t);
      const of = { feedId: 'f1', offset: 1 };
      await feeds.putReferences([reference(1)], NOW + HOUR);
      await feeds.publish({ ...publication('ann', 'f1'), aliasTtlMs: HOUR });
      await feeds.publishSuccessor({ ...publication('ann', 's1'), of });
      await leases.acquire({ name: 'l', holder: 'a', ttlMs: HOUR, nowMs: NOW });
      await deleteAllExpired({ feeds, leases, ...store }, NOW + HOUR - 1);
      assert.equal((await feeds.cut(cutOf('ann', 'f1', { ttlMs: 1 })))?.items[0]?.postId, 'post 1');
      assert.equal((await feeds.successor('ann', of, NOW))?.feedId, 's1');
      assert.equal(await leases.acquire({ name: 'l', holder: 'b', ttlMs: HOUR, nowMs: NOW }), false);
      await deleteAllExpired({ feeds, leases, ...store }, LATER);
      assert.deepEqual(await feeds.current('ann', NOW), {});
      assert.equal(await feeds.newest('ann', NOW), undefined);
      assert.equal(await feeds.successor('ann', of, NOW), undefined);
      assert.equal(await leases.acquire({ name: 'l', holder: 'b', ttlMs: HOUR, nowMs: NOW }), true);
      const other = { hash: hash(1), key: 'another story', postId: 'another post' };
      assert.deepEqual(await feeds.putReferences([other], LATER), []);
    });

    it('keeps a reference for the longest time that anybody asked for', async (t) => {
      const store = await use(t);
      await store.feeds.putReferences([reference(1), reference(2)], NOW + 30 * HOUR);
      await store.feeds.putReferences([reference(1)], NOW + HOUR);
      const items = [{ hash: hash(2) }];
      await store.feeds.publish({ ...publication('ann', 'f1', { items }), aliasTtlMs: HOUR });
      await deleteAllExpired(store, LATER);
      const others = [reference(1), reference(2)].map((mine) => ({ ...mine, key: 'another story' }));
      assert.deepEqual(await store.feeds.putReferences(others, LATER), [hash(1), hash(2)]);
    });

    it('does a bounded amount a call and says when there is more', async (t) => {
      const store = await use(t);
      const many = Array.from({ length: 5_000 }, (_, index) => written(samplePost(`${index}`)));
      await store.posts.putPosts(many);
      const left = async () => (await store.posts.getPosts(many.map(({ post }) => post.id))).size;
      assert.equal(await store.deleteExpired(LATER), true);
      assert.ok((await left()) > 2_500);
      await deleteAllExpired(store, LATER);
      assert.equal(await left(), 0);
      assert.equal(await store.deleteExpired(LATER), false);
    });
  });
}

async function bodies(store: Store, ids: readonly string[]): Promise<readonly string[]> {
  return [...(await store.posts.getPosts(ids)).keys()];
}
