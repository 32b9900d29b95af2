import assert from 'node:assert/strict';
import test from 'node:test';
import { createSourceStates } from '../src/source-states.ts';
import { createPollingHarness } from './timeline/polling-harness.ts';

test('a source that no gateway polls any more is FAILING once its poll is long due', async () => {
  const harness = await createPollingHarness();
  const states = createSourceStates(harness.store.timelines, harness.clock);
  const state = async () => (await states.forRequest()(harness.source)).status?.state;
  assert.equal(await state(), undefined);
  harness.pollers.start();
  await harness.clock.advance(10_000);
  await harness.pollers.stop();
  await harness.clock.advance(120_000);
  assert.equal(await state(), 'OK', 'it may wait for its turn');
  await harness.clock.advance(60_000);
  assert.equal(await state(), 'FAILING');
});

test('a source that is polled when asked is never overdue', async () => {
  const harness = await createPollingHarness({ polling: { pollWhen: 'asked' } });
  const states = createSourceStates(harness.store.timelines, harness.clock);
  harness.pollers.start();
  assert.equal(await harness.refresh(), false);
  await harness.clock.advance(7_200_000);
  assert.equal((await states.forRequest()(harness.source)).status?.state, 'OK');
});
