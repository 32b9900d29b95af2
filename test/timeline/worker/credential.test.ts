import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UpstreamError } from '../../../src/errors.ts';
import { createMultiSourceHarness } from '../multi-source-harness.ts';
import { createPollingHarness, postIdOf } from '../polling-harness.ts';

const HOUR = 3_600_000;

const unauthorized = () => {
  throw new UpstreamError('UNAUTHORIZED', 'GET https://town.example/api/v1/lists/77 answered 401', { status: 401 });
};

describe('a token that is refused', () => {
  it('is tried once more a second later, then stops each of its sources, which say what to do', async () => {
    const harness = await createMultiSourceHarness({ size: 3, before: unauthorized });
    harness.pollers.start();
    await harness.clock.advance(2000);
    for (const [n, { key }] of harness.sources.entries()) {
      const [first = 0, second = 0] = harness.askedAtMs(n);
      assert.deepEqual([harness.askedAtMs(n).length, Math.round((second - first) / 100)], [2, 10]);
      const { state, problems, nextPollAtMs } = await harness.status(n);
      assert.deepEqual([state, problems.length], ['STOPPED', 1]);
      const [problem] = problems;
      assert.deepEqual([problem?.code, problem?.sourceKey], ['UNAUTHORIZED', key]);
      assert.deepEqual(
        [problem?.retryAtMs, nextPollAtMs],
        [harness.clock.now() - (harness.clock.elapsedMs - second) + HOUR, problem?.retryAtMs],
      );
      assert.equal(
        problem?.message,
        `https://town.example answered 401, twice: set another sources.${key}.token and start again; it is tried once an hour`,
        'and not what another source reads',
      );
    }
    await harness.pollers.stop();
  });

  it('is tried once an hour from then on', async () => {
    const harness = await createMultiSourceHarness({ size: 3, before: unauthorized });
    harness.pollers.start();
    await harness.clock.advance(10_000);
    const before = harness.askedAtMs().length;
    await harness.clock.advance(24 * HOUR);
    assert.equal(harness.askedAtMs().length - before, 3 * 24);
    assert.equal(harness.lines.filter((line) => line.includes('STOPPED (UNAUTHORIZED')).length, 3, 'told once each');
    await harness.pollers.stop();
  });

  it('leaves the other sources of the token alone', async () => {
    const harness = await createMultiSourceHarness({
      size: 3,
      before: (n) => (n === 1 ? unauthorized() : undefined),
    });
    harness.pollers.start();
    await harness.clock.advance(600_000);
    assert.deepEqual(await Promise.all([0, 1, 2].map(async (n) => (await harness.status(n)).state)), [
      'OK',
      'STOPPED',
      'OK',
    ]);
    assert.deepEqual(
      [0, 1, 2].map((n) => harness.askedAtMs(n).length),
      [11, 2, 11],
    );
    await harness.pollers.stop();
  });

  it('is polled as ever again once it is taken', async () => {
    let isRefused = true;
    const harness = await createMultiSourceHarness({
      size: 1,
      before: () => (isRefused ? unauthorized() : undefined),
    });
    harness.pollers.start();
    await harness.clock.advance(600_000);
    isRefused = false;
    await harness.clock.advance(HOUR);
    assert.deepEqual([(await harness.status(0)).state, (await harness.status(0)).problems], ['OK', []]);
    const { length } = harness.askedAtMs();
    await harness.clock.advance(600_000);
    assert.equal(harness.askedAtMs().length - length, 10);
    await harness.pollers.stop();
  });

  it('has readers answered at once, without a request', async () => {
    const harness = await createMultiSourceHarness({ size: 2, before: unauthorized });
    harness.pollers.start();
    await harness.clock.advance(10_000);
    const asked = harness.askedAtMs().length;
    const logIds = harness.sources.map(({ logId }) => logId);
    assert.deepEqual([...(await harness.pollers.refresh(logIds, 1500))], logIds);
    await harness.clock.advance(60_000);
    assert.equal(harness.askedAtMs().length, asked);
    await harness.pollers.stop();
  });

  it('was none: then one is wanted', async () => {
    const harness = await createMultiSourceHarness({ size: 1, before: unauthorized, anonymous: true });
    harness.pollers.start();
    await harness.clock.advance(10_000);
    const [problem] = (await harness.status(0)).problems;
    assert.equal(
      problem?.message,
      'https://town.example answered 401, twice: it wants a token: set sources.town0.token and start again; it is tried once an hour',
    );
    await harness.pollers.stop();
  });

  it('is tried by a gateway that starts, with another token at once', async () => {
    const harness = await createMultiSourceHarness({ size: 1, before: unauthorized });
    harness.pollers.start();
    await harness.clock.advance(60_000);
    await harness.pollers.stop();
    const { clock, store } = harness;
    const again = await createMultiSourceHarness({ size: 1, before: unauthorized, clock, store });
    again.pollers.start();
    await clock.advance(60_000);
    assert.equal(again.askedAtMs().length, 2);
    await again.pollers.stop();
    const good = await createMultiSourceHarness({ size: 1, clock, store, credentialOf: () => 'another token' });
    good.pollers.start();
    await clock.advance(10_000);
    assert.equal((await good.status(0)).state, 'OK');
    await good.pollers.stop();
  });
});

