import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sipHash, sipKey } from '../../src/ids/sip-hash.ts';

const KEY = sipKey(Uint8Array.from({ length: 16 }, (_, n) => n));
const hex = (key: Int32Array, text: string) =>
  sipHash(key, text)
    .map((half) => (half >>> 0).toString(16).padStart(8, '0'))
    .join('');
/** The text whose code units are the bytes 0, 1, 2 ..., low byte first. */
const counting = (bytes: number) =>
  String.fromCharCode(...Array.from({ length: bytes / 2 }, (_, n) => (2 * n) | ((2 * n + 1) << 8)));

test('it is SipHash-2-4: the vectors of its authors for texts of whole code units', () => {
  // Their list gives bytes, lowest first: these are the numbers.
  for (const [bytes, expected] of [
    [0, '726fdb47dd0e0e31'],
    [2, '0d6c8009d9a94f5a'],
    [4, 'cf2794e0277187b7'],
    [6, 'cbc9466e58fee3ce'],
    [8, '93f5f5799a932462'],
  ] as const) {
    assert.equal(hex(KEY, counting(bytes)), expected, `${bytes} bytes`);
  }
});

test('another key, another text and another length give other hashes', () => {
  const other = sipKey(Uint8Array.from({ length: 16 }, (_, n) => n + 1));
  const hashes = ['', '\0', '\0\0', '\0\0\0', '\0\0\0\0', 'a', 'ab', 'abc', 'abcd', 'abcde'].flatMap((text) => [
    hex(KEY, text),
    hex(other, text),
  ]);
  assert.equal(new Set(hashes).size, hashes.length);
});
