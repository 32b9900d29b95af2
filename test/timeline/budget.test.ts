import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Budget, createBudget, type Share } from '../../src/timeline/budget.ts';
import { createVirtualClock, type VirtualClock } from '../virtual-clock.ts';

/** How many requests a share sends in `ms`, each as soon as it may. */
async function sentWithin(clock: VirtualClock, budget: Budget, share: Share, ms: number): Promise<number> {
  const endMs = clock.now() + ms;
  let sent = 0;
  for (let waitMs = budget.waitMs(share); clock.now() + waitMs < endMs; waitMs = budget.waitMs(share)) {
    await clock.advance(waitMs);
    budget.spend(share, 0);
    sent += 1;
  }
  return sent;
}

describe('the budget of a token', () => {
  it('gives polls 70 % and fills 20 % of what the headers allow', async () => {
    for (const [share, part] of [
      ['poll', 0.7],
      ['fill', 0.2],
    ] as const) {
      const clock = createVirtualClock();
      const budget = createBudget(clock);
      budget.note({ limit: 300, remaining: 300, resetAtMs: clock.now() + 300_000 });
      const sent = await sentWithin(clock, budget, share, 300_000);
      assert.ok(sent <= 300 * part + 1 && sent >= 300 * part * 0.6, `${share}: ${sent} of 300`);
    }
  });

  it('lets a walk of several pages pass, and has the next poll wait for them', () => {
    const clock = createVirtualClock();
    const budget = createBudget(clock);
    budget.note({ limit: 100, remaining: 100, resetAtMs: clock.now() + 70_000 });
    for (let page = 0; page < 3; page += 1) budget.spend('poll', 0);
    const waitMs = budget.waitMs('poll');
    assert.ok(waitMs >= 3000 && waitMs < 3100, `three times 0.7 s / 70 %: ${waitMs} ms`);
    assert.equal(budget.waitMs('fill'), 0, 'the shares are apart');
  });

  it('paces by the known throttle where no headers tell, and not at all without one', () => {
    const budget = createBudget(createVirtualClock());
    budget.spend('poll', 0);
    assert.equal(budget.waitMs('poll'), 0);
    budget.spend('poll', 3000);
    assert.equal(budget.waitMs('poll'), 3000);
  });

  it('sends nothing at remaining 0 or after a 429 until the time that was told', async () => {
    const clock = createVirtualClock();
    const budget = createBudget(clock);
    budget.note({ limit: 15, remaining: 0, resetAtMs: clock.now() + 60_000 });
    for (const share of ['poll', 'fill', 'byId'] as const) assert.equal(budget.waitMs(share), 60_000);
    budget.block(clock.now() + 90_000);
    await clock.advance(60_000);
    assert.equal(budget.blockedMs(), 30_000);
    await clock.advance(30_000);
    assert.equal(budget.waitMs('poll'), 0);
  });

  it('does not believe a reset in the past, nor one in a year', () => {
    const clock = createVirtualClock();
    const budget = createBudget(clock);
    budget.note({ limit: 15, remaining: 0, resetAtMs: clock.now() - 1 });
    budget.note({ limit: 15, remaining: 0, resetAtMs: clock.now() + 365 * 86_400_000 });
    assert.equal(budget.blockedMs(), 0);
  });

  it('does not wait an hour longer when the local clock is set back an hour', () => {
    const clock = createVirtualClock();
    const budget = createBudget(clock);
    budget.block(clock.now() + 60_000);
    assert.equal(budget.blockedMs(), 60_000);
    clock.step(-3_600_000);
    assert.equal(budget.blockedMs(), 60_000);
  });
});
