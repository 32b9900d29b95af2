import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UpstreamError } from '../../../src/errors.ts';
import { createPollingHarness, type PollingHarnessOptions } from '../polling-harness.ts';

/** The same source after a restart, beside an instance document that answers 503. */
async function restarted({ clock, server, store }: Pick<PollingHarnessOptions, 'clock' | 'server' | 'store'>) {
  assert.ok(clock && server && store);
  const describe = async () => {
    throw new UpstreamError('UNAVAILABLE', 'GET https://town.example/api/v2/instance answered 503', { status: 503 });
  };
  return createPollingHarness({ clock, store, server: { ...server, upstream: { ...server.upstream, describe } } });
}

describe('an upstream that does not say what it is after a restart', () => {
  for (const scheme of ['mastodon', 'ulid', 'opaque'] as const) {
    it(`is read on as it was, with ${scheme} ids`, async () => {
      const harness = await createPollingHarness({ scheme, isOpaque: scheme === 'opaque' });
      for (let n = 0; n < 5; n += 1) harness.publish();
      harness.pollers.start();
      await harness.clock.advance(60_000);
      await harness.pollers.stop();
      const next = await restarted(harness);
      next.pollers.start();
      for (let n = 0; n < 100; n += 1) harness.publish({ agoMs: n * 10 });
      await harness.clock.advance(120_000);
      assert.deepEqual(new Set(await next.entries()), new Set(harness.server.timeline.posts.keys()));
      const { state, software, problems } = await next.status();
      assert.deepEqual([state, software, problems], ['OK', 'simulated 1.0', []]);
      await next.pollers.stop();
    });
  }

  it('and never did is not read, and that is told', async () => {
    const harness = await createPollingHarness();
    harness.publish();
    const next = await restarted(harness);
    next.pollers.start();
    await next.clock.advance(60_000);
    assert.equal((await next.status()).state, 'FAILING');
    assert.equal(harness.server.requests.length, 0);
    await next.pollers.stop();
  });
});
