import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Store } from '../../src/stores/store.ts';
import type { Use } from './contract.ts';
import { cutOf, publication, withReferences } from './contract-feeds.ts';
import { HOUR, NOW } from './samples.ts';

const MINUTE = 60_000;

/** Who wins, what is current, and which instances go. */
export function describePublishing(open: Use): void {
  const use = withReferences(open);
  describe('publish', () => {
    it('makes the instance live and the current one', async (t) => {
      const { feeds } = await use(t);
      const header = { feedId: 'f1', generatedAtMs: NOW, size: 1 };
      assert.deepEqual(await feeds.publish({ ...publication('ann', 'f1'), aliasTtlMs: MINUTE }), header);
      assert.deepEqual(await feeds.current('ann', NOW), { alias: 'f1', instance: header });
    });

    it('elects one winner of those who saw no alias, and tells the losers', async (t) => {
      const { feeds } = await use(t);
      const racers = ['f1', 'f2', 'f3'].map((feedId) =>
        feeds.publish({ ...publication('ann', feedId), aliasTtlMs: MINUTE }),
      );
      const winners = new Set((await Promise.all(racers)).map((winner) => winner.feedId));
      assert.equal(winners.size, 1);
      const [winner] = winners;
      assert.equal((await feeds.current('ann', NOW)).instance?.feedId, winner);
      for (const feedId of ['f1', 'f2', 'f3']) {
        assert.equal((await feeds.cut(cutOf('ann', feedId)))?.feedId, feedId === winner ? winner : undefined);
      }
    });

    it('replaces the alias value that was read, and no other', async (t) => {
      const { feeds } = await use(t);
      const put = async (feedId: string, replaces?: string) =>
        (await feeds.publish({ ...publication('ann', feedId), aliasTtlMs: MINUTE, replaces })).feedId;
      assert.equal(await put('f1'), 'f1');
      assert.equal(await put('f2'), 'f1');
      assert.equal(await put('f3', 'f1'), 'f3');
      assert.equal(await put('f4', 'f1'), 'f3');
      assert.equal((await feeds.current('ann', NOW)).alias, 'f3');
    });

    it('changes nothing when it is sent twice', async (t) => {
      const { feeds } = await use(t);
      await feeds.publish({ ...publication('ann', 'f1'), aliasTtlMs: MINUTE });
      const again = publication('ann', 'f1', { items: [], generatedAtMs: NOW + 1 });
      const header = { feedId: 'f1', generatedAtMs: NOW, size: 1 };
      assert.deepEqual(await feeds.publish({ ...again, aliasTtlMs: MINUTE }), header);
      assert.deepEqual(await feeds.publish({ ...again, aliasTtlMs: MINUTE, replaces: 'f1' }), header);
    });

    it('takes an expired alias for none, and gives the new one its own time', async (t) => {
      const { feeds } = await use(t);
      await feeds.publish({ ...publication('ann', 'f1'), aliasTtlMs: MINUTE });
      assert.equal((await feeds.current('ann', NOW + MINUTE - 1)).alias, 'f1');
      assert.deepEqual(await feeds.current('ann', NOW + MINUTE), {});
      const later = { ...publication('ann', 'f2'), nowMs: NOW + MINUTE, aliasTtlMs: MINUTE };
      assert.equal((await feeds.publish(later)).feedId, 'f2');
      assert.equal((await feeds.current('ann', NOW + 2 * MINUTE - 1)).alias, 'f2');
      assert.ok(await feeds.cut(cutOf('ann', 'f1', { nowMs: NOW + MINUTE })));
    });

    it('wins over an alias that expired between its reading and now', async (t) => {
      const { feeds } = await use(t);
      await feeds.publish({ ...publication('ann', 'f1'), aliasTtlMs: MINUTE });
      const late = { ...publication('ann', 'f2'), nowMs: NOW + MINUTE, aliasTtlMs: MINUTE, replaces: 'f1' };
      assert.equal((await feeds.publish(late)).feedId, 'f2');
    });

    it('reading never lengthens the alias', async (t) => {
      const { feeds } = await use(t);
      await feeds.publish({ ...publication('ann', 'f1'), aliasTtlMs: MINUTE });
      for (const nowMs of [NOW + 1, NOW + MINUTE - 1]) {
        await feeds.current('ann', nowMs);
        await feeds.cut(cutOf('ann', 'f1', { nowMs }));
        await feeds.newest('ann', nowMs);
      }
      assert.deepEqual(await feeds.current('ann', NOW + MINUTE), {});
    });

    it('finds an alias whose instance is gone, which is replaced by its value', async (t) => {
      const { feeds } = await use(t);
      const short = { ...publication('ann', 'f1'), ttlMs: MINUTE };
      await feeds.publish({ ...short, aliasTtlMs: HOUR });
      const nowMs = NOW + MINUTE;
      assert.deepEqual(await feeds.current('ann', nowMs), { alias: 'f1' });
      const next = { ...publication('ann', 'f2'), nowMs, aliasTtlMs: HOUR, replaces: 'f1' };
      assert.equal((await feeds.publish(next)).feedId, 'f2');
      assert.equal((await feeds.current('ann', nowMs)).instance?.feedId, 'f2');
    });

    it('wins when the one that was there first is gone meanwhile', async (t) => {
      const { feeds } = await use(t);
      await feeds.publish({ ...publication('ann', 'f1'), ttlMs: MINUTE, aliasTtlMs: HOUR });
      const loser = { ...publication('ann', 'f2'), nowMs: NOW + MINUTE, aliasTtlMs: HOUR };
      assert.equal((await feeds.publish(loser)).feedId, 'f2');
      assert.equal((await feeds.current('ann', NOW + MINUTE)).alias, 'f2');
    });

    it('leaves nothing of an instance that cannot be kept', async (t) => {
      const { feeds } = await use(t);
      const bad = publication('ann', 'f1', { items: [{ hash: 'not a hash' }] });
      await assert.rejects(feeds.publish({ ...bad, aliasTtlMs: MINUTE }));
      assert.deepEqual(await feeds.current('ann', NOW), {});
      assert.equal(await feeds.newest('ann', NOW), undefined);
    });
  });

  describe('the cap on live instances', () => {
    it('lets the one go that was read longest ago', async (t) => {
      const { feeds } = await use(t);
      await publishInTurn(feeds, 'ann', ['f1', 'f2', 'f3', 'f4']);
      await feeds.cut(cutOf('ann', 'f1', { nowMs: NOW + 4 * MINUTE }));
      await publishInTurn(feeds, 'ann', ['f5'], 5 * MINUTE);
      assert.deepEqual(await liveOf(feeds, 'ann'), ['f1', 'f3', 'f4', 'f5']);
    });

    it('never takes the current one, nor the one just made', async (t) => {
      const { feeds } = await use(t);
      await publishInTurn(feeds, 'ann', ['f1']);
      for (const [index, feedId] of ['s1', 's2', 's3', 's4', 's5'].entries()) {
        const nowMs = NOW + 10 + index;
        await feeds.publishSuccessor({ ...publication('ann', feedId), nowMs, of: { feedId: 'f1', offset: index } });
        assert.ok(await feeds.cut(cutOf('ann', feedId, { nowMs })));
      }
      assert.deepEqual(await liveOf(feeds, 'ann'), ['f1', 's3', 's4', 's5']);
      const one = { ...publication('ann', 's6'), nowMs: NOW + 30, keep: 1, of: { feedId: 'f1', offset: 9 } };
      await feeds.publishSuccessor(one);
      assert.deepEqual(await liveOf(feeds, 'ann'), ['f1', 's6']);
    });

    it('counts each viewer alone, and live instances alone', async (t) => {
      const { feeds } = await use(t);
      await publishInTurn(feeds, 'ann', ['f1', 'f2', 'f3', 'f4']);
      await publishInTurn(feeds, 'bob', ['f5']);
      assert.deepEqual(await liveOf(feeds, 'ann'), ['f1', 'f2', 'f3', 'f4']);
      await publishInTurn(feeds, 'ann', ['f6'], 2 * HOUR);
      assert.deepEqual(await liveOf(feeds, 'ann', NOW + 2 * HOUR), ['f6']);
    });
  });

  describe('successors', () => {
    const of = { feedId: 'f1', offset: 20 };

    it('are one a viewer, feed and offset: the first wins', async (t) => {
      const { feeds } = await use(t);
      const put = async (feedId: string, at = of, viewerId = 'ann') =>
        (await feeds.publishSuccessor({ ...publication(viewerId, feedId), of: at })).feedId;
      assert.equal(await put('s1'), 's1');
      assert.equal(await put('s2'), 's1');
      assert.equal(await put('s3', { ...of, offset: 21 }), 's3');
      assert.equal(await put('s4', { ...of, feedId: 'f' }), 's4');
      assert.equal(await put('s5', of, 'bob'), 's5');
      assert.deepEqual(await feeds.successor('ann', of, NOW), { feedId: 's1', generatedAtMs: NOW, size: 1 });
      assert.equal(await feeds.cut(cutOf('ann', 's2')), undefined);
    });

    it('never become current', async (t) => {
      const { feeds } = await use(t);
      await feeds.publishSuccessor({ ...publication('ann', 's1'), of });
      assert.deepEqual(await feeds.current('ann', NOW), {});
    });

    it('are replaced when they are gone', async (t) => {
      const { feeds } = await use(t);
      await feeds.publishSuccessor({ ...publication('ann', 's1'), of });
      const nowMs = NOW + HOUR;
      assert.equal(await feeds.successor('ann', of, nowMs), undefined);
      assert.equal((await feeds.publishSuccessor({ ...publication('ann', 's2'), nowMs, of })).feedId, 's2');
      assert.equal((await feeds.successor('ann', of, nowMs))?.feedId, 's2');
    });

    it('are replaced when they were evicted', async (t) => {
      const { feeds } = await use(t);
      await feeds.publishSuccessor({ ...publication('ann', 's1'), of });
      await publishInTurn(feeds, 'ann', ['f1', 'f2', 'f3', 'f4'], 10);
      assert.equal(await feeds.successor('ann', of, NOW + 20), undefined);
      assert.equal((await feeds.publishSuccessor({ ...publication('ann', 's2'), nowMs: NOW + 20, of })).feedId, 's2');
    });

    it('live as long as they are read', async (t) => {
      const { feeds } = await use(t);
      await feeds.publishSuccessor({ ...publication('ann', 's1'), of });
      await feeds.cut(cutOf('ann', 's1', { nowMs: NOW + HOUR - 1 }));
      assert.equal((await feeds.successor('ann', of, NOW + 2 * HOUR - 2))?.feedId, 's1');
    });
  });
}

/** Publishes one after the other, 1 ms apart, each replacing the one before. */
async function publishInTurn(feeds: Store['feeds'], viewerId: string, feedIds: readonly string[], fromMs = 0) {
  for (const [index, feedId] of feedIds.entries()) {
    const nowMs = NOW + fromMs + index;
    const { alias } = await feeds.current(viewerId, nowMs);
    const next = { ...publication(viewerId, feedId, { generatedAtMs: nowMs }), nowMs };
    await feeds.publish({ ...next, aliasTtlMs: HOUR, replaces: alias });
  }
}

async function liveOf(feeds: Store['feeds'], viewerId: string, nowMs = NOW) {
  const live: string[] = [];
  for (const feedId of ['f1', 'f2', 'f3', 'f4', 'f5', 'f6', 's1', 's2', 's3', 's4', 's5', 's6']) {
    if (await feeds.cut(cutOf(viewerId, feedId, { nowMs, ttlMs: 1 }))) live.push(feedId);
  }
  return live;
}
