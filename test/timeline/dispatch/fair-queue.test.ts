import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createFairQueue } from '../../../src/timeline/dispatch/fair-queue.ts';

interface Guest {
  readonly name: string;
  readonly isPreferred: boolean;
  /** How many turns it takes at once. */
  readonly takes: number;
  /** How long it stays away after each turn, ms. */
  readonly awayMs: number;
}

/** Guests who come for `ms`, and how often each had a turn. */
function run(guests: readonly Guest[], { ms, intervalMs = 1000 }: { ms: number; intervalMs?: number }) {
  const turns = new Map(guests.map((guest) => [guest, 0]));
  const nextMs = new Map(guests.map((guest) => [guest, 0]));
  const queue = createFairQueue<Guest>(0);
  let nowMs = 0;
  while (nowMs < ms) {
    const turn = { nowMs, intervalMs };
    const here = guests.filter((guest) => (nextMs.get(guest) ?? 0) <= nowMs);
    const next = queue.next(
      here.map((guest) => ({ guest, isPreferred: guest.isPreferred, isUrgent: false })),
      turn,
    )?.guest;
    if (next === undefined) {
      const comes = guests.filter((guest) => !here.includes(guest)).map((guest) => nextMs.get(guest) ?? 0);
      const freeMs = here.length > 0 ? nowMs + queue.freeInMs(turn) : Number.POSITIVE_INFINITY;
      const laterMs = Math.min(freeMs, ...comes);
      assert.ok(laterMs > nowMs, 'whoever waits is served, or there is no turn');
      nowMs = laterMs;
      continue;
    }
    for (let n = 0; n < next.takes; n += 1) queue.went(next, turn);
    turns.set(next, (turns.get(next) ?? 0) + 1);
    nextMs.set(next, nowMs + next.awayMs);
  }
  return { turns, taken: [...turns].reduce((sum, [{ takes }, count]) => sum + takes * count, 0) };
}

const guest = (name: string, over: Partial<Guest> = {}): Guest => {
  return { name, isPreferred: false, takes: 1, awayMs: 0, ...over };
};

