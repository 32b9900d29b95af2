import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UpstreamError } from '../../src/errors.ts';
import type { Source } from '../../src/source.ts';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import { createPollers } from '../../src/timeline/pollers.ts';
import { createSimulatedServer } from '../simulated-server.ts';
import { createVirtualClock } from '../virtual-clock.ts';
import { createBreakableStore } from './breakable-store.ts';
import { createPollingHarness, createSource, LOG } from './polling-harness.ts';

describe('refresh', () => {
  it('costs one poll for 50 callers at once, and none while the log is young', async () => {
    const harness = await createPollingHarness({ latencyMs: 200 });
    harness.publish();
    harness.pollers.start();
    await harness.clock.advance(30_000);
    const before = harness.server.requests.length;
    const id = harness.publish();
    const calls = Array.from({ length: 50 }, () => harness.pollers.refresh([LOG, LOG], 1500));
    await harness.clock.advance(1500);
    for (const stale of await Promise.all(calls)) assert.deepEqual([...stale], []);
    assert.equal(harness.server.requests.length - before, 1);
    assert.equal((await harness.entries()).at(-1), id);
    assert.equal(await harness.refresh(), false);
    assert.equal(harness.server.requests.length - before, 1);
  });

  it('waits for the first poll of all', async () => {
    const harness = await createPollingHarness({ latencyMs: 1000 });
    harness.publish();
    harness.pollers.start();
    assert.equal(await harness.refresh(), false);
    assert.equal((await harness.entries()).length, 1);
  });

  it('tells what did not answer in time, and what it does not know, as STALE', async () => {
    const harness = await createPollingHarness({ latencyMs: 4000 });
    harness.pollers.start();
    assert.equal(await harness.refresh(), true);
    await harness.clock.advance(10_000);
    const stale = harness.pollers.refresh(['unknown'], 1500);
    assert.deepEqual([...(await stale)], ['unknown']);
  });

  it('answers at once when the upstream allows no request in time', async () => {
    const retryAtMs = createVirtualClock().now() + 60_000;
    const harness = await createPollingHarness({
      before() {
        throw new UpstreamError('RATE_LIMITED', 'answered 429', { retryAtMs });
      },
    });
    harness.pollers.start();
    await harness.clock.advance(10_000);
    assert.deepEqual([...(await harness.pollers.refresh([LOG], 1500))], [LOG]);
    assert.equal(harness.server.requests.length, 1);
    assert.equal((await harness.status()).state, 'WAITING');
    assert.equal((await harness.status()).nextPollAtMs, retryAtMs);
    await harness.clock.advance(50_000);
    assert.equal(harness.server.requests.length, 2, 'it asks again as soon as it may');
  });

  it('tells that nothing remains, after a limit that was told before was hit', async () => {
    const clock = createVirtualClock();
    const resetAtMs = clock.now() + 900_000;
    const retryAtMs = clock.now() + 120_000;
    const harness = await createPollingHarness({
      clock,
      rateLimit: () => ({ limit: 300, remaining: 290, resetAtMs }),
      before(_, count) {
        if (count > 1) throw new UpstreamError('RATE_LIMITED', 'answered 429', { retryAtMs });
        return undefined;
      },
    });
    harness.pollers.start();
    await harness.clock.advance(1000);
    assert.deepEqual((await harness.status()).rateLimit, { limit: 300, remaining: 290, resetAtMs });
    await harness.clock.advance(60_000);
    assert.deepEqual((await harness.status()).rateLimit, { limit: 300, remaining: 0, resetAtMs: retryAtMs });
  });

  it('is the only thing that polls a source of `asked`', async () => {
    const harness = await createPollingHarness({ polling: { pollWhen: 'asked' } });
    harness.pollers.start();
    await harness.clock.advance(3_600_000);
    assert.equal(harness.server.requests.length, 0);
    await harness.refresh();
    assert.equal(harness.server.requests.length, 1);
  });
});

