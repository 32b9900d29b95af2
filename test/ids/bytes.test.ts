import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createByteReader, createByteWriter } from '../../src/ids/bytes.ts';

const packed = (value: number): Uint8Array => {
  const out = createByteWriter();
  out.varint(value);
  return out.take();
};

test('whole numbers take 7 bits a byte, lowest first', () => {
  assert.deepEqual([...packed(0)], [0]);
  assert.deepEqual([...packed(127)], [127]);
  assert.deepEqual([...packed(300)], [0b1010_1100, 0b10]); // 300 = 2 * 128 + 44
  assert.equal(packed(Number.MAX_SAFE_INTEGER).length, 8); // 53 bits
});

test('what is written is read back', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), fc.uint8Array(), fc.maxSafeNat(), (first, bytes, last) => {
      const out = createByteWriter();
      out.varint(first);
      out.bytes(bytes);
      out.varint(last);
      const input = createByteReader(out.take());
      assert.equal(input.varint(), first);
      assert.deepEqual([...input.bytes(bytes.length)], [...bytes]);
      assert.equal(input.varint(), last);
      input.end();
    }),
  );
});

test('any bytes are read as the number that packs into them, or refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 10 }), (bytes) => {
      const input = createByteReader(bytes);
      try {
        const value = input.varint();
        assert.deepEqual([...packed(value), ...input.bytes()], [...bytes]);
      } catch (error) {
        assert.ok(error instanceof RangeError);
      }
    }),
    { numRuns: 2000 },
  );
});

test('numbers beyond 2^53 - 1 and endless ones are refused', () => {
  assert.throws(() => createByteReader(Uint8Array.from([255, 255, 255, 255, 255, 255, 255, 16])).varint(), RangeError);
  assert.throws(() => createByteReader(new Uint8Array(1000).fill(255)).varint(), RangeError);
  for (const bad of [-1, 0.5, 2 ** 53, Number.NaN]) assert.throws(() => packed(bad), RangeError);
});

test('bytes that are missing or left over are refused', () => {
  const input = createByteReader(Uint8Array.from([1, 2]));
  assert.throws(() => input.bytes(3), RangeError);
  assert.equal(input.byte(), 1);
  assert.throws(() => input.end(), RangeError);
  assert.equal(input.byte(), 2);
  assert.throws(() => input.byte(), RangeError);
  input.end();
});
