import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UpstreamError } from '../../src/errors.ts';
import { createTown } from './town.ts';

const unauthorized = () => {
  throw new UpstreamError('UNAUTHORIZED', 'GET https://town.example/api/v1/lists/77 answered 401', { status: 401 });
};

describe('a token that is refused', () => {
  it('stops all of its sources after one request, says what to do, and lets go of the leases', async () => {
    const town = await createTown({ size: 3, before: unauthorized });
    town.pollers.start();
    await town.clock.advance(24 * 3_600_000);
    assert.equal(town.askedAtMs().length <= 3, true, 'what was under way together');
    for (const [n, { key, logId }] of town.sources.entries()) {
      const { state, problems, nextPollAtMs } = await town.status(n);
      assert.deepEqual([state, nextPollAtMs, problems.length], ['STOPPED', undefined, 1]);
      const [problem] = problems;
      assert.deepEqual([problem?.code, problem?.sourceKey], ['UNAUTHORIZED', key]);
      assert.equal(
        problem?.message,
        `https://town.example answered 401: set another sources.${key}.token and start again`,
        'and not what another source reads',
      );
      const lease = { name: `poll:${logId}`, holder: 'other', ttlMs: 1000, nowMs: town.clock.now() };
      assert.equal(await town.store.leases.acquire(lease), true);
    }
    assert.equal(town.lines.filter((line) => line.includes('STOPPED (UNAUTHORIZED')).length, 3);
    assert.equal(town.clock.sleepers, 0);
  });

  it('is not used for readers, who are answered at once, nor by id', async () => {
    const town = await createTown({ size: 2, before: unauthorized });
    town.pollers.start();
    await town.clock.advance(1000);
    const asked = town.askedAtMs().length;
    const logIds = town.sources.map(({ logId }) => logId);
    assert.deepEqual([...(await town.pollers.refresh(logIds, 1500))], logIds);
    for (const source of town.sources) assert.equal(town.pollers.mayFetchById(source), false);
    await town.clock.advance(60_000);
    assert.equal(town.askedAtMs().length, asked);
  });

  it('was none: then one is wanted', async () => {
    const town = await createTown({ size: 1, before: unauthorized, anonymous: true });
    town.pollers.start();
    await town.clock.advance(1000);
    const [problem] = (await town.status(0)).problems;
    assert.equal(
      problem?.message,
      'https://town.example answered 401: it wants a token: set sources.town0.token and start again',
    );
  });

  it('is tried once more by a gateway that starts', async () => {
    const town = await createTown({ size: 1, before: unauthorized });
    town.pollers.start();
    await town.clock.advance(60_000);
    const { clock, store } = town;
    const again = await createTown({ size: 1, before: unauthorized, clock, store });
    again.pollers.start();
    await clock.advance(60_000);
    assert.equal(again.askedAtMs().length, 1);
    const good = await createTown({ size: 1, clock, store });
    good.pollers.start();
    await clock.advance(60_000);
    assert.equal((await good.status(0)).state, 'OK');
    await good.pollers.stop();
  });

  it('found out by a read by id, stops the polls too', async () => {
    const town = await createTown({ size: 1 });
    town.pollers.start();
    await town.clock.advance(1000);
    const [source] = town.sources;
    assert.ok(source);
    assert.equal(town.pollers.mayFetchById(source), true);
    const failed = new Map([['7', { code: 'UNAUTHORIZED' as const, message: 'answered 401' }]]);
    const fetched = { posts: new Map(), gone: [], failed, sentAtMs: 0 };
    town.pollers.fetchedById(source, { requests: 1, fetched });
    await town.clock.advance(1000);
    assert.equal((await town.status(0)).state, 'STOPPED');
  });
});

