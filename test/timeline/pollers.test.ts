import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StoreUnavailableError, UpstreamError } from '../../src/errors.ts';
import type { Source } from '../../src/source.ts';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import { createPollers } from '../../src/timeline/pollers.ts';
import { createSimulatedServer } from '../simulated-server.ts';
import { createVirtualClock } from '../virtual-clock.ts';
import { createHouse, createSource, LOG } from './house.ts';

describe('refresh', () => {
  it('costs one poll for 50 callers at once, and none while the log is young', async () => {
    const house = await createHouse({ latencyMs: 200 });
    house.publish();
    house.pollers.start();
    await house.clock.advance(30_000);
    const before = house.server.requests.length;
    const id = house.publish();
    const calls = Array.from({ length: 50 }, () => house.pollers.refresh([LOG, LOG], 1500));
    await house.clock.advance(1500);
    for (const stale of await Promise.all(calls)) assert.deepEqual([...stale], []);
    assert.equal(house.server.requests.length - before, 1);
    assert.equal((await house.entries()).at(-1), id);
    assert.equal(await house.refresh(), false);
    assert.equal(house.server.requests.length - before, 1);
  });

  it('waits for the first poll of all', async () => {
    const house = await createHouse({ latencyMs: 1000 });
    house.publish();
    house.pollers.start();
    assert.equal(await house.refresh(), false);
    assert.equal((await house.entries()).length, 1);
  });

  it('tells what did not answer in time, and what it does not know, as STALE', async () => {
    const house = await createHouse({ latencyMs: 4000 });
    house.pollers.start();
    assert.equal(await house.refresh(), true);
    await house.clock.advance(10_000);
    const stale = house.pollers.refresh(['unknown'], 1500);
    assert.deepEqual([...(await stale)], ['unknown']);
  });

  it('answers at once when the upstream allows no request in time', async () => {
    const retryAtMs = createVirtualClock().now() + 60_000;
    const house = await createHouse({
      before() {
        throw new UpstreamError('RATE_LIMITED', 'answered 429', { retryAtMs });
      },
    });
    house.pollers.start();
    await house.clock.advance(10_000);
    assert.deepEqual([...(await house.pollers.refresh([LOG], 1500))], [LOG]);
    assert.equal(house.server.requests.length, 1);
    assert.equal((await house.status()).state, 'WAITING');
    assert.equal((await house.status()).nextPollAtMs, retryAtMs);
    await house.clock.advance(50_000);
    assert.equal(house.server.requests.length, 2, 'it asks again as soon as it may');
  });

  it('tells that nothing remains, after a limit that was told before was hit', async () => {
    const clock = createVirtualClock();
    const resetAtMs = clock.now() + 900_000;
    const retryAtMs = clock.now() + 120_000;
    const house = await createHouse({
      clock,
      rateLimit: () => ({ limit: 300, remaining: 290, resetAtMs }),
      before(_, count) {
        if (count > 1) throw new UpstreamError('RATE_LIMITED', 'answered 429', { retryAtMs });
        return undefined;
      },
    });
    house.pollers.start();
    await house.clock.advance(1000);
    assert.deepEqual((await house.status()).rateLimit, { limit: 300, remaining: 290, resetAtMs });
    await house.clock.advance(60_000);
    assert.deepEqual((await house.status()).rateLimit, { limit: 300, remaining: 0, resetAtMs: retryAtMs });
  });

  it('is the only thing that polls a source of `asked`', async () => {
    const house = await createHouse({ polling: { pollWhen: 'asked' } });
    house.pollers.start();
    await house.clock.advance(3_600_000);
    assert.equal(house.server.requests.length, 0);
    await house.refresh();
    assert.equal(house.server.requests.length, 1);
  });
});

