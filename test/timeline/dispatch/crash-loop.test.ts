import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openSqliteStore } from '../../../src/stores/sqlite.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { createBreakableStore } from '../breakable-store.ts';
import { createPollingHarness } from '../polling-harness.ts';

it('gateways that are killed in their first request send no more than a known throttle allows', async () => {
  const clock = createVirtualClock();
  const real = await openSqliteStore({ file: ':memory:' });
  const throttles = [{ requests: 10, windowMs: 900_000, counts: 'all' as const }];
  let sent = 0;
  for (let life = 0; life < 40; life += 1) {
    const breakable = createBreakableStore(real);
    const { store } = breakable;
    // Its requests are never answered.
    const options = { clock, store, holder: `gateway-${life}`, described: { throttles }, latencyMs: 3_600_000 };
    const harness = await createPollingHarness(options);
    harness.pollers.start();
    await clock.advance(10_000);
    sent += harness.server.requests.length;
    breakable.isOut = true;
    void harness.pollers.stop();
    await clock.advance(6000);
  }
  assert.ok(sent > 0 && sent <= 10, `${sent} requests in ${clock.elapsedMs} ms`);
});
