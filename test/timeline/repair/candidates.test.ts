import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Post } from '../../../src/post.ts';
import type { DeletionCandidate } from '../../../src/stores/repair-state.ts';
import {
  type Absence,
  afterLook,
  type Court,
  isToAsk,
  judgeAbsence,
  judgeAnswer,
  MOST_CANDIDATES,
  nominated,
  waitsForLook,
} from '../../../src/timeline/repair/candidates.ts';

const INTERVAL_MS = 300_000;
const NOW = 1_790_000_000_000;
const LONG_AGO = NOW - INTERVAL_MS;

const key = (n: number) => String(n).padStart(4, '0');
const known = (n: number) => ({ postId: `${n}@town`, upstreamId: String(n), orderKey: key(n) });
const candidate = (n: number, more: Partial<DeletionCandidate> = {}): DeletionCandidate => ({
  postId: `${n}@town`,
  upstreamId: String(n),
  ...more,
});
const gone = (n: number, goneAtMs: number, credentialId = 'town a') => candidate(n, { goneAtMs, credentialId });
const court: Court = { nowMs: NOW, sweepIntervalMs: INTERVAL_MS, credentialId: 'town a', judgesById: true };
const byAbsence: Court = { ...court, judgesById: false };

/** After a stretch whose lowest post has that key. */
function judged(candidates: readonly DeletionCandidate[], absence: Partial<Absence>, at: Partial<Court> = {}) {
  const {
    candidates: kept,
    removed,
    left,
  } = judgeAbsence(candidates, { missing: [], shown: new Set(), betweenKey: key(0), ...absence }, { ...court, ...at });
  return { kept, removed: removed.map(({ upstreamId }) => upstreamId), left };
}

describe('who is missing in a stretch', () => {
  it('is a candidate', () => {
    assert.deepEqual(judged([], { missing: [known(1)] }), {
      kept: [candidate(1, { absentAtMs: NOW })],
      removed: [],
      left: 0,
    });
  });

  it('finds room among so many candidates, or is counted as left', () => {
    const missing = Array.from({ length: MOST_CANDIDATES + 20 }, (_, n) => known(n));
    const { kept, left } = judged([gone(9000, NOW)], { missing });
    assert.deepEqual([kept.length, left], [MOST_CANDIDATES, 21]);
    assert.deepEqual(kept[0], gone(9000, NOW));
  });

  it('is a candidate no longer once it is shown, whatever was told of it', () => {
    const before = [gone(1, LONG_AGO), candidate(2, { absentAtMs: LONG_AGO })];
    const { kept, removed } = judged(before, { shown: new Set(['1@town', '2@town']) }, { judgesById: false });
    assert.deepEqual([kept, removed], [[], []]);
  });

  it('is removed where it was told gone an interval before', () => {
    assert.deepEqual(judged([gone(1, LONG_AGO)], { missing: [known(1)] }).removed, ['1']);
    assert.deepEqual(judged([gone(1, LONG_AGO + 1)], { missing: [known(1)] }).removed, []);
  });

  it('is not removed where another token was told so', () => {
    assert.deepEqual(judged([gone(1, LONG_AGO, 'town b')], { missing: [known(1)] }).removed, []);
  });

  it('keeps the time at which it was first missed', () => {
    const first = candidate(1, { absentAtMs: NOW - 1000 });
    assert.deepEqual(judged([first], { missing: [known(1)] }).kept, [first]);
  });

  it('was first missed now where the clock was set back', () => {
    const { kept } = judged([candidate(1, { absentAtMs: NOW + 3_600_000 })], { missing: [known(1)] });
    assert.deepEqual(kept, [candidate(1, { absentAtMs: NOW })]);
  });

  describe('the second time, an interval later', () => {
    const twice = candidate(1, { absentAtMs: LONG_AGO });

    it('is removed between its neighbours where reads by id tell nothing', () => {
      assert.deepEqual(judged([twice], { missing: [known(1)] }, { judgesById: false }), {
        kept: [],
        removed: ['1'],
        left: 0,
      });
      const sooner = candidate(1, { absentAtMs: LONG_AGO + 1 });
      assert.deepEqual(judged([sooner], { missing: [known(1)] }, { judgesById: false }).removed, []);
    });

    it('is removed where the answer by id was no verdict', () => {
      assert.deepEqual(judged([{ ...twice, askedAtMs: NOW - 1 }], { missing: [known(1)] }).removed, ['1']);
    });

    it('waits for the answer where reads by id tell', () => {
      assert.deepEqual(judged([twice], { missing: [known(1)] }), { kept: [twice], removed: [], left: 0 });
    });

    it('is forgotten below the end of a listing, where only reads by id could tell', () => {
      const below = { missing: [known(1)], betweenKey: key(2) };
      assert.deepEqual(judged([twice], below, { judgesById: false }), { kept: [], removed: [], left: 0 });
      assert.deepEqual(judged([{ ...twice, askedAtMs: NOW - 1 }], below), { kept: [], removed: [], left: 0 });
    });
  });

  it('is no candidate below the end of a listing, or where nothing known is shown, when nobody can be asked', () => {
    assert.deepEqual(judged([], { missing: [known(1)], betweenKey: key(2) }, byAbsence).kept, []);
    assert.deepEqual(judged([], { missing: [known(1)], betweenKey: undefined }, byAbsence).kept, []);
    assert.equal(judged([], { missing: [known(1)], betweenKey: undefined }).kept.length, 1);
  });
});

