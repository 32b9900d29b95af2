import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FeedInstance, InstanceItem, Publication } from '../../src/stores/feed-store.ts';
import type { Store } from '../../src/stores/store.ts';
import type { Use } from './contract.ts';
import { HOUR, NOW } from './samples.ts';

/** Instances, what their hashes name, and how long they live. */
export function describeFeeds(open: Use): void {
  describe('feed instances', () => {
    const use = withReferences(open);
    it('are found by nobody before one is published', async (t) => {
      const { feeds } = await use(t);
      assert.deepEqual(await feeds.current('ann', NOW), {});
      assert.equal(await feeds.newest('ann', NOW), undefined);
      assert.equal(await feeds.cut(cutOf('ann', 'f1')), undefined);
      assert.equal(await feeds.successor('ann', { feedId: 'f1', offset: 0 }, NOW), undefined);
    });

    it('give their items in order with reasons, and the posts that the hashes name', async (t) => {
      const { feeds } = await open(t);
      const items: InstanceItem[] = [
        { hash: hash(1), reason: { kind: 'POPULAR', text: 'liked by many' } },
        { hash: 'ffffffffffffffff' },
        { hash: '0000000000000000', reason: { kind: 'OTHER', text: 'ünïcode "\u0000' } },
        { hash: hash(4), reason: { kind: 'POPULAR', text: 'liked by many' } },
      ];
      const named = items.map(({ hash }, n) => ({ hash, key: `story ${n}`, postId: `post ${n}` }));
      await feeds.putReferences(named, NOW + 2 * HOUR);
      await feeds.publish({ ...publication('ann', 'f1', { items }), aliasTtlMs: HOUR });
      const whole = items.map((item, n) => ({ ...item, postId: `post ${n}` }));
      const header = { feedId: 'f1', generatedAtMs: NOW, size: 4 };
      assert.deepEqual(await feeds.cut(cutOf('ann', 'f1')), {
        ...header,
        earlierHashes: Buffer.alloc(0),
        items: whole,
      });
      assert.deepEqual(await feeds.cut(cutOf('ann', 'f1', { offset: 1, count: 2 })), {
        ...header,
        earlierHashes: Buffer.alloc(0),
        items: whole.slice(1, 3),
      });
    });

    it('with many distinct reasons are found like any other', async (t) => {
      const { feeds } = await use(t);
      const text = 'so long that the store keeps it compressed '.repeat(40);
      const items = [1, 2].map((n) => ({ hash: hash(n), reason: { kind: 'OTHER', text: `${n} ${text}` } as const }));
      const header = { feedId: 'f1', generatedAtMs: NOW, size: 2 };
      assert.deepEqual(await feeds.publish({ ...publication('ann', 'f1', { items }), aliasTtlMs: HOUR }), header);
      const of = { feedId: 'f0', offset: 3 };
      await feeds.publishSuccessor({ ...publication('bob', 's1', { items }), of });
      assert.deepEqual(await feeds.current('ann', NOW), { alias: 'f1', instance: header });
      assert.deepEqual(await feeds.newest('ann', NOW), header);
      assert.equal((await feeds.successor('bob', of, NOW))?.feedId, 's1');
      const shown = items.map((item, n) => ({ ...item, postId: `post ${n + 1}` }));
      assert.deepEqual((await feeds.cut(cutOf('ann', 'f1')))?.items, shown);
    });

    it('end where they end: past it there are no items, but the instance', async (t) => {
      const { feeds } = await use(t);
      await feeds.publish({ ...publication('ann', 'f1', { items: [{ hash: hash(1) }] }), aliasTtlMs: HOUR });
      await feeds.publish({ ...publication('bob', 'empty', { items: [] }), aliasTtlMs: HOUR });
      for (const offset of [1, 2, 1e9]) {
        assert.deepEqual((await feeds.cut(cutOf('ann', 'f1', { offset })))?.items, []);
      }
      assert.deepEqual(await feeds.cut(cutOf('bob', 'empty')), {
        feedId: 'empty',
        generatedAtMs: NOW,
        size: 0,
        earlierHashes: Buffer.alloc(0),
        items: [],
      });
    });

    it('give the hashes before a cut, from where they are wanted', async (t) => {
      const { feeds } = await use(t);
      const items = [1, 2, 3, 4, 5].map((n) => ({ hash: hash(n), reason: { kind: 'POPULAR', text: `${n}` } as const }));
      await feeds.publish({ ...publication('ann', 'f1', { items }), aliasTtlMs: HOUR });
      const cut = async (offset: number, hashesFrom: number) => {
        const found = await feeds.cut({ ...cutOf('ann', 'f1', { offset, count: 2 }), hashesFrom });
        return [found?.earlierHashes.toString('hex'), found?.items.map((item) => item.hash)];
      };
      assert.deepEqual(await cut(3, 0), [[1, 2, 3].map(hash).join(''), [4, 5].map(hash)]);
      assert.deepEqual(await cut(3, 2), [hash(3), [4, 5].map(hash)]);
      assert.deepEqual(await cut(0, 0), ['', [1, 2].map(hash)]);
      assert.deepEqual(await cut(9, 0), [[1, 2, 3, 4, 5].map(hash).join(''), []]);
    });

    it('are not found for another viewer, whatever the viewers are called', async (t) => {
      const { feeds } = await use(t);
      const viewers = [
        'a',
        'a:',
        'a:current',
        ':',
        '{a}',
        'a}',
        '{',
        '',
        ' ',
        '"a"',
        'ä',
        'a\u0308',
        'A',
        'a\u0000',
      ].concat(['\ud800', '\ud801', '\ufffd', "'; DROP TABLE instances;--", 'a%3A', '🦊']);
      for (const [index, viewerId] of viewers.entries()) {
        const won = await feeds.publish({ ...publication(viewerId, `f${index}`), aliasTtlMs: HOUR });
        assert.equal(won.feedId, `f${index}`);
        await feeds.publishSuccessor({ ...publication(viewerId, `s${index}`), of: { feedId: 'f', offset: 0 } });
      }
      for (const [index, viewerId] of viewers.entries()) {
        assert.equal((await feeds.current(viewerId, NOW)).alias, `f${index}`);
        assert.equal((await feeds.successor(viewerId, { feedId: 'f', offset: 0 }, NOW))?.feedId, `s${index}`);
        for (const other of viewers.keys()) {
          const found = await feeds.cut(cutOf(viewerId, `f${other}`));
          assert.equal(found?.feedId, other === index ? `f${index}` : undefined);
        }
      }
    });

    it('are found with their first items at once, which counts as a cut', async (t) => {
      const { feeds } = await use(t);
      const items = [1, 2, 3].map((n) => ({ hash: hash(n) }));
      const first = { count: 2, ttlMs: HOUR };
      assert.deepEqual(await feeds.current('ann', NOW, first), {});
      await feeds.publish({ ...publication('ann', 'f1', { items }), aliasTtlMs: 3 * HOUR });
      const header = { feedId: 'f1', generatedAtMs: NOW, size: 3 };
      assert.deepEqual(await feeds.current('ann', NOW + HOUR - 1, first), {
        alias: 'f1',
        instance: header,
        cut: {
          ...header,
          earlierHashes: Buffer.alloc(0),
          items: [1, 2].map((n) => ({ hash: hash(n), postId: `post ${n}` })),
        },
      });
      assert.ok(await feeds.cut(cutOf('ann', 'f1', { nowMs: NOW + 2 * HOUR - 2, ttlMs: 1 })));
      assert.deepEqual(await feeds.current('ann', NOW + 2 * HOUR, first), { alias: 'f1' });
    });

    it('live for their time after the last cut, to the very end of it', async (t) => {
      const { feeds } = await use(t);
      await feeds.publish({ ...publication('ann', 'f1'), aliasTtlMs: HOUR });
      assert.ok(await feeds.cut(cutOf('ann', 'f1', { nowMs: NOW + HOUR - 1 })));
      assert.ok(await feeds.cut(cutOf('ann', 'f1', { nowMs: NOW + 2 * HOUR - 2 })));
      assert.equal(await feeds.cut(cutOf('ann', 'f1', { nowMs: NOW + 3 * HOUR - 2 })), undefined);
      assert.equal(await feeds.newest('ann', NOW + 3 * HOUR - 2), undefined);
    });

    it('never live shorter after a cut, be its clock behind', async (t) => {
      const { feeds } = await use(t);
      await feeds.publish({ ...publication('ann', 'f1'), aliasTtlMs: HOUR });
      await feeds.cut(cutOf('ann', 'f1', { nowMs: NOW - HOUR / 2, ttlMs: 1_000 }));
      assert.ok(await feeds.cut(cutOf('ann', 'f1', { nowMs: NOW + HOUR - 1 })));
    });

    it('keep what their hashes name as long as they live', async (t) => {
      const store = await use(t);
      await store.feeds.putReferences([reference(1)], NOW + 2 * HOUR);
      await store.feeds.publish({ ...publication('ann', 'f1'), aliasTtlMs: HOUR });
      for (let nowMs = NOW; nowMs < NOW + 5 * HOUR; nowMs += HOUR - 1) {
        await store.deleteExpired(nowMs);
        assert.equal((await store.feeds.cut(cutOf('ann', 'f1', { nowMs })))?.items[0]?.postId, 'post 1');
      }
    });

    it('are all removed by a purge, with alias and successors, and no other viewer’s', async (t) => {
      const { feeds } = await use(t);
      for (const viewerId of ['ann', 'ann:current', '{ann}', '*', '']) {
        await feeds.publish({ ...publication(viewerId, 'f1'), aliasTtlMs: HOUR });
        await feeds.publishSuccessor({ ...publication(viewerId, 's1'), of: { feedId: 'f0', offset: 3 } });
      }
      assert.equal(await feeds.purge('ann'), 2);
      assert.equal(await feeds.purge('ann'), 0);
      assert.deepEqual(await feeds.current('ann', NOW), {});
      assert.equal(await feeds.newest('ann', NOW), undefined);
      assert.equal(await feeds.successor('ann', { feedId: 'f0', offset: 3 }, NOW), undefined);
      for (const feedId of ['f1', 's1']) assert.equal(await feeds.cut(cutOf('ann', feedId)), undefined);
      for (const viewerId of ['ann:current', '{ann}', '*', '']) {
        assert.ok(await feeds.cut(cutOf(viewerId, 's1')));
        assert.equal(await feeds.purge(viewerId), 2);
      }
    });

    it('newest is the one generated last, whatever the alias names', async (t) => {
      const { feeds } = await use(t);
      const at = (feedId: string, generatedAtMs: number) => publication('ann', feedId, { generatedAtMs });
      await feeds.publishSuccessor({ ...at('late', NOW + 9), of: { feedId: 'x', offset: 1 } });
      await feeds.publish({ ...at('early', NOW), aliasTtlMs: HOUR });
      assert.deepEqual(await feeds.newest('ann', NOW), { feedId: 'late', generatedAtMs: NOW + 9, size: 1 });
      assert.equal(await feeds.newest('bob', NOW), undefined);
    });
  });

  describe('references', () => {
    it('tell which hashes stand for another key, and keep the others', async (t) => {
      const store = await open(t);
      assert.deepEqual(await store.feeds.putReferences([reference(1), reference(2)], NOW + HOUR), []);
      const clash = { ...reference(1), key: 'another story', postId: 'another post' };
      assert.deepEqual(await store.feeds.putReferences([clash, reference(3), reference(2)], NOW + HOUR), [hash(1)]);
      assert.deepEqual(await namedPosts(store, [1, 2, 3]), ['post 1', 'post 2', 'post 3']);
    });

    it('tell it of two keys with one hash in one call', async (t) => {
      const store = await open(t);
      const clash = { ...reference(1), key: 'another story', postId: 'another post' };
      assert.deepEqual(await store.feeds.putReferences([reference(1), clash], NOW + HOUR), [hash(1)]);
      assert.deepEqual(await namedPosts(store, [1]), ['post 1']);
    });

    it('name the post that was written last for one key', async (t) => {
      const store = await open(t);
      await store.feeds.putReferences([reference(1)], NOW + HOUR);
      assert.deepEqual(await store.feeds.putReferences([{ ...reference(1), postId: 'copy' }], NOW + HOUR), []);
      assert.deepEqual(await namedPosts(store, [1]), ['copy']);
    });

    it('may be of any number', async (t) => {
      const store = await open(t);
      const many = Array.from({ length: 40_000 }, (_, index) => reference(index));
      assert.deepEqual(await store.feeds.putReferences(many, NOW + HOUR), []);
      assert.deepEqual(await namedPosts(store, [39_999]), ['post 39999']);
    });
  });
}

