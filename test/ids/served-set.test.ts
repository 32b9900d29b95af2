import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  addServed,
  decodeServedSet,
  emptyServedSet,
  encodeServedSet,
  hasServed,
  laterPart,
  MAX_SERVED,
  servedFirst,
} from '../../src/ids/served-set.ts';
import { sipHash, sipKey } from '../../src/ids/sip-hash.ts';

const key = sipKey(Buffer.from('a fixed seed ...'));
const hashes = (count: number, from: string): readonly number[] =>
  Array.from({ length: count }, (_, n) => sipHash(key, `${from} ${n}`)[0] >>> 0);
const base64Length = (bytes: Uint8Array): number => Buffer.from(bytes).toString('base64url').length;

const hash = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const some = fc.oneof(fc.array(hash, { maxLength: 30 }), fc.array(fc.constantFrom(0, 2 ** 32 - 1), { maxLength: 4 }));

test('no served story is ever missed, in either part, before and after it was packed', () => {
  fc.assert(
    fc.property(some, fc.array(some, { maxLength: 4 }), (first, later) => {
      const set = later.reduce((before, some) => addServed(before, some), servedFirst(first));
      const packed = decodeServedSet(encodeServedSet(set));
      for (const served of [...first, ...later.flat()]) {
        assert.ok(hasServed(set, served));
        assert.ok(hasServed(packed, served));
      }
    }),
  );
});

test('a set packs and unpacks to itself', () => {
  fc.assert(
    fc.property(some, some, (first, later) => {
      const set = addServed(servedFirst(first), later);
      assert.deepEqual(decodeServedSet(encodeServedSet(set)), set);
    }),
  );
});

test('more can be added after unpacking', () => {
  const set = addServed(servedFirst(hashes(30, 'first')), hashes(30, 'second'));
  const grown = addServed(decodeServedSet(encodeServedSet(set)), hashes(30, 'third'));
  assert.deepEqual(grown, addServed(set, hashes(30, 'third')));
  for (const served of ['first', 'second', 'third'].flatMap((from) => hashes(30, from)))
    assert.ok(hasServed(grown, served));
});

test('the same stories give the same bytes, in whatever order and how often they come', () => {
  const some = hashes(50, 'a');
  const again = servedFirst([...some.toReversed(), ...some]);
  assert.deepEqual(encodeServedSet(again), encodeServedSet(servedFirst(some)));
  const later = addServed(addServed(emptyServedSet, some.slice(20)), some);
  assert.equal(later.count, 50);
  assert.deepEqual(encodeServedSet(later), encodeServedSet(addServed(emptyServedSet, some)));
});

test('an empty set has served nothing', () => {
  assert.equal(emptyServedSet.count, 0);
  assert.deepEqual(servedFirst([]), emptyServedSet);
  assert.deepEqual(decodeServedSet(encodeServedSet(emptyServedSet)), emptyServedSet);
  assert.ok(!hashes(100, 'x').some((other) => hasServed(emptyServedSet, other)));
});

for (const [first, later] of [
  [500, 0],
  [2000, 0],
  [0, 2000],
  [1000, 1000],
] as const) {
  test(`of ${first} and ${later} served, about one other story in a thousand seems to be served`, () => {
    const set = addServed(servedFirst(hashes(first, 'first')), hashes(later, 'later'));
    const tries = 40_000;
    const wrong = hashes(tries, 'other').filter((other) => hasServed(set, other)).length;
    // 1 / 1024 for the first part and later / (2000 * 1024) for the other: 39 to 78 expected, six sigma around.
    const expected = tries * ((first === 0 ? 0 : 1 / 1024) + later / (2000 * 1024));
    assert.ok(Math.abs(wrong - expected) < 6 * Math.sqrt(expected), `${wrong} instead of ${expected}`);
  });
}

for (const [count, characters] of [
  [20, 44],
  [100, 200],
  [500, 970],
  [MAX_SERVED, 3860],
] as const) {
  test(`${count} served stories take at most ${characters} characters`, () => {
    for (const from of ['a', 'b', 'c', 'd', 'e']) {
      const length = base64Length(encodeServedSet(servedFirst(hashes(count, from))));
      assert.ok(length <= characters, `${length} characters`);
    }
  });
}

test('any bytes are the packing of one set, or refused', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      try {
        assert.deepEqual([...encodeServedSet(decodeServedSet(bytes))], [...bytes]);
      } catch (error) {
        assert.ok(error instanceof RangeError, String(error));
      }
    }),
    { numRuns: 2000 },
  );
});

test('bytes that are cut, left over or count too much are refused', () => {
  const bytes = encodeServedSet(addServed(servedFirst(hashes(20, 'a')), hashes(20, 'b')));
  for (let length = 0; length < bytes.length; length += 1) {
    assert.throws(() => decodeServedSet(bytes.subarray(0, length)), RangeError, String(length));
  }
  assert.throws(() => decodeServedSet(Uint8Array.from([...bytes, 0])), RangeError);
  const huge = [255, 255, 255, 255, 255, 255, 255, 15];
  assert.throws(() => decodeServedSet(Uint8Array.from([...huge, ...huge, 0, 0])), RangeError);
});

test('the later part stays when the first is made anew', () => {
  const later = addServed(emptyServedSet, hashes(9, 'later'));
  const set = servedFirst(hashes(30, 'first'), addServed(servedFirst(hashes(20, 'first')), hashes(9, 'later')));
  assert.deepEqual([set.first, set.later], [servedFirst(hashes(30, 'first')).first, later.later]);
  assert.deepEqual(laterPart(set), later);
});

test('a batch and its parts give the same bytes, even where two stories reduce to one number', () => {
  // The later part tells apart 2,000 · 2^10 numbers, about 21 of the 32 bits: these two differ in the last alone.
  const twins = [0x01234567, 0x01234566];
  const apart = twins.reduce((set, story) => addServed(set, [story]), emptyServedSet);
  assert.deepEqual(encodeServedSet(addServed(emptyServedSet, twins)), encodeServedSet(apart));
});