describe('whom the upstream is asked for by id', () => {
  type At = Parameters<typeof isToAsk>[1];
  const at: At = { ...court, provenAtMs: NOW - 1 };
  const cases: readonly [string, DeletionCandidate, Partial<At>, boolean][] = [
    ['who was never asked for', candidate(1), {}, true],
    ['who was never asked for, whatever the token did', candidate(1), { provenAtMs: undefined }, true],
    ['anybody, where reads by id tell nothing', candidate(1), { judgesById: false }, false],
    ['who has been gone for an interval', gone(1, LONG_AGO), {}, true],
    ['who has been gone for less', gone(1, LONG_AGO + 1), {}, false],
    ['who has been gone, when the token brought nothing since', gone(1, LONG_AGO), { provenAtMs: LONG_AGO }, false],
    ['who has been gone, when the token never brought anything', gone(1, LONG_AGO), { provenAtMs: undefined }, false],
    ['whom another token did not see', gone(1, NOW, 'town b'), {}, true],
    ['who has been gone since a time to come: the clock was set back', gone(1, NOW + 3_600_000), {}, true],
    ['of whom nothing was told just now', candidate(1, { askedAtMs: NOW - 1 }), {}, false],
    ['of whom nothing was told an interval ago', candidate(1, { askedAtMs: LONG_AGO }), {}, true],
    ['of whom nothing was told in a time to come', candidate(1, { askedAtMs: NOW + 3_600_000 }), {}, true],
  ];
  for (const [name, each, over, expected] of cases) {
    it(`${expected ? 'is' : 'is not'}: ${name}`, () => {
      assert.equal(isToAsk(each, { ...at, ...over }), expected);
    });
  }
});

describe('what an answer by id means', () => {
  const answered = (
    each: DeletionCandidate,
    answer: 'alive' | 'gone' | 'none',
    others: readonly DeletionCandidate[] = [],
  ) => {
    const { candidates, removed } = judgeAnswer(
      [each, ...others],
      [each],
      {
        posts: new Map(answer === 'alive' ? [[each.upstreamId, {} as Post]] : []),
        gone: answer === 'gone' ? [each.upstreamId] : [],
        sentAtMs: NOW,
      },
      court,
    );
    return { kept: candidates, removed: removed.map(({ upstreamId }) => upstreamId) };
  };

  it('alive: it is a candidate no longer, whatever was told before', () => {
    assert.deepEqual(answered(gone(1, LONG_AGO), 'alive'), { kept: [], removed: [] });
  });

  it('gone for the first time: that is remembered', () => {
    assert.deepEqual(answered(candidate(1), 'gone'), { kept: [gone(1, NOW)], removed: [] });
  });

  it('gone for the second time, an interval later: it is removed', () => {
    assert.deepEqual(answered(gone(1, LONG_AGO), 'gone'), { kept: [], removed: ['1'] });
    assert.deepEqual(answered(gone(1, LONG_AGO + 1), 'gone'), { kept: [gone(1, LONG_AGO + 1)], removed: [] });
  });

  it('gone, and missing an interval before: it is removed', () => {
    assert.deepEqual(answered(candidate(1, { absentAtMs: LONG_AGO }), 'gone').removed, ['1']);
    assert.deepEqual(answered(candidate(1, { absentAtMs: LONG_AGO + 1 }), 'gone').removed, []);
  });

  for (const [name, each] of [
    ['by another token', gone(1, LONG_AGO, 'town b')],
    ['in a time to come', gone(1, NOW + 5)],
  ] as const) {
    it(`gone ${name} before: this answer is the first`, () => {
      assert.deepEqual(answered(each, 'gone'), { kept: [gone(1, NOW)], removed: [] });
    });
  }

  it('neither: it is remembered that it was asked for', () => {
    assert.deepEqual(answered(candidate(1), 'none').kept, [candidate(1, { askedAtMs: NOW })]);
  });

  it('nothing about others', () => {
    assert.deepEqual(answered(candidate(1), 'alive', [candidate(2)]).kept, [candidate(2)]);
  });
});