describe('the loop', () => {
  it('polls at start and at each idle interval, never more often than the least one', async () => {
    const harness = await createPollingHarness();
    harness.pollers.start();
    await harness.clock.advance(600_000);
    assert.equal(harness.server.requests.length, 11);
    for (let n = 0; n < 100; n += 1) await harness.refresh();
    // 150 s of asking all the time.
    assert.ok(harness.server.requests.length - 11 <= 31, `${harness.server.requests.length - 11} requests`);
  });

  it('keeps the least interval over a restart', async () => {
    const harness = await createPollingHarness();
    harness.pollers.start();
    await harness.clock.advance(1000);
    await harness.pollers.stop();
    const { clock, server, store } = harness;
    const next = await createPollingHarness({ clock, server, store, holder: 'next' });
    next.pollers.start();
    await clock.advance(3000);
    assert.equal(server.requests.length, 1);
    await clock.advance(2000);
    assert.equal(server.requests.length, 2);
    await next.pollers.stop();
  });

  it('keeps waiting for the end of a rate limit over a restart', async () => {
    const retryAtMs = createVirtualClock().now() + 600_000;
    const harness = await createPollingHarness({
      before() {
        throw new UpstreamError('RATE_LIMITED', 'answered 429', { retryAtMs });
      },
    });
    harness.pollers.start();
    await harness.clock.advance(1000);
    await harness.pollers.stop();
    const { clock, server, store } = harness;
    const next = await createPollingHarness({ clock, server, store, holder: 'next' });
    next.pollers.start();
    await clock.advance(598_000);
    assert.equal(server.requests.length, 1);
    await clock.advance(2000);
    assert.equal(server.requests.length, 2);
  });

  it('backs off from an upstream that fails, at most 5 min, and from one that refuses for longer', async () => {
    for (const [code, most, least] of [
      ['UNAVAILABLE', 30, 14],
      ['FORBIDDEN', 8, 4],
      ['GONE', 8, 4],
    ] as const) {
      const harness = await createPollingHarness({
        before() {
          throw new UpstreamError(code, `answered ${code}`);
        },
      });
      harness.pollers.start();
      await harness.clock.advance(3_600_000);
      const { length } = harness.server.requests;
      assert.ok(length <= most && length >= least, `${code}: ${length} requests an hour`);
      const status = await harness.status();
      assert.equal(status.state, 'FAILING');
      assert.deepEqual(
        status.problems.map((problem) => [problem.code, problem.sourceKey]),
        [[code, 'town']],
      );
      assert.equal(harness.lines.length, 1, 'one line for the change, not per attempt');
    }
  });

  it('goes on after anything that is thrown at it, and says nothing of what it holds', async () => {
    let isBroken = true;
    const harness = await createPollingHarness({
      before() {
        if (isBroken) throw new TypeError('the secret is 1234');
        return undefined;
      },
    });
    harness.publish();
    harness.pollers.start();
    await harness.clock.advance(10_000);
    assert.equal((await harness.status()).state, 'FAILING');
    assert.equal(/1234/.test(JSON.stringify([harness.lines, await harness.status()])), false);
    isBroken = false;
    await harness.clock.advance(60_000);
    assert.equal((await harness.entries()).length, 1);
    assert.equal((await harness.status()).state, 'OK');
  });

  it('outlives an outage of the store, loses nothing over it, and ends it by itself', async () => {
    const harness = await createPollingHarness();
    const breakable = createBreakableStore(harness.store);
    const lines: string[] = [];
    const keep = { keepHours: 1, keepEntries: 1000 };
    const { clock, source } = harness;
    const pollers = createPollers({
      sources: [source],
      store: breakable.store,
      clock,
      holder: 'a',
      keep,
      log: (line) => lines.push(line),
    });
    harness.publish();
    pollers.start();
    await clock.advance(1000);
    breakable.isOut = true;
    const ids = [harness.publish()];
    assert.deepEqual([...(await pollers.refresh(['x'], 0))], ['x']);
    await clock.advance(90_000);
    ids.push(harness.publish());
    breakable.isOut = false;
    await clock.advance(60_000);
    assert.deepEqual((await harness.entries()).slice(-2), ids);
    assert.deepEqual(
      lines.map((line) => line.split(' (')[0]),
      ['source town: OK', 'source town: FAILING', 'source town: OK'],
    );
    await pollers.stop();
  });

  it('trims the log each hour, and keeps knowing what it has seen', async () => {
    const harness = await createPollingHarness({ keepHours: 1 });
    harness.publish();
    harness.pollers.start();
    await harness.clock.advance(1000);
    assert.equal((await harness.entries()).length, 1);
    await harness.clock.advance(3 * 3_600_000);
    assert.deepEqual(await harness.entries(), []);
    assert.equal((await harness.log()).counts.posts, 1);
  });

  it('counts what it asked and dropped, with the next commit; until then the status tells', async () => {
    const harness = await createPollingHarness();
    harness.publish();
    harness.pollers.start();
    await harness.clock.advance(300_010);
    assert.deepEqual((await harness.status()).uncommitted, { requests: 5, duplicatesDropped: 5 });
    harness.publish();
    await harness.clock.advance(60_000);
    const { counts } = await harness.log();
    assert.deepEqual([counts.posts, counts.requests, counts.duplicatesDropped], [2, 7, 6]);
    assert.deepEqual((await harness.status()).uncommitted, { requests: 0, duplicatesDropped: 0 });
  });
});

