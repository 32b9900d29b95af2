import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createBitReader, createBitWriter } from '../../src/ids/golomb.ts';

const RANGE = 100_000;
const sorted = fc
  .array(fc.integer({ min: 0, max: RANGE - 1 }), { maxLength: 50 })
  .map((values) => values.sort((a, b) => a - b));
const divisor = fc.integer({ min: 1, max: 2000 });

test('a distance is a unary quotient and a remainder in truncated binary', () => {
  const out = createBitWriter();
  // Divisor 5: remainders 0, 1, 2 take two bits, 3 and 4 take three (as 6 and 7).
  out.sorted([7, 11], 5); // 7 = 1 * 5 + 2: 10 10; 4 = 0 * 5 + 4: 0 111
  assert.deepEqual([...out.take()], [0b1010_0111]);
});

test('two lists in one stream read back, whatever their divisors', () => {
  fc.assert(
    fc.property(sorted, sorted, divisor, divisor, (first, second, a, b) => {
      const out = createBitWriter();
      out.sorted(first, a);
      out.sorted(second, b);
      const input = createBitReader(out.take());
      assert.deepEqual([...input.sorted(first.length, a, RANGE)], first);
      assert.deepEqual([...input.sorted(second.length, b, RANGE)], second);
      input.end();
    }),
  );
});

test('a hostile count ends with the bytes', () => {
  assert.throws(() => createBitReader(new Uint8Array(3000)).sorted(Number.MAX_SAFE_INTEGER, 710, RANGE), RangeError);
  assert.throws(() => createBitReader(new Uint8Array(3000).fill(255)).sorted(1, 710, RANGE), RangeError);
});

test('numbers beyond the range, bytes left over and bits after the end are refused', () => {
  const out = createBitWriter();
  out.sorted([10], 5); // 110 00: three bits are left
  const [byte = 0] = out.take();
  assert.throws(() => createBitReader(out.take()).sorted(1, 5, 10), RangeError);
  for (const bytes of [[byte, 0], [byte | 1]]) {
    const input = createBitReader(Uint8Array.from(bytes));
    assert.deepEqual([...input.sorted(1, 5, 11)], [10]);
    assert.throws(() => input.end(), RangeError);
  }
});