describe('one 401 beside answers', () => {
  it('to a page stops nobody', async () => {
    const harness = await createMultiSourceHarness({
      size: 3,
      before: (_, count) => (count === 6 ? unauthorized() : undefined),
    });
    harness.pollers.start();
    await harness.clock.advance(600_000);
    for (const n of harness.sources.keys()) {
      assert.equal((await harness.status(n)).state, 'OK');
      assert.ok(harness.askedAtMs(n).length >= 11);
    }
    assert.deepEqual(
      harness.lines.filter((line) => line.includes('STOPPED')),
      [],
    );
    await harness.pollers.stop();
  });

  for (const anonymous of [false, true]) {
    it(`to a read by id turns reads by id off for an hour, and no poll${anonymous ? ', without a token' : ''}`, async () => {
      const harness = await createMultiSourceHarness({ size: 3, anonymous });
      const { readsById } = harness.pollers;
      harness.pollers.start();
      await harness.clock.advance(1000);
      const [source] = harness.sources;
      assert.ok(source);
      assert.equal(await readsById.takeById(source, 1), 1);
      const failed = new Map([['7', { code: 'UNAUTHORIZED' as const, message: 'answered 401' }]]);
      readsById.fetchedById(source, { requests: 1, fetched: { posts: new Map(), gone: [], failed, sentAtMs: 0 } });
      await harness.clock.advance(HOUR - 10_000);
      for (const [n, each] of harness.sources.entries()) {
        assert.equal(await readsById.takeById(each, 1), 0, 'of all sources of the token');
        assert.deepEqual([(await harness.status(n)).state, (await harness.status(n)).problems], ['OK', []]);
        assert.ok(harness.askedAtMs(n).length >= 59);
      }
      await harness.clock.advance(20_000);
      assert.equal(await readsById.takeById(source, 1), 1);
      await harness.pollers.stop();
    });
  }

  it('to the question whether a post was deleted is no end of polls and rescans, which tell it by its absence', async () => {
    const harness = await createPollingHarness({
      polling: { sweepIntervalMs: 300_000 },
      fetchById: () => 'UNAUTHORIZED',
    });
    const ids = Array.from({ length: 10 }, (_, n) => harness.publish({ agoMs: n * 1000 }));
    harness.pollers.start();
    await harness.clock.advance(1000);
    harness.server.timeline.change(ids[5] ?? '', { isDeleted: true });
    await harness.clock.advance(HOUR);
    assert.equal(harness.server.byId.length, 1);
    assert.ok(harness.server.requests.length >= 60);
    assert.equal((await harness.status()).state, 'OK');
    const removed = (await harness.records()).filter(({ kind }) => kind === 'remove');
    assert.deepEqual(
      removed.map(({ postId }) => postId),
      [postIdOf(ids[5] ?? '')],
    );
    await harness.pollers.stop();
  });
});