describe('the loop', () => {
  it('polls at start and at each idle interval, never more often than the least one', async () => {
    const house = await createHouse();
    house.pollers.start();
    await house.clock.advance(600_000);
    assert.equal(house.server.requests.length, 11);
    for (let n = 0; n < 100; n += 1) await house.refresh();
    // 150 s of asking all the time.
    assert.ok(house.server.requests.length - 11 <= 31, `${house.server.requests.length - 11} requests`);
  });

  it('keeps the least interval over a restart', async () => {
    const house = await createHouse();
    house.pollers.start();
    await house.clock.advance(1000);
    await house.pollers.stop();
    const { clock, server, store } = house;
    const next = await createHouse({ clock, server, store, holder: 'next' });
    next.pollers.start();
    await clock.advance(3000);
    assert.equal(server.requests.length, 1);
    await clock.advance(2000);
    assert.equal(server.requests.length, 2);
    await next.pollers.stop();
  });

  it('keeps waiting for the end of a rate limit over a restart', async () => {
    const retryAtMs = createVirtualClock().now() + 600_000;
    const house = await createHouse({
      before() {
        throw new UpstreamError('RATE_LIMITED', 'answered 429', { retryAtMs });
      },
    });
    house.pollers.start();
    await house.clock.advance(1000);
    await house.pollers.stop();
    const { clock, server, store } = house;
    const next = await createHouse({ clock, server, store, holder: 'next' });
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
      const house = await createHouse({
        before() {
          throw new UpstreamError(code, `answered ${code}`);
        },
      });
      house.pollers.start();
      await house.clock.advance(3_600_000);
      const { length } = house.server.requests;
      assert.ok(length <= most && length >= least, `${code}: ${length} requests an hour`);
      const status = await house.status();
      assert.equal(status.state, 'FAILING');
      assert.deepEqual(
        status.problems.map((problem) => [problem.code, problem.sourceKey]),
        [[code, 'town']],
      );
      assert.equal(house.lines.length, 1, 'one line for the change, not per attempt');
    }
  });

  it('goes on after anything that is thrown at it, and says nothing of what it holds', async () => {
    let isBroken = true;
    const house = await createHouse({
      before() {
        if (isBroken) throw new TypeError('the secret is 1234');
        return undefined;
      },
    });
    house.publish();
    house.pollers.start();
    await house.clock.advance(10_000);
    assert.equal((await house.status()).state, 'FAILING');
    assert.equal(/1234/.test(JSON.stringify([house.lines, await house.status()])), false);
    isBroken = false;
    await house.clock.advance(60_000);
    assert.equal((await house.entries()).length, 1);
    assert.equal((await house.status()).state, 'OK');
  });

  it('outlives an outage of the store, loses nothing over it, and ends it by itself', async () => {
    const house = await createHouse();
    let isOut = false;
    const failing = <T extends object>(port: T): T =>
      new Proxy(port, {
        get(target, name, receiver) {
          const method: unknown = Reflect.get(target, name, receiver);
          if (typeof method !== 'function') return method;
          return async (...args: unknown[]) => {
            if (isOut) throw new StoreUnavailableError('the store is out');
            return method.apply(target, args);
          };
        },
      });
    const { timelines, posts, leases, signals } = house.store;
    const store = { timelines: failing(timelines), posts: failing(posts), leases: failing(leases), signals };
    const lines: string[] = [];
    const keep = { keepHours: 1, keepEntries: 1000 };
    const { clock, source } = house;
    const pollers = createPollers({
      sources: [source],
      store,
      clock,
      holder: 'a',
      keep,
      log: (line) => lines.push(line),
    });
    house.publish();
    pollers.start();
    await clock.advance(1000);
    isOut = true;
    const ids = [house.publish()];
    assert.deepEqual([...(await pollers.refresh(['x'], 0))], ['x']);
    await clock.advance(90_000);
    ids.push(house.publish());
    isOut = false;
    await clock.advance(60_000);
    assert.deepEqual((await house.entries()).slice(-2), ids);
    assert.deepEqual(
      lines.map((line) => line.split(' (')[0]),
      ['source town: OK', 'source town: FAILING', 'source town: OK'],
    );
    await pollers.stop();
  });

  it('trims the log each hour, and keeps knowing what it has seen', async () => {
    const house = await createHouse({ keepHours: 1 });
    house.publish();
    house.pollers.start();
    await house.clock.advance(1000);
    assert.equal((await house.entries()).length, 1);
    await house.clock.advance(3 * 3_600_000);
    assert.deepEqual(await house.entries(), []);
    assert.equal((await house.log()).counts.posts, 1);
  });

  it('counts what it asked and dropped, with the next commit; until then the status tells', async () => {
    const house = await createHouse();
    house.publish();
    house.pollers.start();
    await house.clock.advance(300_010);
    assert.deepEqual((await house.status()).uncommitted, { requests: 5, duplicatesDropped: 5 });
    house.publish();
    await house.clock.advance(60_000);
    const { counts } = await house.log();
    assert.deepEqual([counts.posts, counts.requests, counts.duplicatesDropped], [2, 7, 6]);
    assert.deepEqual((await house.status()).uncommitted, { requests: 0, duplicatesDropped: 0 });
  });
});

