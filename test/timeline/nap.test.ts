import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createNap } from '../../src/timeline/nap.ts';
import { createVirtualClock } from '../virtual-clock.ts';

/** A nap, and how long its last sleep took, ms; undefined while it goes on. */
function nap(stopping = new AbortController()) {
  const clock = createVirtualClock();
  const { sleep, begin, wake } = createNap(clock, stopping.signal);
  let sleptMs: number | undefined;

  async function fall(ms: number): Promise<void> {
    const fromMs = clock.elapsedMs;
    sleptMs = undefined;
    void sleep(ms).then(() => {
      sleptMs = clock.elapsedMs - fromMs;
    });
    await clock.advance(0);
  }

  return {
    begin,
    wake,
    clock,
    fall,
    sleptMs: () => sleptMs,
    /** Looks and is woken meanwhile, until it does not come back at once. */
    async lookUntilItRests(): Promise<void> {
      for (let looks = 0; looks < 100; looks += 1) {
        begin();
        wake();
        await fall(5000);
        if (sleptMs === undefined) return;
      }
      assert.fail('it never rested');
    },
  };
}

describe('a nap', () => {
  it('ends in time, or when somebody wakes', async () => {
    const { clock, fall, wake, sleptMs } = nap();
    await fall(5000);
    await clock.advance(4999);
    assert.equal(sleptMs(), undefined);
    await clock.advance(1);
    assert.equal(sleptMs(), 5000);
    await fall(5000);
    await clock.advance(700);
    wake();
    await clock.advance(0);
    assert.equal(sleptMs(), 700);
  });

  it('is none for one who was woken before it, and whole again once that one looked anew', async () => {
    const { clock, begin, wake, fall, sleptMs } = nap();
    wake();
    await fall(5000);
    assert.equal(sleptMs(), 0);
    begin();
    await fall(5000);
    await clock.advance(4999);
    assert.equal(sleptMs(), undefined);
  });

  it('is a moment for one who is woken at each look, so that others have their turn', async () => {
    const { clock, lookUntilItRests, sleptMs } = nap();
    await lookUntilItRests();
    await clock.advance(1);
    assert.equal(sleptMs(), 1);
    await lookUntilItRests();
  });

  it('ends at once where everything stops', async () => {
    const stopping = new AbortController();
    const { clock, lookUntilItRests, sleptMs } = nap(stopping);
    await lookUntilItRests();
    stopping.abort();
    await clock.advance(0);
    assert.equal(sleptMs(), 0);
  });
});
