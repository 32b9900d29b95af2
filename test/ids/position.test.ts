import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { comparePositions, formatPosition, isPosition, parsePosition, ZERO_POSITION } from '../../src/ids/position.ts';

const position = fc.tuple(fc.maxSafeNat(), fc.maxSafeNat());

test('a position parses back to its parts', () => {
  fc.assert(
    fc.property(position, ([ms, n]) => {
      assert.ok(isPosition(formatPosition(ms, n)));
      assert.deepEqual(parsePosition(formatPosition(ms, n)), { ms, n });
    }),
  );
});

test('positions are ordered by time, then by number, not as text', () => {
  const sorted = ['10-0', '9-10', '9-9', '9-0', '0-0'].sort(comparePositions);
  assert.deepEqual(sorted, ['0-0', '9-0', '9-9', '9-10', '10-0']);
});

test('nothing lies before the zero position, and only itself is the same', () => {
  fc.assert(
    fc.property(position, ([ms, n]) => {
      const order = comparePositions(ZERO_POSITION, formatPosition(ms, n));
      assert.equal(Math.sign(order), ms === 0 && n === 0 ? 0 : -1);
    }),
  );
});

for (const bad of [
  '',
  '-',
  '1',
  '1-',
  '-1',
  '01-0',
  '1-00',
  '1.5-0',
  '1-0 ',
  '1-0\n',
  '-1-0',
  '1-2-3',
  '٣-0',
  '9007199254740992-0',
  '0-9007199254740992',
  '9'.repeat(99),
]) {
  test(`${JSON.stringify(bad)} is no position`, () => {
    assert.equal(isPosition(bad), false);
    assert.throws(() => parsePosition(bad), RangeError);
    assert.throws(() => comparePositions(bad, ZERO_POSITION), RangeError);
  });
}

test('parts that are no whole numbers from 0 cannot be formatted', () => {
  for (const bad of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
    assert.throws(() => formatPosition(bad, 0), RangeError);
    assert.throws(() => formatPosition(0, bad), RangeError);
  }
});