describe('a host that does not answer', () => {
  const unavailable = () => {
    throw new UpstreamError('UNAVAILABLE', 'GET https://town.example/api/v1/lists/77 answered 502', { status: 502 });
  };

  it('is tried by one request at a time, for however many sources', async () => {
    const harness = await createMultiSourceHarness({ size: 40, before: unavailable });
    harness.pollers.start();
    await harness.clock.advance(900_000);
    const { length } = harness.askedAtMs();
    assert.ok(length >= 18 && length <= 45, `${length} requests in 15 min`);
    for (const n of harness.sources.keys()) {
      const { state, problems } = await harness.status(n);
      assert.deepEqual([state, problems[0]?.code, problems[0]?.sourceKey], ['FAILING', 'UNAVAILABLE', `town${n}`]);
      const isTried = harness.askedAtMs(n).length > 0;
      assert.equal(problems[0]?.message.includes('lists/77'), isTried, 'not what another source reads');
    }
    await harness.pollers.stop();
  });

  it('is asked by all again, a few at a time, once it answers one', async () => {
    let isOut = true;
    let underWay = 0;
    let most = 0;
    const harness = await createMultiSourceHarness({
      size: 40,
      latencyMs: 200,
      before() {
        if (isOut) unavailable();
      },
    });
    for (const [n, source] of harness.sources.entries()) {
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
      harness.publish(n);
    }
    harness.pollers.start();
    await harness.clock.advance(600_000);
    isOut = false;
    await harness.clock.advance(420_000);
    const states = await Promise.all(harness.sources.map(async (_, n) => (await harness.status(n)).state));
    assert.deepEqual(new Set(states), new Set(['OK']));
    assert.ok(most <= 8, `${most} at once`);
    await harness.pollers.stop();
  });

  it('with one token leaves other tokens alone', async () => {
    const harness = await createMultiSourceHarness({
      size: 21,
      credentialOf: (n) => (n === 0 ? 'answered' : 'not answered'),
      before: (n) => (n === 0 ? undefined : unavailable()),
    });
    harness.pollers.start();
    await harness.clock.advance(600_000);
    assert.equal(harness.askedAtMs(0).length, 11);
    assert.equal((await harness.status(0)).state, 'OK');
    await harness.pollers.stop();
  });
});

describe('sources of one token', () => {
  const polling = { idleIntervalMs: 10_000 };

  it('share its budget: a busy one starves no quiet one, and none is over the limit', async () => {
    let resetAtMs = 0;
    let left = 300;
    const harness = await createMultiSourceHarness({
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
    resetAtMs = harness.clock.now() + 900_000;
    harness.pollers.start();
    for (let n = 0; n < 360; n += 1) {
      // 20 posts a second, of which no budget brings more than a part, beside five quiet timelines.
      harness.publish(0, 200);
      if (harness.clock.now() + 10_000 > resetAtMs) {
        await harness.clock.advance(resetAtMs - harness.clock.now());
        [left, resetAtMs] = [300, resetAtMs + 900_000];
      }
      await harness.clock.advance(10_000);
    }
    const quiet = [1, 2, 3, 4, 5].map((n) => harness.askedAtMs(n).length);
    // 0.7 requests each 3 s, of which the busy one gets what the others leave.
    assert.ok(Math.min(...quiet) >= 100, `${quiet} polls an hour`);
    assert.ok(harness.askedAtMs(0).length >= 200, `${harness.askedAtMs(0).length} of the busy one`);
    await harness.pollers.stop();
  });

  it('are served first where readers watch', async () => {
    const harness = await createMultiSourceHarness({ size: 20, polling, described: { throttles: [ONE_IN_2_S] } });
    harness.pollers.start();
    await harness.clock.advance(60_000);
    const asked = harness.askedAtMs(7).length;
    for (let n = 0; n < 60; n += 1) {
      void harness.pollers.refresh(['log-of-town7'], 1500);
      await harness.clock.advance(5000);
    }
    const watched = harness.askedAtMs(7).length - asked;
    assert.ok(watched >= 40, `${watched} polls in 5 min`);
    const others = harness.sources.map((_, n) => harness.askedAtMs(n).length);
    assert.ok(Math.min(...others) >= 4, `${others}: nobody is starved`);
    await harness.pollers.stop();
  });
});

const ONE_IN_2_S = { requests: 450, windowMs: 900_000, counts: 'pages' } as const;
