import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createIdService } from '../../src/id-service.ts';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import { codesOf, createSource, dataOf, openEdge } from '../edge-fixture.ts';
import { createVirtualClock } from '../virtual-clock.ts';

const town = createSource('town');
const ask = (count?: number) => `mutation { nextIds${count === undefined ? '' : `(count: ${count})`} }`;

test('ids come as decimals that snowflake takes apart, for who is signed in', async (t) => {
  const { generators } = await openSqliteStore({ file: ':memory:' });
  const clock = createVirtualClock();
  const ids = createIdService({ generators, clock, holder: 'a', log: () => {} });
  const running = ids.run();
  await clock.advance(1);
  const edge = await openEdge({ sources: [town], replace: () => ({ ids }) });
  t.after(async () => {
    ids.stop();
    await running;
    await edge.close();
  });

  const { nextIds } = dataOf(await edge.ask(ask(), { userId: 'ann' }));
  assert.equal(nextIds.length, 1);
  const { snowflake } = dataOf(
    await edge.ask(`{ snowflake(value: "${nextIds[0]}", layout: CECOCHAT) { time generator } }`),
  );
  assert.deepEqual(snowflake, { time: new Date(clock.now()).toISOString(), generator: 0 });
  const many = dataOf(await edge.ask(ask(16_384), { userId: 'ann' })).nextIds;
  assert.equal(new Set([...nextIds, ...many]).size, 16_385);

  assert.deepEqual(codesOf(await edge.ask(ask())), ['UNAUTHENTICATED']);
  for (const count of [0, -1, 16_385]) {
    assert.deepEqual(codesOf(await edge.ask(ask(count), { userId: 'ann' })), ['BAD_USER_INPUT count']);
  }
  for (let n = 0; n < 8; n += 1) dataOf(await edge.ask(ask(16_384), { userId: 'ann' }));
  const { errors } = await edge.ask(ask(16_384), { userId: 'ann' });
  assert.equal(errors[0]?.extensions.code, 'RATE_LIMITED');
  assert.match(errors[0]?.extensions.retryAt ?? '', /Z$/);
});

test('a gateway whose settings want no ids says so', async (t) => {
  const edge = await openEdge({ sources: [town] });
  t.after(() => edge.close());
  const { errors } = await edge.ask(ask(), { userId: 'ann' });
  assert.equal(errors[0]?.extensions.code, 'IDS_UNAVAILABLE');
  assert.match(errors[0]?.message ?? '', /ids: \{ enabled: true \}/);
  assert.equal(errors[0]?.extensions.retryAt, undefined);
});
