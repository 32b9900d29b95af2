import assert from 'node:assert/strict';
import { it } from 'node:test';
import { UpstreamError } from '../../../src/errors.ts';
import { createPollers } from '../../../src/timeline/pollers.ts';
import { createSimulatedServer } from '../../simulated-server.ts';
import { createPollingHarness } from '../polling-harness.ts';

it('a token whose account is not known to be the log’s reads nothing, neither for polls nor for gaps, nor by id', async () => {
  const harness = await createPollingHarness({ maxPagesPerPoll: 2 });
  harness.publish({ agoMs: 300_000 });
  harness.pollers.start();
  await harness.clock.advance(10);
  for (let n = 300; n > 0; n -= 1) harness.publish({ agoMs: n * 10 });
  while ((await harness.log()).gaps.length === 0) await harness.clock.advance(1000);
  await harness.pollers.stop();
  const { version } = await harness.log();

  const { clock, store } = harness;
  const server = createSimulatedServer({ pageSize: 40, clock, scheme: 'mastodon' });
  const source = {
    ...{ ...harness.source, credentialId: 'another token', upstream: server.upstream },
    async confirmAccount() {
      throw new UpstreamError('FORBIDDEN', 'not known to be of the account');
    },
  };
  const keep = { keepHours: 168, keepEntries: 100_000 };
  const pollers = createPollers({ sources: [source], store, clock, holder: 'next', keep, random: () => 0.5 });
  pollers.start();
  await clock.advance(600_000);
  assert.equal(await pollers.readsById.takeById(source, 1), 0);
  await pollers.stop();
  assert.equal(server.requests.length, 0);
  assert.equal((await harness.log()).version, version);
  assert.equal((await harness.status()).problems[0]?.code, 'FORBIDDEN');
});