describe('a fair queue', () => {
  it('lets everybody pass at once where nothing is paced, by turns', () => {
    const queue = createFairQueue<string>(0);
    const waiting = ['a', 'b', 'c'].map((name) => ({ guest: name, isPreferred: false, isUrgent: false }));
    const turn = { nowMs: 0, intervalMs: 0 };
    const went = Array.from({ length: 6 }, () => {
      const next = queue.next(waiting, turn)?.guest ?? '';
      queue.went(next, turn);
      return next;
    });
    assert.deepEqual(went, ['a', 'b', 'c', 'a', 'b', 'c']);
  });

  it('has one that takes many turns pay for them itself, and a quiet one hardly wait', () => {
    const busy = guest('busy', { takes: 20 });
    const quiet = guest('quiet', { awayMs: 30_000 });
    const { turns } = run([busy, quiet], { ms: 3_600_000 });
    assert.ok((turns.get(quiet) ?? 0) >= 3600 / 32, `${turns.get(quiet)} turns of the quiet one`);
    assert.ok(
      (turns.get(busy) ?? 0) >= (3600 - 120) / 20 - 1,
      `${turns.get(busy)} of the busy one, which has the rest`,
    );
  });

  it('gives equal parts to those who want more than there is, however much each takes at once', () => {
    const guests = [1, 3, 7, 12].map((takes) => guest(`takes ${takes}`, { takes }));
    const { turns } = run(guests, { ms: 4_800_000 });
    for (const each of guests) {
      const part = (turns.get(each) ?? 0) * each.takes;
      assert.ok(part >= 1170 && part <= 1230, `${each.name}: ${part} of 4800`);
    }
  });

  it('serves the preferred first, and leaves every fourth turn to the others', () => {
    const watched = guest('watched', { isPreferred: true });
    const others = Array.from({ length: 9 }, (_, n) => guest(`other ${n}`));
    const { turns } = run([...others, watched], { ms: 3_600_000 });
    assert.ok(Math.abs((turns.get(watched) ?? 0) - 2700) < 30, `${turns.get(watched)} of 3600`);
    for (const other of others) assert.ok((turns.get(other) ?? 0) >= 98, `${other.name}: ${turns.get(other)}`);
    const modest = guest('modest', { isPreferred: true, awayMs: 5000 });
    const served = run([...others, modest], { ms: 3_600_000 }).turns.get(modest) ?? 0;
    assert.ok(served >= 3600 / 6.1, `a reader every 5 s among nine that want all: ${served}`);
  });

  it('has one go first who was busy each time when the preferred had had enough turns', () => {
    const queue = createFairQueue<string>(0);
    const [preferred, other] = [
      { guest: 'preferred', isPreferred: true, isUrgent: false },
      { guest: 'other', isPreferred: false, isUrgent: false },
    ];
    const went = Array.from({ length: 8 }, (_, n) => {
      const turn = { nowMs: n * 1000, intervalMs: 1000 };
      const next = queue.next(n % 3 === 2 ? [preferred] : [other, preferred], turn)?.guest ?? '';
      queue.went(next, turn);
      return next;
    });
    assert.deepEqual(
      went.map((guest) => guest === 'other'),
      [false, false, false, true, false, false, false, true],
    );
  });

  it('has of those that had as much the first that waits go first, whoever came first', () => {
    const queue = createFairQueue<string>(0);
    const next = (nowMs: number, ...names: readonly string[]) => {
      const waiting = names.map((guest) => ({ guest, isPreferred: false, isUrgent: false }));
      return queue.next(waiting, { nowMs, intervalMs: 1000 })?.guest;
    };
    assert.equal(next(0, 'a'), 'a');
    queue.went('a', { nowMs: 0, intervalMs: 1000 });
    assert.deepEqual([next(500, 'c'), next(700, 'b', 'c'), next(1000, 'b', 'c')], [undefined, undefined, 'b']);
  });

  it('does not wait for one who went away', () => {
    const queue = createFairQueue<string>(0);
    const next = (nowMs: number, ...guests: readonly string[]) =>
      queue.next(
        guests.map((name) => ({ guest: name, isPreferred: false, isUrgent: false })),
        { nowMs, intervalMs: 1000 },
      )?.guest;
    assert.equal(next(0, 'a', 'gone'), 'a');
    queue.went('a', { nowMs: 0, intervalMs: 1000 });
    assert.equal(next(1, 'a', 'gone'), undefined);
    assert.equal(next(1000, 'a'), 'a');
  });

  it('lets one that is urgent take turns that nobody used, as many as there were', () => {
    const queue = createFairQueue<string>(0);
    const fill = { guest: 'fill', isPreferred: true, isUrgent: true };
    const turn = { nowMs: 10_000, intervalMs: 1000 };
    let fills = 0;
    for (; queue.next([fill], turn) !== undefined; fills += 1) queue.went('fill', turn);
    assert.equal(fills, 11, 'one at 0 s, one each second since');
    assert.equal(queue.waitMs(fill, turn), 1000, 'nothing is owed');
  });

  it('starves nobody and leaves no turn unused while somebody waits', () => {
    const one = fc.record({
      isPreferred: fc.boolean(),
      takes: fc.integer({ min: 1, max: 25 }),
      awayMs: fc.constantFrom(0, 0, 100, 7000, 60_000),
    });
    fc.assert(
      fc.property(fc.array(one, { minLength: 1, maxLength: 12 }), (kinds) => {
        const guests = [...kinds, { isPreferred: false, takes: 1, awayMs: 0 }].map((kind, n) => guest(`${n}`, kind));
        const ms = 7_200_000;
        const { turns, taken } = run(guests, { ms });
        const most = 7200 + guests.reduce((sum, { takes }) => sum + takes, 0);
        assert.ok(taken <= most && taken >= 7200 * 0.97, `${taken} turns in 7200 s`);
        for (const each of guests) {
          const rivals = guests.length;
          const least = Math.min(7200 / (4.5 * rivals), 7_200_000 / (each.awayMs + 1000) / 4.5 / rivals);
          assert.ok((turns.get(each) ?? 0) * each.takes >= least, `${each.name}: ${turns.get(each)} turns`);
        }
      }),
      { numRuns: 40 },
    );
  });
});
