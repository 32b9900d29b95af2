import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawFleetFaults } from '../../experiment/fleet/fault-plan.ts';
import { FLEET, SMALL_FLEET } from '../../experiment/fleet/options.ts';
import { type FleetResult, mostWithin, runFleet } from '../../experiment/fleet/run.ts';
import { fleetFailures, fleetTable } from '../../experiment/fleet/summary.ts';

describe('a fleet of gateways', () => {
  it('asks no more than one gateway may, and no source waits longer than a failover, while gateways are killed and paused', {
    timeout: 180_000,
  }, async (t) => {
    const result = await runFleet({ ...SMALL_FLEET, seed: 3 }, t.signal);
    t.diagnostic(fleetTable(result));
    assert.deepEqual(fleetFailures(result), []);
  });
});

describe("the fleet's faults", () => {
  it('leave one gateway up at each moment', () => {
    for (let seed = 0; seed < 100; seed += 1) {
      const faults = drawFleetFaults({ ...FLEET, seed, faultEveryMs: 4000 });
      for (const { atMs } of faults) {
        const down = faults.filter((fault) => fault.atMs <= atMs && atMs <= fault.atMs + fault.forMs);
        assert.ok(down.length < FLEET.gateways, `seed ${seed}, ${atMs} ms`);
      }
    }
  });

  it('are kills and pauses, the same for a seed', () => {
    assert.deepEqual(new Set(drawFleetFaults(FLEET).map(({ kind }) => kind)), new Set(['kill', 'pause']));
    assert.deepEqual(drawFleetFaults(FLEET), drawFleetFaults(FLEET));
  });
});

describe('what the fleet calls a failure', () => {
  const calm: FleetResult = {
    options: FLEET,
    faults: [],
    tokens: [{ requests: 100, refused: 0, mostThrottled: 60, mostOfAll: 60 }],
    sources: [{ key: 'town', polls: 9, unpolledMs: 30_000, unpolledFromMs: 0, missing: 0, twice: 0 }],
  };
  const [token, source] = [calm.tokens[0], calm.sources[0]];
  assert.ok(token && source);

  it('nothing, when all holds', () => assert.deepEqual(fleetFailures(calm), []));
  for (const [name, over] of [
    ['a request too many within the throttle', { tokens: [{ ...token, mostThrottled: 61 }] }],
    ['a request too many within what the headers allow', { tokens: [{ ...token, mostOfAll: 61 }] }],
    ['a 429', { tokens: [{ ...token, refused: 1 }] }],
    ['a source that is not polled', { sources: [{ ...source, unpolledMs: 60_000 }] }],
    ['a post that no log has', { sources: [{ ...source, missing: 1 }] }],
    ['a post that a log has twice', { sources: [{ ...source, twice: 1 }] }],
  ] as const) {
    it(name, () => assert.equal(fleetFailures({ ...calm, ...over }).length, 1));
  }

  it('counts the most within any stretch, wherever it begins', () => {
    assert.equal(mostWithin([0, 5, 9, 10, 11, 30], 10), 4);
    assert.equal(mostWithin([], 10), 0);
  });
});