describe('two gateways on one store', () => {
  it('poll as one; the other takes over when the first stops renewing', async () => {
    const first = await createPollingHarness({ holder: 'first' });
    const { clock, server, store } = first;
    const second = await createPollingHarness({ clock, server, store, holder: 'second' });
    first.publish();
    first.pollers.start();
    await clock.advance(100);
    second.pollers.start();
    await clock.advance(300_000);
    assert.equal(server.requests.length, 6);
    await first.pollers.stop();
    await clock.advance(300_000);
    assert.equal(server.requests.length, 11);
    await second.pollers.stop();
  });

  it('append each post once when both believe that they poll', async () => {
    const first = await createPollingHarness({ holder: 'first', latencyMs: 300 });
    const { clock, server, store } = first;
    // Leases that are granted to everybody: what is left is compare-and-set.
    const blind = { ...store, leases: { ...store.leases, acquire: async () => true, release: async () => {} } };
    const harnesses = await Promise.all(
      ['a', 'b'].map((holder) => createPollingHarness({ clock, server, store: blind, holder })),
    );
    first.publish();
    for (const { pollers } of harnesses) pollers.start();
    for (let n = 0; n < 50; n += 1) {
      await clock.advance(7000);
      first.publish();
      await Promise.all([...harnesses.map(({ pollers }) => pollers.refresh([LOG], 1000)), clock.advance(1000)]);
    }
    await clock.advance(60_000);
    const entries = await first.entries();
    assert.equal(entries.length, 51);
    assert.equal(new Set(entries).size, 51);
    await Promise.all(harnesses.map(({ pollers }) => pollers.stop()));
  });

  it('answer a reader without waiting when the other has just polled', async () => {
    const first = await createPollingHarness({ holder: 'first' });
    const { clock, server, store } = first;
    const second = await createPollingHarness({ clock, server, store, holder: 'second' });
    first.pollers.start();
    await clock.advance(100);
    second.pollers.start();
    await clock.advance(2000);
    assert.deepEqual([...(await second.pollers.refresh([LOG], 1500))], []);
  });

  it('wake the one that polls for a reader of the other', async () => {
    const first = await createPollingHarness({ holder: 'first' });
    const { clock, server, store } = first;
    const second = await createPollingHarness({ clock, server, store, holder: 'second' });
    const deaf = { ...store, signals: { send: async () => {}, listen: () => () => {} } };
    const third = await createPollingHarness({ clock, server, store: deaf, holder: 'third' });
    first.pollers.start();
    await clock.advance(100);
    second.pollers.start();
    third.pollers.start();
    await clock.advance(20_000);
    const id = first.publish();
    assert.equal(await second.refresh(), false);
    assert.ok((await first.entries()).includes(id));
    await clock.advance(200_000);
    assert.equal(await third.refresh(), true, 'its signals are lost: STALE');
    await Promise.all([first, second, third].map(({ pollers }) => pollers.stop()));
  });
});

describe('stop', () => {
  it('drops a poll under way whole, lets go of the lease, and leaves nothing asleep', async () => {
    const harness = await createPollingHarness({ latencyMs: 4000 });
    harness.publish();
    harness.pollers.start();
    await harness.clock.advance(1000);
    await harness.pollers.stop();
    assert.equal((await harness.log()).version, 0);
    assert.deepEqual(await harness.store.leases.holders(['gateway:gateway'], harness.clock.now()), new Map());
    await harness.clock.advance(10_000);
    assert.equal(harness.clock.sleepers, 0);
    assert.equal(harness.server.requests.length, 1);
    assert.equal((await harness.log()).version, 0);
  });

  it('does not wait for an upstream that never answers', async () => {
    const harness = await createPollingHarness();
    const upstream = { ...harness.server.upstream, readPage: () => new Promise<never>(() => {}) };
    const { clock, store } = harness;
    const source = createSource({ upstream });
    const pollers = createPollers({
      sources: [source],
      store,
      clock,
      holder: 'a',
      keep: { keepHours: 1, keepEntries: 9 },
    });
    pollers.start();
    await clock.advance(1000);
    await pollers.stop();
  });
});

describe('reads by id', () => {
  it('may come in bursts, and then a tenth of what the headers allow', async () => {
    const clock = createVirtualClock();
    const resetAtMs = clock.now() + 1_000_000;
    const rateLimit = () => ({ limit: 1000, remaining: 1000, resetAtMs });
    const harness = await createPollingHarness({ clock, rateLimit, polling: { idleIntervalMs: 900_000 } });
    harness.pollers.start();
    await clock.advance(1000);
    const { takeById } = harness.pollers.readsById;
    let burst = 0;
    while ((await takeById(harness.source, 1)) === 1) burst += 1;
    assert.ok(burst >= 5 && burst <= 20, `${burst} at once`);
    let paced = 0;
    for (let n = 0; n < 100; n += 1) {
      await clock.advance(1000);
      paced += await takeById(harness.source, 1);
    }
    assert.ok(paced >= 8 && paced <= 11, `${paced} in 100 s at one a second for all`);
    await harness.pollers.stop();
  });
});

it('thousands of sources do not begin at the same moment', async () => {
  const clock = createVirtualClock();
  const store = await openSqliteStore({ file: ':memory:', clock });
  const servers = Array.from({ length: 150 }, () => createSimulatedServer({ clock, scheme: 'mastodon', pageSize: 40 }));
  const sources = servers.map((server, n): Source => {
    return { ...createSource(server), key: `town${n}`, logId: `log-of-town${n}`, credentialId: `town${n}` };
  });
  const asked = () => servers.filter(({ requests }) => requests.length > 0).length;
  const pollers = createPollers({ sources, store, clock, holder: 'a', keep: { keepHours: 1, keepEntries: 1000 } });
  pollers.start();
  await clock.advance(0);
  assert.ok(asked() >= 100 && asked() < 110, `${asked()} at once`);
  await clock.advance(1000);
  assert.equal(asked(), 150);
  await pollers.stop();
});
