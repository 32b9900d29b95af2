import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Suspect } from '../../src/stores/sweep-state.ts';
import { isToAsk, judge, suspect } from '../../src/timeline/suspects.ts';

const SWEEP_MS = 300_000;
const NOW = 1_790_000_000_000;
const NONE: ReadonlySet<string> = new Set();

const known = (n: number) => ({ postId: `${n}@town`, upstreamId: String(n), orderKey: String(n) });
const suspectOf = (n: number, more: Partial<Suspect> = {}): Suspect => ({
  postId: `${n}@town`,
  upstreamId: String(n),
  ...more,
});
const gone = (n: number, goneAtMs: number, credentialId = 'town a') => suspectOf(n, { goneAtMs, credentialId });

describe('whom to suspect', () => {
  it('takes at most 40 at a time, so that a closed server is not hundreds of deletions', () => {
    const missing = Array.from({ length: 800 }, (_, n) => known(n));
    const first = suspect({ suspects: [gone(900, NOW)], alive: [] }, { missing, shown: NONE });
    assert.equal(first.suspects.length, 40);
    assert.deepEqual(first.suspects.slice(0, 2), [gone(900, NOW), suspectOf(0)]);
    assert.deepEqual(suspect(first, { missing, shown: NONE }), first);
  });

  it('passes over those who are remembered to be alive', () => {
    const after = suspect({ suspects: [], alive: ['1@town'] }, { missing: [known(1), known(2)], shown: NONE });
    assert.deepEqual(after, { suspects: [suspectOf(2)], alive: ['1@town'] });
  });

  it('forgets whoever is shown again', () => {
    const before = { suspects: [gone(1, NOW), suspectOf(2)], alive: ['3@town', '4@town'] };
    const after = suspect(before, { missing: [], shown: new Set(['1@town', '3@town']) });
    assert.deepEqual(after, { suspects: [suspectOf(2)], alive: ['4@town'] });
  });
});

describe('when to ask', () => {
  type At = Parameters<typeof isToAsk>[1];
  const at: At = { nowMs: NOW, sweepIntervalMs: SWEEP_MS, credentialId: 'town a', provenAtMs: NOW - 1 };
  const cases: readonly [string, Suspect, Partial<At>, boolean][] = [
    ['who was never asked for', suspectOf(1), {}, true],
    ['who was never asked for, whatever the token did', suspectOf(1), { provenAtMs: undefined }, true],
    ['who has been gone for a sweep', gone(1, NOW - SWEEP_MS), {}, true],
    ['who has been gone for less', gone(1, NOW - SWEEP_MS + 1), {}, false],
    ['when the token brought nothing since', gone(1, NOW - SWEEP_MS), { provenAtMs: NOW - SWEEP_MS }, false],
    ['when the token never brought anything', gone(1, NOW - SWEEP_MS), { provenAtMs: undefined }, false],
    ['whom another token did not see', gone(1, NOW, 'town b'), {}, true],
    ['who has been gone since a time to come: the clock was set back', gone(1, NOW + 3_600_000), {}, true],
  ];
  for (const [name, each, over, expected] of cases) {
    it(`${expected ? 'asks' : 'does not ask'}: ${name}`, () => {
      assert.equal(isToAsk(each, { ...at, ...over }), expected);
    });
  }
});

describe('what an answer means', () => {
  const answer = { askedAtMs: NOW, credentialId: 'town a', sweepIntervalMs: SWEEP_MS, gone: NONE, alive: NONE };

  it('the first 404 is remembered, the second one a sweep later removes', () => {
    const asked = [suspectOf(1), gone(2, NOW - SWEEP_MS)];
    const after = judge({ suspects: asked, alive: [] }, { ...answer, asked, gone: new Set(['1', '2']) });
    assert.deepEqual(after, { removed: [gone(2, NOW - SWEEP_MS)], suspects: [gone(1, NOW)], alive: [] });
  });

  for (const [name, each] of [
    ['another token', gone(1, NOW - SWEEP_MS, 'town b')],
    ['a time to come', gone(1, NOW + 5)],
    ['less than a sweep ago', gone(1, NOW - SWEEP_MS + 1)],
  ] as const) {
    it(`a 404 of ${name} is not the first of two`, () => {
      const after = judge({ suspects: [each], alive: [] }, { ...answer, asked: [each], gone: new Set(['1']) });
      assert.deepEqual(after, { removed: [], suspects: [gone(1, NOW)], alive: [] });
    });
  }

  it('who is alive is remembered, in bounds, and about whom nothing was learnt stays a suspect', () => {
    const asked = [suspectOf(1), gone(2, NOW - SWEEP_MS)];
    const alive = Array.from({ length: 1000 }, (_, n) => `old-${n}`);
    const after = judge({ suspects: [...asked, suspectOf(3)], alive }, { ...answer, asked, alive: new Set(['1']) });
    assert.deepEqual(after.suspects, [gone(2, NOW - SWEEP_MS), suspectOf(3)]);
    assert.deepEqual([after.alive.length, after.alive.at(0), after.alive.at(-1)], [1000, 'old-1', '1@town']);
    assert.deepEqual(after.removed, []);
  });
});
