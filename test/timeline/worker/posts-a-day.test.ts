import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openSqliteStore } from '../../../src/stores/sqlite.ts';
import { createSimulatedServer } from '../../simulated-server.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { createBreakableStore } from '../breakable-store.ts';
import { createPollingHarness, type PollingHarnessOptions } from '../polling-harness.ts';

function billed(options: PollingHarnessOptions = {}) {
  return createPollingHarness({
    pageSize: 10,
    ...options,
    polling: { maxPostsPerDay: 100, overlapMs: 1000, ...options.polling },
  });
}

/** Counts the posts that its pages held. */
function createCountingServer() {
  const clock = createVirtualClock(Date.UTC(2026, 10, 20, 12));
  const server = createSimulatedServer({ clock, scheme: 'mastodon', pageSize: 10 });
  const { readPage } = server.upstream;
  let shown = 0;
  Object.assign(server.upstream, {
    async readPage(request: Parameters<typeof readPage>[0]) {
      const page = await readPage(request);
      shown += page.posts.length;
      return page;
    },
  });
  return { clock, server, shown: () => shown };
}

describe('the posts of a day', () => {
  it('make a source wait when they are used up, tell why and until when, and leave a gap that is filled', async () => {
    const harness = await billed({ clock: createVirtualClock(Date.UTC(2026, 10, 20, 12)) });
    harness.publish();
    harness.pollers.start();
    await harness.clock.advance(59_900);
    const ids = Array.from({ length: 130 }, (_, n) => harness.publish({ agoMs: (130 - n) * 300 }));
    await harness.clock.advance(600_000);
    const status = await harness.status();
    const midnightMs = Date.UTC(2026, 10, 21);
    assert.deepEqual([status.state, status.nextPollAtMs], ['WAITING', midnightMs]);
    const [problem] = status.problems;
    assert.deepEqual([problem?.code, problem?.retryAtMs], ['RATE_LIMITED', midnightMs]);
    assert.equal(problem?.message, 'sources.town.maxPostsPerDay: 100 posts were read today (UTC)');
    assert.equal((await harness.log()).gaps.length, 1);
    const { length } = harness.server.requests;
    await harness.clock.advance(11 * 3_600_000);
    assert.equal(harness.server.requests.length, length, 'neither polls nor rescans');
    assert.equal(await harness.pollers.readsById.takeById(harness.source, 1), 0);
    await harness.clock.advance(2 * 3_600_000);
    assert.deepEqual(new Set((await harness.entries()).slice(1)), new Set(ids));
    assert.deepEqual((await harness.log()).gaps, []);
    await harness.pollers.stop();
  });

  it('are counted once, however often the store was out for longer than a gateway keeps its tokens', async () => {
    const { clock, server, shown } = createCountingServer();
    const breakable = createBreakableStore(await openSqliteStore({ file: ':memory:' }));
    const harness = await billed({ clock, server, store: breakable.store, polling: { maxPostsPerDay: 1000 } });
    harness.publish();
    harness.pollers.start();
    for (let n = 0; n < 20; n += 1) {
      for (let each = 0; each < 5; each += 1) harness.publish({ agoMs: each });
      await clock.advance(60_000);
      breakable.isOut = true;
      await clock.advance(8000);
      breakable.isOut = false;
      await clock.advance(10_000);
    }
    await clock.advance(120_000);
    assert.ok(shown() > 100);
    assert.equal((await harness.status()).readToday?.posts, shown());
    await harness.pollers.stop();
  });

  it('are counted once where two gateways poll in turn', async () => {
    const { clock, server, shown } = createCountingServer();
    const store = await openSqliteStore({ file: ':memory:' });
    const views = [createBreakableStore(store), createBreakableStore(store)] as const;
    const options = { clock, server, polling: { maxPostsPerDay: 1000 } };
    const [first, second] = await Promise.all(
      views.map((view, n) => billed({ ...options, store: view.store, holder: `gateway-${n}` })),
    );
    assert.ok(first && second);
    for (const { pollers } of [first, second]) pollers.start();
    for (let n = 0; n < 8; n += 1) {
      for (let each = 0; each < 5; each += 1) first.publish({ agoMs: each });
      const [out, other] = n % 2 === 0 ? views : views.toReversed();
      assert.ok(out && other);
      Object.assign(out, { isOut: true });
      Object.assign(other, { isOut: false });
      await clock.advance(150_000);
    }
    views[0].isOut = false;
    await clock.advance(120_000);
    assert.ok(shown() > 40);
    assert.equal((await first.status()).readToday?.posts, shown());
    await Promise.all([first, second].map(({ pollers }) => pollers.stop()));
  });

  it('are kept over restarts, and count what is read by id', async () => {
    const harness = await billed({ clock: createVirtualClock(Date.UTC(2026, 10, 20, 12)) });
    for (let n = 0; n < 10; n += 1) harness.publish();
    harness.pollers.start();
    await harness.clock.advance(1000);
    assert.equal(await harness.pollers.readsById.takeById(harness.source, 1), 1);
    const posts = new Map(Array.from({ length: 85 }, (_, n) => [String(n), POST]));
    harness.pollers.readsById.fetchedById(harness.source, {
      requests: 1,
      fetched: { posts, gone: [], failed: new Map(), sentAtMs: 0 },
    });
    await harness.clock.advance(60_000);
    const { posts: read = 0 } = (await harness.status()).readToday ?? {};
    assert.ok(read >= 95 && read <= 100, `${read}`);
    await harness.pollers.stop();
    const { clock, server, store } = harness;
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
