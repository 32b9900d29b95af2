import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { createForYou, type ForYouRequest } from '../../src/feed/for-you.ts';
import { createStoryKeys } from '../../src/ids/story-key.ts';
import { createHydrator } from '../../src/loaders.ts';
import { createRecommender } from '../../src/recommenders/registry.ts';
import { openStore } from '../../src/stores/registry.ts';
import { createPost, createSource } from '../edge-fixture.ts';
import { startRedis } from '../redis-server.ts';

const redis = await startRedis();
const monitor = await redis.client.monitor();
after(async () => {
  monitor.disconnect();
  await redis.stop();
});

/** What clients sent meanwhile, and what scripts called. */
async function commandsOf(work: () => Promise<unknown>) {
  const sent: string[] = [];
  const called: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const listener = (_time: string, [name = '', text]: string[], source: string) => {
    const command = name.toLowerCase();
    (source === 'lua' ? called : sent).push(command === 'echo' ? `echo ${text}` : command);
    if (command === 'echo' && text === 'end') resolve();
  };
  monitor.on('monitor', listener);
  await redis.client.echo('begin');
  await work();
  await redis.client.echo('end');
  await promise;
  monitor.off('monitor', listener);
  return { sent: sent.slice(sent.indexOf('echo begin') + 1, -1), called };
}

test('a page of For You takes two round trips, reposts and quotes included, and writes nothing', async (t) => {
  const store = await openStore(redis.url);
  t.after(() => store.close());
  const clock = systemClock;
  const nowMs = clock.now();
  const town = createSource('town');
  const quoted = createPost(town, 500);
  const all = Array.from({ length: 60 }, (_, n) =>
    createPost(town, n + 1, n % 2 === 0 ? { repostOf: createPost(town, n + 101, { quoted }) } : {}),
  );
  await store.timelines.commit({
    logId: town.logId,
    expectedVersion: 0,
    nowMs,
    append: [],
    posts: all.map((post) => ({ post, readAtMs: nowMs })),
  });
  const recommend = async () => all.map(({ id }) => ({ postId: id }));
  const forYou = createForYou({
    feeds: store.feeds,
    recommender: { recommend },
    local: createRecommender({ kind: 'local' }),
    storyKeys: createStoryKeys([Buffer.alloc(32, 3)]),
    clock,
    settings: { size: 500, instanceTtlSeconds: 3600, currentTtlSeconds: 600, whenGone: 'continue' },
  });
  const hydrator = createHydrator({ ...store, sources: [town], takeById: async () => 0, clock });
  const request: ForYouRequest = {
    userId: 'ann',
    limit: 20,
    candidates: async () => ({ candidates: [], problems: [] }),
    // As the edge does: made anew for each request.
    hydrate: (ids) => hydrator.forViewer({ userId: 'ann' }).hydrate(ids),
  };

  const first = await forYou.page(request);
  assert.equal(first.items.length, 20);
  // Redis learns each script once, and the process the posts.
  await forYou.page(request);
  await forYou.page({ ...request, cursor: first.next });
  const again = await commandsOf(() => forYou.page(request));
  assert.deepEqual(again.sent, ['evalsha', 'mget']);
  assert.deepEqual(new Set(again.called), new Set(['zrangebyscore', 'getrange']));
  const second = await commandsOf(() => forYou.page({ ...request, cursor: first.next }));
  assert.deepEqual(second, { sent: ['getrange', 'mget'], called: [] });
});
