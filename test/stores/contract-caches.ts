import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openStore } from '../../src/stores/registry.ts';
import type { Store } from '../../src/stores/store.ts';
import type { Use } from './contract.ts';
import { cutOf, hash, publication, withReferences } from './contract-feeds.ts';
import { appendTo, commitTo, HOUR, NOW, samplePost, sampleRecord, written } from './samples.ts';

const LONG = { aliasTtlMs: 9 * HOUR };

/** When a life is lengthened. */
export function describeLives(open: Use): void {
  const use = withReferences(open);
  describe('the life of an instance', () => {
    it('is lengthened by a cut once a twentieth of it has passed', async (t) => {
      const { feeds } = await use(t);
      await feeds.publish({ ...publication('ann', 'f1'), ...LONG });
      assert.ok(await feeds.cut(cutOf('ann', 'f1', { nowMs: NOW + HOUR / 20 + 1 })));
      assert.ok(await feeds.newest('ann', NOW + HOUR + HOUR / 20));
    });

    it('is not written anew by a cut before that', async (t) => {
      const { feeds } = await use(t);
      await feeds.publish({ ...publication('ann', 'f1'), ...LONG });
      const first = { count: 1, ttlMs: HOUR };
      assert.ok(await feeds.cut(cutOf('ann', 'f1', { nowMs: NOW + HOUR / 20 })));
      assert.ok((await feeds.current('ann', NOW + HOUR / 20, first)).cut);
      assert.equal(await feeds.newest('ann', NOW + HOUR), undefined);
    });
  });
}

/** What another process changes under what this one keeps: `spec` names what `open` gave. */
export function describeCaches(open: Use, spec: () => string): void {
  async function two(t: Parameters<Use>[0]): Promise<readonly [Store, Store]> {
    const mine = await withReferences(open)(t);
    const other = await openStore(spec());
    t.after(() => other.close());
    return [mine, other];
  }

  describe('what a process keeps of a store that another one writes to', () => {
    it('is no instance that was purged', async (t) => {
      const [mine, other] = await two(t);
      await mine.feeds.publish({ ...publication('ann', 'f1'), ...LONG });
      assert.ok(await mine.feeds.cut(cutOf('ann', 'f1')));
      assert.equal(await other.feeds.purge('ann'), 1);
      assert.equal(await mine.feeds.cut(cutOf('ann', 'f1')), undefined);
    });

    it('is no instance that made room for others', async (t) => {
      const [mine, other] = await two(t);
      await mine.feeds.publish({ ...publication('ann', 'f1'), ...LONG });
      assert.ok(await mine.feeds.cut(cutOf('ann', 'f1')));
      await other.feeds.publish({ ...publication('ann', 'f2'), ...LONG, keep: 1, replaces: 'f1' });
      assert.equal(await mine.feeds.cut(cutOf('ann', 'f1')), undefined);
    });

    it('gives the same items as who reads them for the first time', async (t) => {
      const [mine, other] = await two(t);
      const items = [1, 2, 3].map((n) => ({ hash: hash(n), reason: { kind: 'TOPIC', text: `#${n}` } as const }));
      await mine.feeds.publish({ ...publication('ann', 'f1', { items }), ...LONG });
      const page = { ...cutOf('ann', 'f1', { offset: 1, count: 1 }), hashesFrom: 0 };
      const fresh = await other.feeds.cut(page);
      assert.deepEqual(fresh?.items, [{ ...items[1], postId: 'post 2' }]);
      for (const store of [mine, other]) assert.deepEqual(await store.feeds.cut(page), fresh);
    });

    it('is no post as it was before an edit, inside another one either', async (t) => {
      const [mine, other] = await two(t);
      const outer = samplePost('2', { quoted: samplePost('1') });
      await appendTo(mine, 'town', ['2'], { posts: [written(outer)] });
      assert.equal((await mine.posts.getPosts(['2'])).get('2')?.post.quoted?.text, 'text of 1');
      await other.posts.putPosts([written(samplePost('1', { text: 'edited' }), NOW + 1)]);
      assert.equal((await mine.posts.getPosts(['2'])).get('2')?.post.quoted?.text, 'edited');
      await mine.posts.putPosts([written(samplePost('1', { text: 'edited again' }), NOW + 2)]);
      for (const store of [mine, other])
        assert.equal((await store.posts.getPosts(['2'])).get('2')?.post.quoted?.text, 'edited again');
    });

    it('is no post that was removed, or forgotten', async (t) => {
      const [mine, other] = await two(t);
      await appendTo(mine, 'town', ['1', '2', '3']);
      assert.equal((await mine.posts.getPosts(['1', '2', '3'])).size, 3);
      await commitTo(other, 'town', { append: [sampleRecord('1', { kind: 'remove' })] });
      assert.deepEqual([...(await mine.posts.getPosts(['1', '2', '3'])).keys()], ['2', '3']);
      await other.timelines.dropLog('town');
      assert.equal((await mine.posts.getPosts(['1', '2', '3'])).size, 0);
    });

    it('tells which logs show a post as they do now', async (t) => {
      const [mine, other] = await two(t);
      await appendTo(mine, 'town', ['1']);
      assert.deepEqual((await mine.posts.getPosts(['1'])).get('1')?.shownBy, ['town']);
      await appendTo(other, 'city', ['1']);
      assert.deepEqual((await mine.posts.getPosts(['1'])).get('1')?.shownBy, ['city', 'town']);
      await commitTo(other, 'town', { append: [sampleRecord('1', { kind: 'remove' })] });
      assert.deepEqual((await mine.posts.getPosts(['1'])).get('1')?.shownBy, ['city']);
    });
  });
}
