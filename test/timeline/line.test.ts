import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createLine } from '../../src/timeline/line.ts';

interface Guest {
  readonly name: string;
  readonly isPreferred: boolean;
  /** How many turns it takes at once. */
  readonly takes: number;
  /** How long it stays away after each turn, ms. */
  readonly awayMs: number;
}

/** Guests who come for `ms`, and how often each had a turn; how often anybody asked. */
function run(guests: readonly Guest[], { ms, intervalMs = 1000 }: { ms: number; intervalMs?: number }) {
  const turns = new Map(guests.map((guest) => [guest, 0]));
  const nextMs = new Map(guests.map((guest) => [guest, 0]));
  let nowMs = 0;
  const line = createLine<Guest>((guest) => nextMs.set(guest, nowMs));
  let asked = 0;
  for (; nowMs < ms; nowMs = Math.min(...nextMs.values())) {
    for (const guest of guests) {
      if ((nextMs.get(guest) ?? 0) > nowMs) continue;
      asked += 1;
      const waitMs = line.waitMs(guest, {
        nowMs,
        intervalMs,
        isPreferred: guest.isPreferred,
        joins: true,
        isUrgent: false,
      });
      if (waitMs > 0) {
        nextMs.set(guest, nowMs + waitMs);
        continue;
      }
      for (let n = 0; n < guest.takes; n += 1) line.went(guest, { nowMs, intervalMs });
      turns.set(guest, (turns.get(guest) ?? 0) + 1);
      nextMs.set(guest, nowMs + Math.max(1, guest.awayMs));
    }
  }
  return { turns, asked, taken: [...turns].reduce((sum, [{ takes }, count]) => sum + takes * count, 0) };
}

const guest = (name: string, over: Partial<Guest> = {}): Guest => {
  return { name, isPreferred: false, takes: 1, awayMs: 0, ...over };
};

describe('a line', () => {
  it('lets everybody pass at once where nothing is paced', () => {
    const line = createLine<string>(() => {});
    for (const name of ['a', 'b', 'a']) {
      const turn = { nowMs: 0, intervalMs: 0 };
      assert.equal(line.waitMs(name, { ...turn, isPreferred: false, joins: true, isUrgent: false }), 0);
      line.went(name, turn);
    }
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

  it('wakes its guests a few times a turn, not all of them', () => {
    const guests = Array.from({ length: 300 }, (_, n) => guest(`guest ${n}`, { isPreferred: n % 100 === 0 }));
    const { asked, taken } = run(guests, { ms: 900_000 });
    assert.ok(asked <= 10 * taken + 300, `${asked} for ${taken} turns`);
  });

  it('does not wait for one who went away', () => {
    const line = createLine<string>(() => {});
    const turn = (nowMs: number) => ({
      nowMs,
      intervalMs: 1000,
      isPreferred: false,
      joins: true,
      isUrgent: false,
    });
    line.went('a', turn(0));
    assert.equal(line.waitMs('gone', turn(1)), 999);
    assert.equal(line.waitMs('b', turn(1)), 1999);
    assert.equal(line.waitMs('b', turn(2000)), 0);
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

  it('never has guests wake each other for ever', () => {
    const kinds = { source: fc.nat(2), share: fc.constantFrom('fill', 'sweep'), is: fc.boolean() };
    const change = fc.record({ ...kinds, what: fc.constantFrom('wants', 'wants', 'isWatched', 'isUrgent', 'isKept') });
    const stage = fc.record({ waitMs: fc.nat(12_000), takes: fc.nat(4), changes: fc.array(change, { maxLength: 4 }) });
    fc.assert(
      fc.property(fc.array(stage, { minLength: 20, maxLength: 60 }), (stages) => {
        const awake = new Set([0, 1, 2]);
        const line = createLine<string>((guest) => awake.add(Number(guest[0])));
        const isSo = new Map<string, boolean>();
        let nowMs = 0;

        /** A source's loop looks for work, as it does each time it is woken. */
        function look(source: number, takes: number): void {
          for (const share of ['fill', 'sweep']) {
            const guest = `${source} ${share}`;
            if (!isSo.get(`wants ${guest}`)) continue;
            const isPreferred = share === 'fill' || isSo.get(`isWatched ${source} sweep`) === true;
            const isUrgent = share === 'fill' && isSo.get('isUrgent 0 fill') === true;
            const isKept = isSo.get(`isKept ${guest}`) === true;
            const waitMs = line.waitMs(guest, { nowMs, intervalMs: 5000, isPreferred, joins: !isKept, isUrgent });
            if (waitMs > 0 || isKept) continue;
            for (let n = 0; n < takes; n += 1) line.went(guest, { nowMs, intervalMs: 5000 });
            isSo.set(`wants ${guest}`, false);
          }
        }

        for (const { waitMs, takes, changes } of stages) {
          nowMs += waitMs;
          for (const { what, source, share, is } of changes) isSo.set(`${what} ${source} ${share}`, is);
          let looks = 0;
          for (const source of awake) {
            awake.delete(source);
            look(source, takes);
            looks += 1;
            assert.ok(looks < 100, 'they come to rest');
          }
          for (const { source } of changes) awake.add(source);
        }
      }),
      { numRuns: 500 },
    );
  });
});
