import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { commands, steps } from './model/commands.ts';
import { type Ground, redisGround, sqliteGround } from './model/ground.ts';
import { type FirstDesignStore, firstDesignReader } from './model/reader.ts';
import { createWorld, type World } from './model/world.ts';

/** `npm run test:model` makes 100,000 on each store. */
const STEPS = Number(process.env.MODEL_STEPS ?? 2000);

const play = (setup: () => World) =>
  fc.asyncProperty(commands, async (some) => {
    const world = setup();
    await fc.asyncModelRun(() => ({ model: {}, real: world }), some);
    await world.end();
  });

for (const [name, open] of [
  ['a real redis-server', redisGround],
  ['SQLite', sqliteGround],
] as const satisfies readonly (readonly [string, () => Promise<Ground>])[]) {
  test(`I1 to I7 hold over three gateways on ${name}, whatever is evicted, expires, fails over or is abandoned`, async (t) => {
    const ground = await open();
    t.after(() => ground.close());
    const before = steps.made;
    while (steps.made - before < STEPS) {
      await fc.assert(
        play(() => createWorld({ ground })),
        { numRuns: 5, endOnFailure: STEPS > 2000 },
      );
    }
    t.diagnostic(`${steps.made - before} steps`);
  });
}

test('the published first design (one list a user, 30 min, no feedId) repeats stories in the same world', async () => {
  const found = await fc.check(
    play(() => {
      const store: FirstDesignStore = { lists: new Map() };
      return createWorld({ readerOf: (clock, catalogue) => firstDesignReader(store, clock, catalogue) });
    }),
    { numRuns: 50 },
  );
  assert.ok(found.failed);
  assert.match(String((found.errorInstance as Error | null)?.message), /^I1: .* came twice$/);
});
