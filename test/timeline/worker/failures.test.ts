import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRandom } from '../../../experiment/random.ts';
import { UpstreamError } from '../../../src/errors.ts';
import type { PageRequest } from '../../../src/upstreams/upstream.ts';
import { createMultiSourceHarness } from '../multi-source-harness.ts';
import { createPollingHarness } from '../polling-harness.ts';

const unavailable = () => {
  throw new UpstreamError('UNAVAILABLE', 'answered 503', { status: 503 });
};

describe('work in the background that fails', () => {
  it('of rescans is told beside a source that is OK, until it goes well', async () => {
    let isRefused = true;
    const isRescan = ({ sinceId, next }: PageRequest) => sinceId === undefined && next === undefined;
    const harness = await createPollingHarness({
      polling: { sweepIntervalMs: 300_000 },
      before: (request, count) => (isRefused && count > 1 && isRescan(request) ? unavailable() : undefined),
    });
    for (let n = 0; n < 10; n += 1) harness.publish({ agoMs: n * 1000 });
    harness.pollers.start();
    await harness.clock.advance(1_200_000);
    const { state, problems } = await harness.status();
    assert.deepEqual(
      [state, problems.map(({ code, sourceKey }) => [code, sourceKey])],
      ['OK', [['UNAVAILABLE', 'town']]],
    );
    isRefused = false;
    await harness.clock.advance(1_200_000);
    assert.deepEqual((await harness.status()).problems, []);
    await harness.pollers.stop();
  });

  it('of fills is told beside a source that is OK, and its gap', async () => {
    const harness = await createPollingHarness({
      maxPagesPerPoll: 1,
      before: ({ next }) => (next !== undefined ? unavailable() : undefined),
    });
    harness.publish();
    harness.pollers.start();
    await harness.clock.advance(1000);
    for (let n = 0; n < 100; n += 1) harness.publish({ agoMs: n * 10 });
    await harness.clock.advance(300_000);
    const { state, problems } = await harness.status();
    assert.deepEqual([state, problems.map(({ code }) => code)], ['OK', ['UNAVAILABLE']]);
    assert.equal((await harness.log()).gaps.length, 1);
    await harness.pollers.stop();
  });

  it('as nobody foresaw is told without what it holds', async () => {
    const harness = await createPollingHarness({
      maxPagesPerPoll: 1,
      before({ next }) {
        if (next !== undefined) throw new TypeError('the secret is 1234');
        return undefined;
      },
    });
    harness.publish();
    harness.pollers.start();
    await harness.clock.advance(1000);
    for (let n = 0; n < 100; n += 1) harness.publish({ agoMs: n * 10 });
    await harness.clock.advance(300_000);
    const { state, problems } = await harness.status();
    assert.deepEqual([state, problems.map(({ code }) => code)], ['OK', ['UNAVAILABLE']]);
    assert.equal(/1234/.test(JSON.stringify(problems)), false);
    await harness.pollers.stop();
  });
});

describe('an upstream that is up 20 s of every 40 after a long outage', () => {
  const OUTAGE = 1_200_000;
  const END = 7_200_000;
  const isUp = (atMs: number) => atMs > OUTAGE && atMs % 40_000 >= 20_000;

  for (const size of [1, 5]) {
    it(`is tried at least once a minute while readers ask ${size === 1 ? 'a source' : `its ${size} sources`} every 5 s`, async () => {
      const answeredAtMs = Array.from({ length: size }, (): number[] => []);
      const harness = await createMultiSourceHarness({
        size,
        random: createRandom(5),
        before(n) {
          if (!isUp(harness.clock.elapsedMs)) unavailable();
          answeredAtMs[n]?.push(harness.clock.elapsedMs);
        },
      });
      const logIds = harness.sources.map(({ logId }) => logId);
      harness.pollers.start();
      while (harness.clock.elapsedMs < END) {
        void harness.pollers.refresh(logIds, 1500);
        await harness.clock.advance(5000);
      }
      assert.ok(longestWaitMs([0, ...harness.askedAtMs(), END]) <= 60_000);
      for (const atMs of answeredAtMs) {
        const longest = longestWaitMs([OUTAGE, ...atMs, END]);
        assert.ok(longest < 420_000, `${longest} ms without an answer`);
      }
      await harness.pollers.stop();
    });
  }
});

function longestWaitMs(times: readonly number[]): number {
  return Math.max(...times.slice(1).map((atMs, n) => atMs - (times[n] ?? 0)));
}
