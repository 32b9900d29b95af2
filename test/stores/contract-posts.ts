import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Post } from '../../src/post.ts';
import type { Store } from '../../src/stores/store.ts';
import type { Use } from './contract.ts';
import { appendTo, commitTo, NOW, samplePost, sampleRecord, written } from './samples.ts';

/** Bodies, nested ones, reads that come late, and posts that were removed. */
export function describePosts(use: Use): void {
  describe('posts', () => {
    it('gives bodies as they were written, and nothing for ids that nobody brought', async (t) => {
      const store = await use(t);
      const post = samplePost('1', {
        text: `nul \u0000, half \ud800, ' " ; -- 🦊`,
        poll: { options: [{ text: 'a', votes: 0 }], multiple: false, closed: true },
        author: { id: 'author:1@h', upstreamId: '1', handle: 'a', name: 'A', bot: false, emojis: [] },
      });
      await store.posts.putPosts([written(post)]);
      const found = await store.posts.getPosts(['1', '2', '1']);
      assert.deepEqual([...found], [['1', { post, readAtMs: NOW, shownBy: [] }]]);
    });

    it('remembers every log that showed a post, and reads by id add none', async (t) => {
      const store = await use(t);
      await store.posts.putPosts([written(samplePost('1'))]);
      await appendTo(store, 'town', ['1']);
      await appendTo(store, 'city', ['1']);
      await store.posts.putPosts([written(samplePost('1'), NOW + 5)]);
      const found = (await store.posts.getPosts(['1'])).get('1');
      assert.deepEqual(new Set(found?.shownBy), new Set(['town', 'city']));
      assert.equal(found?.readAtMs, NOW + 5);
    });

    it('never overwrites a newer read with an older one, which still shows the post', async (t) => {
      const store = await use(t);
      const at = (readAtMs: number) => written(samplePost('1', { text: `${readAtMs}` }), readAtMs);
      await store.posts.putPosts([at(NOW), at(NOW + 2), at(NOW + 1)]);
      await commitTo(store, 'town', { append: [sampleRecord('1')], posts: [at(NOW - 7)] });
      const found = (await store.posts.getPosts(['1'])).get('1');
      assert.deepEqual([found?.post.text, found?.readAtMs, found?.shownBy], [`${NOW + 2}`, NOW + 2, ['town']]);
    });

    it('moves readAtMs forward when the body is the same', async (t) => {
      const store = await use(t);
      await store.posts.putPosts([written(samplePost('1'), NOW), written(samplePost('1'), NOW + 9)]);
      assert.equal((await store.posts.getPosts(['1'])).get('1')?.readAtMs, NOW + 9);
    });

    it('answers for any number of ids', async (t) => {
      const store = await use(t);
      await store.posts.putPosts([written(samplePost('39999'))]);
      const asked = Array.from({ length: 40_000 }, (_, index) => `${index}`);
      assert.deepEqual([...(await store.posts.getPosts(asked)).keys()], ['39999']);
    });
  });

  describe('nested posts', () => {
    const inner = samplePost('inner');
    const quoting = samplePost('quoting', { quoted: inner });
    const boost = samplePost('boost', { text: '', html: '', repostOf: quoting });

    it('come back inside, and are posts of their own that the log showed', async (t) => {
      const store = await use(t);
      await commitTo(store, 'town', { append: [sampleRecord('1', { postId: 'boost' })], posts: [written(boost)] });
      const found = await store.posts.getPosts(['boost', 'quoting', 'inner']);
      assert.deepEqual(
        ['boost', 'quoting', 'inner'].map((id) => found.get(id)),
        [boost, quoting, inner].map((post) => ({ post, readAtMs: NOW, shownBy: ['town'] })),
      );
    });

    it('come beside what holds them when they are asked for', async (t) => {
      const store = await use(t);
      await commitTo(store, 'town', { append: [sampleRecord('1', { postId: 'boost' })], posts: [written(boost)] });
      await appendTo(store, 'city', ['2'], {
        append: [sampleRecord('2', { postId: 'inner' })],
        posts: [written(inner)],
      });
      const found = await store.posts.getPosts(['boost'], { withInside: true });
      assert.deepEqual([...found.keys()].sort(), ['boost', 'inner', 'quoting']);
      assert.deepEqual(found.get('boost'), { post: boost, readAtMs: NOW, shownBy: ['town'] });
      assert.deepEqual(found.get('inner')?.shownBy, ['city', 'town']);
      assert.deepEqual([...(await store.posts.getPosts(['boost'])).keys()], ['boost']);
    });

    it('are given in their present form', async (t) => {
      const store = await use(t);
      await store.posts.putPosts([written(boost)]);
      const edited = samplePost('inner', { text: 'edited' });
      await store.posts.putPosts([written(edited, NOW + 1)]);
      assert.equal((await readPost(store, 'boost'))?.repostOf?.quoted?.text, 'edited');
    });

    it('are not overwritten by an older outer post', async (t) => {
      const store = await use(t);
      await store.posts.putPosts([written(samplePost('inner', { text: 'newer' }), NOW + 1), written(boost, NOW)]);
      assert.equal((await readPost(store, 'boost'))?.repostOf?.quoted?.text, 'newer');
    });

    it('keep the post that they quote when they are shown in a shallow form', async (t) => {
      const store = await use(t);
      const shallow = samplePost('other', { repostOf: samplePost('quoting') });
      await store.posts.putPosts([written(quoting), written(shallow, NOW + 1)]);
      assert.deepEqual((await readPost(store, 'quoting'))?.quoted, inner);
    });

    it('lose the post that they quote when a read of themselves shows none', async (t) => {
      const store = await use(t);
      await store.posts.putPosts([written(quoting), written(samplePost('quoting'), NOW + 1)]);
      assert.equal((await readPost(store, 'quoting'))?.quoted, undefined);
    });

    it('end at a bounded depth, in a circle too', async (t) => {
      const store = await use(t);
      let deep = samplePost('0');
      for (let level = 1; level < 2_000; level++) deep = samplePost(`${level}`, { quoted: deep });
      const circle = [
        samplePost('a', { quoted: samplePost('b') }),
        samplePost('b', { quoted: samplePost('a') }),
        samplePost('self', { quoted: samplePost('self') }),
      ];
      await store.posts.putPosts([deep, ...circle].map((post) => written(post)));
      for (const id of ['1999', 'a', 'b', 'self']) {
        let levels = 0;
        for (let post = await readPost(store, id); post; post = post.quoted) levels++;
        assert.ok(levels >= 2 && levels <= 5, `${id} is ${levels} deep`);
      }
    });
  });

  describe('removed posts', () => {
    it('lose their content where no other log shows them', async (t) => {
      const store = await use(t);
      await appendTo(store, 'town', ['1', '2']);
      await appendTo(store, 'city', ['2']);
      const append = ['1', '2'].map((id) => sampleRecord(id, { kind: 'remove' }));
      await commitTo(store, 'town', { append });
      const found = await store.posts.getPosts(['1', '2']);
      assert.equal(found.has('1'), false);
      assert.deepEqual(found.get('2')?.shownBy, ['city']);
    });

    it('do not take along what was nested in them while another post shows it', async (t) => {
      const store = await use(t);
      const outer = (id: string) => written(samplePost(id, { quoted: samplePost('inner') }));
      await appendTo(store, 'town', ['1', '2'], { posts: [outer('1'), outer('2')] });
      const remove = (id: string) => commitTo(store, 'town', { append: [sampleRecord(id, { kind: 'remove' })] });
      await remove('1');
      assert.deepEqual((await store.posts.getPosts(['inner'])).get('inner')?.shownBy, ['town']);
      await remove('2');
      assert.deepEqual((await store.posts.getPosts(['inner'])).get('inner')?.shownBy ?? [], []);
    });
  });
}

async function readPost(store: Store, id: string): Promise<Post | undefined> {
  return (await store.posts.getPosts([id])).get(id)?.post;
}