describe('a host that does not answer', () => {
  const unavailable = () => {
    throw new UpstreamError('UNAVAILABLE', 'GET https://town.example/api/v1/lists/77 answered 502', { status: 502 });
  };

  it('is tried by one request at a time, for however many sources', async () => {
    const town = await createTown({ size: 40, before: unavailable });
    town.pollers.start();
    await town.clock.advance(900_000);
    const { length } = town.askedAtMs();
    assert.ok(length >= 18 && length <= 45, `${length} requests in 15 min`);
    for (const n of town.sources.keys()) {
      const { state, problems } = await town.status(n);
      assert.deepEqual([state, problems[0]?.code, problems[0]?.sourceKey], ['FAILING', 'UNAVAILABLE', `town${n}`]);
      const isTried = town.askedAtMs(n).length > 0;
      assert.equal(problems[0]?.message.includes('lists/77'), isTried, 'not what another source reads');
    }
    await town.pollers.stop();
  });

  it('is asked by all again, a few at a time, once it answers one', async () => {
    let isOut = true;
    let underWay = 0;
    let most = 0;
    const town = await createTown({
      size: 40,
      latencyMs: 200,
      before() {
        if (isOut) unavailable();
      },
    });
    for (const [n, source] of town.sources.entries()) {
      const { readPage } = source.upstream;
      Object.assign(source.upstream, {
        async readPage(request: Parameters<typeof readPage>[0]) {
          underWay += 1;
          most = Math.max(most, underWay);
          return readPage(request).finally(() => {
            underWay -= 1;
          });
        },
      });
      town.publish(n);
    }
    town.pollers.start();
    await town.clock.advance(600_000);
    isOut = false;
    await town.clock.advance(420_000);
    const states = await Promise.all(town.sources.map(async (_, n) => (await town.status(n)).state));
    assert.deepEqual(new Set(states), new Set(['OK']));
    assert.ok(most <= 8, `${most} at once`);
    await town.pollers.stop();
  });

  it('that hangs leaves other tokens alone', async () => {
    const town = await createTown({ size: 1 });
    const hung = await createTown({ size: 20, clock: town.clock, store: town.store, before: unavailable });
    town.pollers.start();
    hung.pollers.start();
    await town.clock.advance(600_000);
    assert.ok(town.askedAtMs().length >= 10);
    await Promise.all([town.pollers.stop(), hung.pollers.stop()]);
  });
});

describe('sources of one token', () => {
  const polling = { idleIntervalMs: 10_000 };

  it('share its budget: a busy one starves no quiet one, and none is over the limit', async () => {
    let resetAtMs = 0;
    let left = 300;
    const town = await createTown({
      size: 6,
      pageSize: 10,
      polling,
      before() {
        left -= 1;
        assert.ok(left >= 0, 'more than 300 in 15 min');
      },
      rateLimit() {
        return { limit: 300, remaining: left, resetAtMs };
      },
    });
    resetAtMs = town.clock.now() + 900_000;
    town.pollers.start();
    for (let n = 0; n < 360; n += 1) {
      // 20 posts a second, of which no budget brings more than a part, beside five quiet timelines.
      town.publish(0, 200);
      if (town.clock.now() + 10_000 > resetAtMs) {
        await town.clock.advance(resetAtMs - town.clock.now());
        [left, resetAtMs] = [300, resetAtMs + 900_000];
      }
      await town.clock.advance(10_000);
    }
    const quiet = [1, 2, 3, 4, 5].map((n) => town.askedAtMs(n).length);
    // 0.7 requests each 3 s, of which the busy one gets what the others leave.
    assert.ok(Math.min(...quiet) >= 100, `${quiet} polls an hour`);
    assert.ok(town.askedAtMs(0).length >= 200, `${town.askedAtMs(0).length} of the busy one`);
    await town.pollers.stop();
  });

  it('are served first where readers watch', async () => {
    const town = await createTown({ size: 20, polling, described: { throttles: [ONE_IN_2_S] } });
    town.pollers.start();
    await town.clock.advance(60_000);
    const asked = town.askedAtMs(7).length;
    for (let n = 0; n < 60; n += 1) {
      void town.pollers.refresh(['log-of-town7'], 1500);
      await town.clock.advance(5000);
    }
    const watched = town.askedAtMs(7).length - asked;
    assert.ok(watched >= 40, `${watched} polls in 5 min`);
    const others = town.sources.map((_, n) => town.askedAtMs(n).length);
    assert.ok(Math.min(...others) >= 4, `${others}: nobody is starved`);
    await town.pollers.stop();
  });
});

const ONE_IN_2_S = { requests: 450, windowMs: 900_000, counts: 'pages' } as const;
