import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { InstanceItem } from '../../src/stores/feed-store.ts';
import { decodeInstance, encodeInstance } from '../../src/stores/instance-codec.ts';

const HEADER = 32;
const anyHash = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value) => value.toString(16).padStart(16, '0'));
const anyReason = fc.record(
  { kind: fc.constantFrom('POPULAR' as const, 'OTHER' as const), text: fc.string({ unit: 'binary' }) },
  { noNullPrototype: true },
);
const anyItem: fc.Arbitrary<InstanceItem> = fc.record(
  { hash: anyHash, reason: anyReason },
  { requiredKeys: ['hash'], noNullPrototype: true },
);
const anyItems = fc.array(anyItem, { maxLength: 40 });

describe('an encoded instance', () => {
  it('decodes to what was encoded, whole and in every slice', () => {
    fc.assert(
      fc.property(anyItems, fc.nat(50), fc.nat(50), (items, offset, count) => {
        const bytes = encodeInstance({ generatedAtMs: 1_792_000_000_123, items });
        const { generatedAtMs, size, ...decoded } = decodeInstance(bytes);
        assert.deepEqual([generatedAtMs, size], [1_792_000_000_123, items.length]);
        assert.deepEqual(decoded.items(0, size), items);
        assert.deepEqual(decoded.items(offset, count), items.slice(offset, offset + count));
        const hashes = items.slice(offset, count).map(({ hash }) => hash);
        assert.deepEqual(decoded.hashes(offset, count), Buffer.from(hashes.join(''), 'hex'));
      }),
    );
  });

  it('takes 8 bytes an item, 1 more with up to 255 reasons and 2 with more', () => {
    const hashes = Array.from({ length: 500 }, (_, index) => index.toString(16).padStart(16, '0'));
    const size = (items: InstanceItem[]) => encodeInstance({ generatedAtMs: 1, items }).length;
    assert.equal(size(hashes.map((hash) => ({ hash }))), HEADER + 500 * 8);
    const withReasons = (distinct: number) =>
      hashes.map((hash, index) => ({ hash, reason: { kind: 'OTHER' as const, text: `${index % distinct}` } }));
    const table = (distinct: number) =>
      JSON.stringify(Array.from({ length: distinct }, (_, index) => ['OTHER', `${index}`])).length;
    assert.equal(size(withReasons(60)), HEADER + 500 * 9 + table(60));
    const width = (distinct: number) => encodeInstance({ generatedAtMs: 1, items: withReasons(distinct) }).readUInt8(5);
    assert.deepEqual([width(255), width(256)], [1, 2]);
  });

  it('keeps many distinct reasons compressed, and as they were', () => {
    const items = Array.from({ length: 500 }, (_, index) => ({
      hash: index.toString(16).padStart(16, '0'),
      reason: {
        kind: 'SIMILAR' as const,
        text: `Because you have read story number ${index} of the author`.padEnd(80, '.'),
      },
    }));
    const bytes = encodeInstance({ generatedAtMs: 1, items });
    assert.ok(bytes.length < HEADER + 500 * (8 + 2) + 500 * 8, `${bytes.length} bytes`);
    assert.deepEqual(decodeInstance(bytes).items(0, 500), items);
  });

  it('refuses hashes of another form', () => {
    for (const hash of ['', '123', 'ABCDEF0123456789', '0123456789abcdeg', '0123456789abcdef0', '0123456789abcde\n']) {
      assert.throws(() => encodeInstance({ generatedAtMs: 1, items: [{ hash }] }), RangeError);
    }
  });

  it('refuses more items than an instance may hold', () => {
    const items = Array.from({ length: 100_001 }, () => ({ hash: '0123456789abcdef' }));
    assert.throws(() => encodeInstance({ generatedAtMs: 1, items }), RangeError);
  });
});

describe('decoding', () => {
  const reason = { kind: 'RECENT', text: 'new' } as const;
  const good = encodeInstance({
    generatedAtMs: 1,
    items: [{ hash: '00000000000000ff', reason }, { hash: 'ff00000000000000' }],
  });
  const changed = (at: number, byte: number) => {
    const bytes = Buffer.from(good);
    bytes[at] = byte;
    return bytes;
  };

  it('refuses bytes that are cut or have more behind', () => {
    for (let length = 0; length < good.length; length++) {
      assert.throws(() => decodeInstance(good.subarray(0, length)), RangeError);
    }
    assert.throws(() => decodeInstance(Buffer.concat([good, Buffer.from([0])])), RangeError);
  });

  for (const [what, bytes] of Object.entries({
    'another magic': changed(0, 0),
    'another version': changed(4, 1),
    'a plain table that is said to be compressed': changed(4, 3),
    'another width of the plane': changed(5, 2),
    'another number of reasons': changed(7, 2),
    'another number of items': changed(11, 3),
    'a huge number of items': changed(8, 255),
    'a time that is none': changed(16, 255).fill(255, 16, 24),
    'an expiry that is none': changed(24, 255).fill(255, 24, 32),
    'a reason that is not in the table': changed(HEADER + 16, 2),
    'a table that is not JSON': changed(good.length - 1, 0x41),
  })) {
    it(`refuses ${what}`, () => {
      assert.throws(() => decodeInstance(bytes), RangeError);
    });
  }

  it('throws nothing but RangeError on any bytes', () => {
    const damaged = fc.tuple(fc.nat(good.length - 1), fc.nat(255)).map(([at, byte]) => changed(at, byte));
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), damaged), (bytes) => {
        try {
          decodeInstance(bytes);
        } catch (error) {
          assert.ok(error instanceof RangeError, `${error}`);
        }
      }),
      { numRuns: 500 },
    );
  });
});