describe('two gateways on one store', () => {
  it('poll as one; the other takes over when the first stops renewing', async () => {
    const first = await createHouse({ holder: 'first' });
    const { clock, server, store } = first;
    const second = await createHouse({ clock, server, store, holder: 'second' });
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
    const first = await createHouse({ holder: 'first', latencyMs: 300 });
    const { clock, server, store } = first;
    // Leases that are granted to everybody: what is left is compare-and-set.
    const blind = { ...store, leases: { acquire: async () => true, release: async () => {} } };
    const houses = await Promise.all(['a', 'b'].map((holder) => createHouse({ clock, server, store: blind, holder })));
    first.publish();
    for (const { pollers } of houses) pollers.start();
    for (let n = 0; n < 50; n += 1) {
      await clock.advance(7000);
      first.publish();
      await Promise.all([...houses.map(({ pollers }) => pollers.refresh([LOG], 1000)), clock.advance(1000)]);
    }
    await clock.advance(60_000);
    const entries = await first.entries();
    assert.equal(entries.length, 51);
    assert.equal(new Set(entries).size, 51);
    await Promise.all(houses.map(({ pollers }) => pollers.stop()));
  });

  it('answer a reader without waiting when the other has just polled', async () => {
    const first = await createHouse({ holder: 'first' });
    const { clock, server, store } = first;
    const second = await createHouse({ clock, server, store, holder: 'second' });
    first.pollers.start();
    await clock.advance(100);
    second.pollers.start();
    await clock.advance(2000);
    assert.deepEqual([...(await second.pollers.refresh([LOG], 1500))], []);
  });

  it('wake the one that polls for a reader of the other', async () => {
    const first = await createHouse({ holder: 'first' });
    const { clock, server, store } = first;
    const second = await createHouse({ clock, server, store, holder: 'second' });
    const deaf = { ...store, signals: { send: async () => {}, listen: () => () => {} } };
    const third = await createHouse({ clock, server, store: deaf, holder: 'third' });
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
    const house = await createHouse({ latencyMs: 4000 });
    house.publish();
    house.pollers.start();
    await house.clock.advance(1000);
    await house.pollers.stop();
    assert.equal((await house.log()).version, 0);
    const lease = { name: `poll:${LOG}`, holder: 'other', ttlMs: 1000, nowMs: house.clock.now() };
    assert.equal(await house.store.leases.acquire(lease), true);
    await house.clock.advance(10_000);
    assert.equal(house.clock.sleepers, 0);
    assert.equal(house.server.requests.length, 1);
    assert.equal((await house.log()).version, 0);
  });

  it('does not wait for an upstream that never answers', async () => {
    const house = await createHouse();
    const upstream = { ...house.server.upstream, readPage: () => new Promise<never>(() => {}) };
    const { clock, store } = house;
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

describe('mayFetchById', () => {
  it('allows bursts, and then a tenth of what the headers allow', async () => {
    const clock = createVirtualClock();
    const resetAtMs = clock.now() + 1_000_000;
    const rateLimit = () => ({ limit: 1000, remaining: 1000, resetAtMs });
    const house = await createHouse({ clock, rateLimit, polling: { idleIntervalMs: 900_000 } });
    house.pollers.start();
    await clock.advance(1000);
    let burst = 0;
    while (house.pollers.mayFetchById(house.source)) burst += 1;
    assert.ok(burst >= 5 && burst <= 20, `${burst} at once`);
    let paced = 0;
    for (let n = 0; n < 100; n += 1) {
      await clock.advance(1000);
      if (house.pollers.mayFetchById(house.source)) paced += 1;
    }
    assert.ok(paced >= 8 && paced <= 11, `${paced} in 100 s at one a second for all`);
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
