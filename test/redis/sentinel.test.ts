import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { StoreUnavailableError } from '../../src/errors.ts';
import { openStore } from '../../src/stores/registry.ts';
import type { Store } from '../../src/stores/store.ts';
import { cutOf } from '../stores/contract-feeds.ts';
import { HOUR } from '../stores/samples.ts';
import { failUnderLoad } from './load.ts';
import type { Losses } from './logging.ts';
import { killWithLostTail } from './lost-tail.ts';
import { itemOf, sampleInstance, samplePublication } from './scrolling.ts';
import { type SentinelSetup, startSentinels } from './sentinels.ts';
import { until } from './until.ts';

const RACES = Array.from({ length: 20 }, (_, n) => `racer-${n}`);
const ENTRIES_LOST = 30;

describe('a store behind sentinels whose primary is killed, and loses its newest writes', { timeout: 60_000 }, () => {
  let redis: SentinelSetup;
  let stores: readonly Store[] = [];
  let store: Store;
  let failed: { losses: ReadonlyMap<string, Losses>; failures: number };
  let winners: ReadonlyMap<string, readonly string[]>;

  before(async () => {
    redis = await startSentinels();
    stores = await Promise.all([openStore(redis.spec), openStore(redis.spec)]);
    store = stores[0] as Store;
    await until('a generator is leased', async () => typeof (await leaseGenerator(store, 1)) === 'object');
    const { items } = sampleInstance('second');
    await store.feeds.putReferences(
      items.map(({ hash }) => ({ hash, key: hash, postId: hash })),
      Date.now() + 2 * HOUR,
    );
    for (const viewerId of ['ann', ...RACES]) await store.feeds.publish(samplePublication(viewerId, 'first'));
    let races: Promise<ReadonlyMap<string, readonly string[]>> | undefined;
    failed = await failUnderLoad(stores, ['town', 'city'], async ({ acknowledged }) => {
      await killWithLostTail(redis, 'ballast', async () => {
        const told = acknowledged();
        await until('more is written', () => acknowledged() > told + ENTRIES_LOST);
        await store.feeds.publish({ ...samplePublication('ann', 'second'), replaces: 'first' });
      });
      races = race(stores);
    });
    winners = (await races) ?? new Map();
  });

  after(async () => {
    await Promise.all(stores.map((each) => each.close()));
    await redis?.stop();
  });

  it('answers again within seconds, having refused meanwhile', () => {
    assert.ok(failed.failures > 0);
  });

  it('has every entry once, but for the newest, and what entries show', () => {
    for (const { entries, bodies } of failed.losses.values()) {
      assert.ok(entries.length > 0, 'the test lost nothing');
      assert.deepEqual(bodies, []);
    }
  });

  it('gives one current instance to all who retried their publications', async () => {
    for (const viewerId of RACES) {
      const [winner = ''] = winners.get(viewerId) ?? [];
      assert.deepEqual(new Set(winners.get(viewerId)), new Set([winner]));
      for (const each of stores) {
        assert.equal((await each.feeds.current(viewerId, Date.now())).instance?.feedId, winner);
      }
      for (const feedId of ['0', '1', '2', '3'].filter((id) => id !== winner)) {
        assert.equal(await store.feeds.cut(cutOf(viewerId, feedId)), undefined);
      }
    }
  });

  it('pauses generators of ids, whose newest marks it may have lost', async () => {
    assert.equal(await leaseGenerator(store, HOUR), 'paused');
  });

  it('has the feed of before for who published last, and what was lost may be published again', async () => {
    assert.equal((await store.feeds.current('ann', Date.now())).alias, 'first');
    assert.equal(await store.feeds.cut(cutOf('ann', 'second')), undefined);
    await store.feeds.publish({ ...samplePublication('ann', 'second'), replaces: 'first' });
    assert.equal((await store.feeds.cut(cutOf('ann', 'second')))?.items[0]?.hash, itemOf('second', 0));
  });
});

function leaseGenerator({ generators }: Store, pauseMs: number) {
  const nowMs = Date.now();
  return generators.lease({ holder: 'a', ttlMs: HOUR, markMs: nowMs, pauseMs, nowMs });
}

/** For each viewer four publications in place of `first`, by two gateways, each retried until it is told who won. */
async function race(stores: readonly Store[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const winners = new Map<string, readonly string[]>();
  const racers = [...stores, ...stores];
  await Promise.all(
    RACES.map(async (viewerId) => {
      const runs = racers.map(({ feeds }, n) => untilPublished(feeds, samplePublication(viewerId, `${n}`)));
      winners.set(viewerId, await Promise.all(runs));
    }),
  );
  return winners;
}

async function untilPublished(
  feeds: Store['feeds'],
  publication: ReturnType<typeof samplePublication>,
): Promise<string> {
  for (let tries = 0; tries < 2_000; tries += 1) {
    try {
      return (await feeds.publish({ ...publication, replaces: 'first' })).feedId;
    } catch (error) {
      assert.ok(error instanceof StoreUnavailableError, error as Error);
      await wait(10);
    }
  }
  throw new Error('nothing was published');
}