/** Opens stores that know what the hashes of these tests name. */
export function withReferences(open: Use): Use {
  return async (t) => {
    const store = await open(t);
    await store.feeds.putReferences([1, 2, 3, 4, 5].map(reference), NOW + 99 * HOUR);
    return store;
  };
}

/** The hash that stands for a story in these tests. */
export function hash(n: number): string {
  return `9${n.toString(16).padStart(15, '0')}`;
}

export function reference(n: number) {
  return { hash: hash(n), key: `story ${n}`, postId: `post ${n}` };
}

/** One item, one hour, the usual cap. */
export function publication(viewerId: string, feedId: string, instance: Partial<FeedInstance> = {}): Publication {
  const items = [{ hash: hash(1) }];
  return { viewerId, instance: { feedId, generatedAtMs: NOW, items, ...instance }, nowMs: NOW, ttlMs: HOUR, keep: 4 };
}

export function cutOf(viewerId: string, feedId: string, changes: Partial<Parameters<Store['feeds']['cut']>[0]> = {}) {
  return { viewerId, feedId, offset: 0, count: 100, nowMs: NOW, ttlMs: HOUR, ...changes };
}

async function namedPosts(store: Store, numbers: readonly number[]) {
  const items = numbers.map((n) => ({ hash: hash(n) }));
  await store.feeds.publish({ ...publication('reader', 'named', { items }), aliasTtlMs: HOUR });
  return (await store.feeds.cut(cutOf('reader', 'named')))?.items.map((item) => item.postId);
}
