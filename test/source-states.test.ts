import assert from 'node:assert/strict';
import test from 'node:test';
import { createSourceStates } from '../src/source-states.ts';
import { createHouse } from './timeline/house.ts';

test('a source that no gateway polls any more is FAILING once its poll is long due', async () => {
  const house = await createHouse();
  const states = createSourceStates(house.store.timelines, house.clock);
  const state = async () => (await states.forRequest()(house.source)).status?.state;
  assert.equal(await state(), undefined);
  house.pollers.start();
  await house.clock.advance(10_000);
  await house.pollers.stop();
  await house.clock.advance(120_000);
  assert.equal(await state(), 'OK', 'it may wait for its turn');
  await house.clock.advance(60_000);
  assert.equal(await state(), 'FAILING');
});

test('a source that is polled when asked is never overdue', async () => {
  const house = await createHouse({ polling: { pollWhen: 'asked' } });
  const states = createSourceStates(house.store.timelines, house.clock);
  house.pollers.start();
  assert.equal(await house.refresh(), false);
  await house.clock.advance(7_200_000);
  assert.equal((await states.forRequest()(house.source)).status?.state, 'OK');
});
