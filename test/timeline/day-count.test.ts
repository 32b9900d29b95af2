import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDayCount } from '../../src/timeline/day-count.ts';
import { createVirtualClock } from '../virtual-clock.ts';
import { createHouse, type HouseOptions } from './house.ts';

const DAY_MS = 86_400_000;

function billed(options: HouseOptions = {}) {
  return createHouse({
    pageSize: 10,
    ...options,
    polling: { maxPostsPerDay: 100, overlapMs: 1000, ...options.polling },
  });
}

describe('the posts of a day', () => {
  it('begin anew at midnight (UTC), whatever the clock is set to meanwhile', async () => {
    const clock = createVirtualClock(Date.UTC(2026, 10, 20, 18));
    const day = createDayCount(10, clock.now);
    day.read(8);
    assert.deepEqual([day.left('poll'), day.left('sweep'), day.nextDayMs()], [2, 0, 6 * 3_600_000]);
    clock.step(-DAY_MS);
    assert.equal(day.left('poll'), 2, 'the day before is not given once more');
    clock.step(DAY_MS);
    await clock.advance(6 * 3_600_000);
    assert.deepEqual([day.left('poll'), day.left('sweep'), day.nextDayMs()], [10, 5, DAY_MS]);
  });

  it('go on from what was kept, if it is of today', () => {
    const { now } = createVirtualClock(Date.UTC(2026, 10, 20));
    for (const [state, left] of [
      [undefined, 10],
      [{ day: '2026-11-19', posts: 9 }, 10],
      [{ day: '2026-11-20', posts: 9 }, 1],
      [{ day: '2026-11-21', posts: 9 }, 1],
      [{ day: '2026-11-20', posts: 99 }, 0],
    ] as const) {
      const day = createDayCount(10, now);
      day.restore(state);
      assert.equal(day.left('fill'), left);
    }
  });

  it('make a source wait when they are used up, tell why and until when, and leave a gap that is filled', async () => {
    const house = await billed({ clock: createVirtualClock(Date.UTC(2026, 10, 20, 12)) });
    house.publish();
    house.pollers.start();
    await house.clock.advance(59_900);
    const ids = Array.from({ length: 130 }, (_, n) => house.publish({ agoMs: (130 - n) * 300 }));
    await house.clock.advance(600_000);
    const status = await house.status();
    const midnightMs = Date.UTC(2026, 10, 21);
    assert.deepEqual([status.state, status.nextPollAtMs], ['WAITING', midnightMs]);
    const [problem] = status.problems;
    assert.deepEqual([problem?.code, problem?.retryAtMs], ['RATE_LIMITED', midnightMs]);
    assert.equal(problem?.message, 'sources.town.maxPostsPerDay: 100 posts were read today (UTC)');
    assert.equal((await house.log()).gaps.length, 1);
    const { length } = house.server.requests;
    await house.clock.advance(11 * 3_600_000);
    assert.equal(house.server.requests.length, length, 'neither polls nor sweeps');
    assert.equal(house.pollers.mayFetchById(house.source), false);
    await house.clock.advance(2 * 3_600_000);
    assert.deepEqual(new Set((await house.entries()).slice(1)), new Set(ids));
    assert.deepEqual((await house.log()).gaps, []);
    await house.pollers.stop();
  });

  it('are kept over restarts, and count what is read by id', async () => {
    const house = await billed({ clock: createVirtualClock(Date.UTC(2026, 10, 20, 12)) });
    for (let n = 0; n < 10; n += 1) house.publish();
    house.pollers.start();
    await house.clock.advance(1000);
    assert.equal(house.pollers.mayFetchById(house.source), true);
    const posts = new Map(Array.from({ length: 85 }, (_, n) => [String(n), POST]));
    house.pollers.fetchedById(house.source, {
      requests: 1,
      fetched: { posts, gone: [], failed: new Map(), sentAtMs: 0 },
    });
    await house.clock.advance(60_000);
    const { posts: read = 0 } = (await house.status()).readToday ?? {};
    assert.ok(read >= 95 && read <= 100, `${read}`);
    await house.pollers.stop();
    const { clock, server, store } = house;
    const next = await billed({ clock, server, store });
    next.pollers.start();
    await clock.advance(3_600_000);
    assert.equal((await next.status()).state, 'WAITING');
    assert.equal((await next.status()).readToday?.posts, 100);
    await next.pollers.stop();
    const more = await billed({ clock, server, store, polling: { maxPostsPerDay: 1000 } });
    more.pollers.start();
    await clock.advance(60_000);
    assert.equal((await more.status()).state, 'OK', 'the settings allow more now');
    await more.pollers.stop();
  });
});

const POST = {
  id: '1@town.example',
  upstreamId: '1',
  network: 'mastodon',
  idScheme: 'opaque',
  uri: 'https://town.example/1',
  text: '',
  html: '',
  createdAtMs: 0,
  visibility: 'PUBLIC',
  sensitive: false,
  media: [],
  hashtags: [],
  mentions: [],
  emojis: [],
  counts: {},
} as const;
