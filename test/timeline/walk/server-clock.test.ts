import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createServerClock } from '../../../src/timeline/walk/server-clock.ts';

/** A machine whose wall clock is set and which sleeps, and a server with the true time. */
function createWorld(startMs: number) {
  let trueMs = startMs;
  let wallMs = startMs;
  let awakeMs = 0;
  return {
    trueNow: () => trueMs,
    now: () => wallMs,
    monotonic: () => awakeMs,
    pass(ms: number) {
      trueMs += ms;
      wallMs += ms;
      awakeMs += ms;
    },
    /** Suspended: the wall clock goes on, timers and the monotonic clock stand still. */
    sleep(ms: number) {
      trueMs += ms;
      wallMs += ms;
    },
    step(ms: number) {
      wallMs += ms;
    },
  };
}

const NOW = 1_790_000_000_500;

describe("the server's clock", () => {
  it("is the local one's where there is no Date, and then a request has no time", () => {
    const world = createWorld(NOW);
    const clock = createServerClock(world);
    clock.note({ sentAtMs: NOW, serverDateMs: undefined }, 10);
    assert.equal(clock.now(), NOW);
    assert.equal(clock.lastSentAt(), undefined);
  });

  it('knows when a request was sent, at most a second and a round trip too early', () => {
    const world = createWorld(NOW);
    const clock = createServerClock(world);
    world.step(3_600_000);
    const sentAtMs = world.now();
    world.pass(200);
    clock.note({ sentAtMs, serverDateMs: Math.floor(world.trueNow() / 1000) * 1000 }, 200);
    const early = NOW - (clock.lastSentAt() ?? 0);
    assert.ok(early >= 0 && early < 1200, `${early} ms`);
    const ahead = clock.now() - world.trueNow();
    assert.ok(ahead >= 0 && ahead < 1000, `${ahead} ms`);
  });

  it('is never told too late when a request was sent, whatever the local clock does meanwhile', () => {
    const step = fc.integer({ min: -7_200_000, max: 7_200_000 });
    const wait = fc.integer({ min: 0, max: 20_000 });
    const meanwhile = fc.array(
      fc.oneof(
        fc.record({ type: fc.constant('pass' as const), ms: wait }),
        fc.record({ type: fc.constant('step' as const), ms: step }),
      ),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(meanwhile, meanwhile, meanwhile), { maxLength: 8 }), (requests) => {
        const world = createWorld(NOW);
        const clock = createServerClock(world);
        for (const [before, there, back] of requests) {
          for (const { type, ms } of before) world[type](ms);
          const [sentAtMs, sentTrueMs, sentMonotonic] = [world.now(), world.trueNow(), world.monotonic()];
          for (const { type, ms } of there) world[type](ms);
          const serverDateMs = Math.floor(world.trueNow() / 1000) * 1000;
          for (const { type, ms } of back) world[type](ms);
          clock.note({ sentAtMs, serverDateMs }, world.monotonic() - sentMonotonic);
          assert.ok((clock.lastSentAt() ?? 0) <= sentTrueMs);
        }
      }),
    );
  });

  it('is never told too late over a sleep of the machine', () => {
    const world = createWorld(NOW);
    const clock = createServerClock(world);
    const sentAtMs = world.now();
    world.pass(50);
    world.sleep(3_600_000);
    const serverDateMs = Math.floor(world.trueNow() / 1000) * 1000;
    world.pass(50);
    clock.note({ sentAtMs, serverDateMs }, 100);
    assert.ok((clock.lastSentAt() ?? 0) <= NOW);
  });

  it('goes on with time, not with the local wall clock', () => {
    const world = createWorld(NOW);
    const clock = createServerClock(world);
    clock.note({ sentAtMs: NOW, serverDateMs: Math.floor(NOW / 1000) * 1000 }, 0);
    const ahead = clock.now() - world.trueNow();
    world.step(3_600_000);
    world.pass(60_000);
    assert.equal(clock.now() - world.trueNow(), ahead);
  });
});
