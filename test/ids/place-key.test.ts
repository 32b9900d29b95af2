import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { arrivalOrderKey } from '../../src/ids/id-scheme.ts';
import { placesBetween } from '../../src/ids/place-key.ts';

const MAX_LENGTH = 300;
const [LOW, HIGH] = [arrivalOrderKey(1_790_000_000_000, 0), arrivalOrderKey(1_790_000_000_000, 1)];

const isRising = (keys: readonly string[]) => keys.every((key, n) => n === 0 || (keys[n - 1] ?? '') < key);

describe('place keys', () => {
  it('lie between the two, lowest first, wherever posts were put before', () => {
    const insertion = fc.record({ at: fc.nat(1_000_000), count: fc.integer({ min: 1, max: 40 }) });
    fc.assert(
      fc.property(fc.array(insertion, { maxLength: 60 }), (insertions) => {
        const keys = [LOW, HIGH];
        for (const { at, count } of insertions) {
          const n = at % keys.length;
          const added = placesBetween(keys[n] ?? '', keys[n + 1], count);
          assert.equal(added.length, count);
          keys.splice(n + 1, 0, ...added);
          assert.ok(isRising(keys), keys.join('\n'));
        }
        assert.ok(keys.every((key) => /^1[0-9a-f]+$/.test(key) && key.length <= MAX_LENGTH));
      }),
    );
  });

  it('lie between a key and one that goes on from it, also where its level has no room any more', () => {
    let upper = `${LOW}${'0'.repeat(15)}1`;
    for (let times = 0; times < 3; times += 1) {
      const keys = placesBetween(LOW, upper, 5);
      assert.ok(isRising([LOW, ...keys, upper]), keys.join('\n'));
      upper = keys[0] ?? '';
    }
  });

  it('fit a page after a page below those that were put there, without growing', () => {
    let upper = HIGH;
    for (let page = 0; page < 10_000; page += 1) {
      const [lowest = '', ...others] = placesBetween(LOW, upper, 40);
      assert.ok(LOW < lowest && isRising([lowest, ...others, upper]));
      assert.equal(lowest.length, LOW.length + 16);
      upper = lowest;
    }
  });

  it('fit one above the other, hundreds of times', () => {
    let lower = LOW;
    for (let times = 0; times < 400; times += 1) {
      const [key = ''] = placesBetween(lower, HIGH, 1);
      assert.ok(lower < key && key < HIGH && key.length <= MAX_LENGTH, `after ${times}`);
      lower = key;
    }
  });

  it('are as long as they may be at most: then all get that of the neighbour below', () => {
    let lower = LOW;
    for (let times = 0; times < 10_000; times += 1) lower = placesBetween(lower, HIGH, 1)[0] ?? '';
    assert.ok(lower.length <= MAX_LENGTH);
    assert.deepEqual(placesBetween(lower, HIGH, 3), [lower, lower, lower]);
  });

  it('lie right above the one below where nothing is known above', () => {
    const keys = placesBetween(LOW, undefined, 3);
    assert.ok(isRising([LOW, ...keys, HIGH]));
  });
});
