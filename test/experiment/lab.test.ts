import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRandom } from '../../experiment/random.ts';
import { OURS, type RunResult, runScenario } from '../../experiment/run.ts';
import { SCENARIOS } from '../../experiment/scenarios.ts';
import { failures, summarise } from '../../experiment/summary.ts';
import { drawLateness } from '../../experiment/traffic.ts';

/** A tenth of the lab's traffic, with fixed seeds. */
function small(name: string) {
  const scenario = SCENARIOS.find((each) => each.name === name);
  assert.ok(scenario);
  const { wave } = scenario;
  return {
    ...scenario,
    trafficMs: scenario.trafficMs / 10,
    ...(wave && { wave: { ...wave, posts: wave.posts / 10 } }),
  };
}

describe('the leak lab, a small one', () => {
  for (const { name } of SCENARIOS) {
    it(`Sluice loses nothing, repeats nothing and tells every change: ${name}`, async () => {
      const { tallies, posts, changes } = await runScenario(small(name), 1);
      const [ours] = tallies;
      assert.ok(posts > 50);
      assert.deepEqual([ours?.name, ours?.lost, ours?.lostInGaps, ours?.twice], [OURS, 0, 0, 0]);
      const { untoldRemovals, untoldEdits, wronglyRemoved } = changes;
      assert.deepEqual([untoldRemovals, untoldEdits, wronglyRemoved], [0, 0, 0]);
    });
  }

  it('the plain poller loses posts wherever they are late', async () => {
    for (const name of ['1/s fediverse calm', '20/s fediverse rough']) {
      const { tallies } = await runScenario(small(name), 2);
      assert.ok((tallies[1]?.lost ?? 0) > 0, name);
    }
  });

  it('is the same for the same seed, and another for another', async () => {
    const scenario = small('1/s fediverse rough');
    const first = await runScenario(scenario, 3);
    assert.deepEqual(await runScenario(scenario, 3), first);
    assert.notDeepEqual(await runScenario(scenario, 4), first);
  });
});

describe("the lab's traffic", () => {
  const drawn = (lateness: 'twitter' | 'fediverse') => {
    const random = createRandom(5);
    return Array.from({ length: 20_000 }, () => drawLateness(lateness, random)).sort((a, b) => a - b);
  };
  const share = (values: readonly number[], from: number, to: number) =>
    values.filter((value) => value >= from && value <= to).length / values.length;

  it('is late as it was measured on Twitter', () => {
    const late = share(drawn('twitter'), 600, 4100);
    assert.ok(late > 0.007 && late < 0.013, `${late}`);
    assert.equal(share(drawn('twitter'), 6, 599), 0);
  });

  it('is late as it was recorded on the fediverse', () => {
    const values = drawn('fediverse');
    for (const [upTo, expected] of [
      [2500, 0.5],
      [40_000, 0.9],
      [630_000, 0.95],
      [10_800_000, 1],
    ] as const) {
      assert.ok(Math.abs(share(values, 0, upTo) - expected) < 0.01, `${upTo} ms`);
    }
  });
});

describe('what the lab calls a failure', () => {
  const scenario = small('1/s twitter calm');
  const tally = (name: string, over: Partial<RunResult['tallies'][number]> = {}) => ({
    name,
    lost: 0,
    lostInGaps: 0,
    twice: 0,
    requests: 100,
    readAgain: 0,
    delaysMs: [5],
    ...over,
  });
  const told = { deleted: 9, untoldRemovals: 0, edited: 9, untoldEdits: 0, wronglyRemoved: 0 };
  const failuresOf = (ours: Partial<RunResult['tallies'][number]>, plain = { lost: 1 }, changes = {}) => {
    const tallies = [tally(OURS, ours), tally('plain', plain)];
    const log = { counts: { posts: 0, requests: 0, duplicatesDropped: 0, leaksPrevented: 0, backfilled: 0, gaps: 0 } };
    const result = {
      scenario: scenario.name,
      seed: 1,
      posts: 10,
      tallies,
      changes: { ...told, ...changes },
      log: { ...log, overlapMs: 1000 },
    };
    return failures([summarise(scenario, [result])]);
  };

  it('nothing, when all holds', () => assert.deepEqual(failuresOf({ requests: 125 }), []));
  for (const [name, ours, plain, changes] of [
    ['a lost post', { lost: 1 }],
    ['a post that came twice', { twice: 1 }],
    ['more than 1.25 times the requests', { requests: 126 }],
    ['a longer delay', { delaysMs: [6] }],
    ['a plain poller that lost nothing', {}, { lost: 0 }],
    ['a removal that was not told', {}, { lost: 1 }, { untoldRemovals: 1 }],
    ['an edit that was not told', {}, { lost: 1 }, { untoldEdits: 1 }],
    ['a post that was removed although it is there', {}, { lost: 1 }, { wronglyRemoved: 1 }],
  ] as const) {
    it(name, () => assert.equal(failuresOf(ours, plain, changes).length, 1));
  }
});
