import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { type Clock, systemClock } from '../../src/clock.ts';
import { RecommenderUnavailableError, StoreUnavailableError } from '../../src/errors.ts';
import { createForYou, type ForYou, type ForYouRequest } from '../../src/feed/for-you.ts';
import { createTurns } from '../../src/feed/turns.ts';
import { openStore } from '../../src/stores/registry.ts';
import type { Store } from '../../src/stores/store.ts';
import { startRedis } from '../redis-server.ts';
import { candidatesOf, inOrder, posts, STORY_KEYS, watchStrictly } from './fixture.ts';

const redis = await startRedis();
after(() => redis.stop());

const all = posts(60);
const asked = (userId: string): ForYouRequest => ({
  userId,
  limit: 20,
  candidates: async () => ({ candidates: candidatesOf(all), problems: [] }),
  hydrate: async (ids) => ({
    posts: new Map(all.filter(({ id }) => ids.includes(id)).map((one) => [one.id, one])),
    problems: [],
  }),
});

/** A gateway of its own on the shared Redis, whose clock is `agoMs` behind; `generate` is called for each run of its generator. */
async function gateway(generate: () => unknown, agoMs = 0): Promise<{ forYou: ForYou; store: Store }> {
  const store = await openStore(redis.url);
  after(() => store.close());
  const order = inOrder();
  // Looks come sooner than in earnest, and leases are let go as soon as a test says that their time has come.
  const now = () => Date.now() - agoMs;
  const clock: Clock = { ...systemClock, now, sleep: (_ms, signal) => systemClock.sleep(1, signal) };
  const forYou = createForYou({
    feeds: store.feeds,
    turns: createTurns({ leases: store.leases, clock, holder: randomUUID() }),
    recommender: {
      async recommend(request) {
        await generate();
        return order.recommend(request);
      },
    },
    local: order,
    storyKeys: STORY_KEYS,
    clock,
    watch: watchStrictly(),
    settings: { size: 500, instanceTtlSeconds: 3600, currentTtlSeconds: 600, whenGone: 'continue' },
  });
  return { forYou, store };
}

test('a hundred first pages over three gateways, one of them killed, take two generator runs, and show one feed', async () => {
  let runs = 0;
  const started = Promise.withResolvers<void>();
  const dead = await gateway(async () => {
    runs += 1;
    started.resolve();
    await new Promise(() => {});
  });
  const count = () => {
    runs += 1;
  };
  const living = await Promise.all([gateway(count), gateway(count)]);
  // It is killed while it generates: whoever asked it gets no answer.
  for (let n = 0; n < 34; n += 1) void dead.forYou.page(asked('ann')).catch(() => {});
  await started.promise;
  const pages = Array.from({ length: 66 }, (_, n) => living[n % 2]?.forYou.page(asked('ann')));
  await redis.client.pexpire('{ann}:LEASE:first', 1);
  const feeds = new Set((await Promise.all(pages)).map((page) => page?.feed?.feedId));
  assert.equal(feeds.size, 1);
  assert.ok(runs <= 2, `${runs} runs`);
});

test('refreshes at two gateways within 5 s share one generation', async () => {
  let runs = 0;
  const count = () => {
    runs += 1;
  };
  const early = await gateway(count, 60_000);
  const first = await early.forYou.page(asked('bob'));
  const gateways = await Promise.all([gateway(count), gateway(count), gateway(count)]);
  const pages = await Promise.all(gateways.map(({ forYou }) => forYou.refresh(asked('bob'))));
  const feeds = new Set(pages.map(({ feed }) => feed?.feedId));
  assert.equal(feeds.size, 1);
  assert.ok(runs <= 2, `${runs} runs`);
  assert.ok(!feeds.has(first.feed?.feedId), 'it is a new one');
});

test('a refresh that failed, or was served with a problem, leaves its turn to the next at once', async () => {
  for (const known of [false, true]) {
    let runs = 0;
    const down = () => {
      runs += 1;
      throw new RecommenderUnavailableError('down');
    };
    const user = `carl ${known}`;
    // A previous instance stands in where there is one, else the local recommender.
    if (known) await (await gateway(() => {}, 60_000)).forYou.page(asked(user));
    for (const one of await Promise.all([gateway(down), gateway(down)])) {
      const { problems } = await one.forYou.refresh(asked(user));
      assert.deepEqual(
        problems.map(({ code }) => code),
        ['RECOMMENDER_UNAVAILABLE'],
      );
    }
    assert.equal(runs, 2);
  }
});

test('a turn whose work throws is free at once', async () => {
  const { store } = await gateway(() => {});
  const turns = createTurns({ leases: store.leases, clock: systemClock, holder: 'a' });
  const failing = turns.take({
    name: 'y',
    holds: () => true,
    find: async () => undefined,
    make: async () => Promise.reject(new Error('broken')),
  });
  await assert.rejects(failing, /broken/);
  assert.equal(await store.leases.acquire({ name: 'y', holder: 'b', ttlMs: 1000, nowMs: Date.now() }), true);
});

test('a store that does not answer for the turn keeps nobody from generating', async () => {
  const out = async () => {
    throw new StoreUnavailableError('out');
  };
  const turns = createTurns({ leases: { acquire: out, holders: out, release: out }, clock: systemClock, holder: 'a' });
  assert.equal(
    await turns.take({ name: 'x', holds: () => false, find: async () => undefined, make: async () => 7 }),
    7,
  );
});