describe('a look at the place of a candidate', () => {
  const cases: readonly [string, DeletionCandidate, Partial<Court>, boolean][] = [
    ['missed an interval ago, where reads by id tell', candidate(1, { absentAtMs: LONG_AGO }), {}, false],
    ['missed an interval ago, where they do not', candidate(1, { absentAtMs: LONG_AGO }), byAbsence, true],
    ['missed less than an interval ago', candidate(1, { absentAtMs: LONG_AGO + 1 }), byAbsence, false],
    ['missed in a time to come', candidate(1, { absentAtMs: NOW + 3_600_000 }), byAbsence, true],
    ['asked for without a verdict', candidate(1, { absentAtMs: LONG_AGO, askedAtMs: NOW }), {}, true],
    ['told gone', candidate(1, { absentAtMs: LONG_AGO, askedAtMs: NOW, goneAtMs: NOW }), {}, false],
    ['named by others, where reads by id do not tell', candidate(1), byAbsence, true],
    ['named by others, and asked for without a verdict', candidate(1, { askedAtMs: LONG_AGO }), {}, true],
    ['looked for by now', candidate(1, { absentAtMs: LONG_AGO, isLookedFor: true }), byAbsence, false],
  ];
  for (const [name, each, over, expected] of cases) {
    it(`is ${expected ? '' : 'not '}for one that was ${name}`, () => {
      assert.equal(waitsForLook(each, { ...court, ...over }), expected);
    });
  }

  it('that decided nothing is the last: the candidate is forgotten', () => {
    const sought = candidate(1, { absentAtMs: LONG_AGO, isLookedFor: true });
    const other = candidate(2, { absentAtMs: NOW });
    assert.deepEqual(afterLook([sought, other], byAbsence), [other]);
  });

  it('leaves alone whom reads by id may still tell of', () => {
    const sought = candidate(1, { absentAtMs: LONG_AGO, askedAtMs: NOW - 2, goneAtMs: NOW - 1, isLookedFor: true });
    assert.deepEqual(afterLook([sought], court), [sought]);
  });

  it('that misses one for the first time is followed by another', () => {
    const { kept } = judged([candidate(1, { isLookedFor: true })], { missing: [known(1)] }, byAbsence);
    assert.deepEqual(kept, [candidate(1, { absentAtMs: NOW })]);
    const ahead = candidate(1, { absentAtMs: NOW + 3_600_000, isLookedFor: true });
    assert.deepEqual(judged([ahead], { missing: [known(1)] }, byAbsence).kept, [candidate(1, { absentAtMs: NOW })]);
  });
});

describe('candidates named by others', () => {
  it('come after those that are there, once, and not beyond the bound', () => {
    const first = gone(1, NOW);
    assert.deepEqual(nominated([first], [candidate(1), candidate(2)]), [first, candidate(2)]);
    const many = Array.from({ length: MOST_CANDIDATES + 1 }, (_, n) => candidate(n + 10));
    assert.equal(nominated([first], many).length, MOST_CANDIDATES);
  });
});
