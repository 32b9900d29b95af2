import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { parseBoundedJson, readAtMost } from '../../src/input/bounded-json.ts';

const nested = (open: string, close: string, levels: number) => `${open.repeat(levels)}${close.repeat(levels)}`;

test('JSON within the bounds is what JSON.parse makes of it, and what is none is told', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 8 }), (text) => {
      assert.deepEqual(parseBoundedJson(text), { value: JSON.parse(text) });
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', ':', '1', ' ') }), (text) => {
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch {
        assert.deepEqual(parseBoundedJson(text), { refused: 'a body that is not JSON', isTooLarge: false });
        return;
      }
      assert.deepEqual(parseBoundedJson(text), { value });
    }),
    { numRuns: 2_000 },
  );
});

test('64 levels are parsed and 65 are not, whatever else closes before', () => {
  for (const [open, close] of [
    ['[', ']'],
    ['[{"a":', '}]'],
  ] as const) {
    const perStep = open.length > 1 ? 2 : 1;
    const inside = perStep === 2 ? nested(open, close, 31) : nested(open, close, 62);
    const text = (core: string) => inside.replace(perStep === 2 ? ':}' : '[]', (end) => end[0] + core + end[1]);
    assert.ok('value' in parseBoundedJson(text('[[]]')));
    assert.ok('value' in parseBoundedJson(text('[[],[],[]]')));
    assert.deepEqual(parseBoundedJson(text('[[],[[[]]]]')), {
      refused: 'JSON of more than 64 levels',
      isTooLarge: true,
    });
  }
});

test('250,000 values are parsed and more are not', () => {
  for (const one of ['0', '""', '"\\",[{"']) {
    // Each but the first takes a comma, the list itself a bracket.
    assert.ok('value' in parseBoundedJson(`[${Array(250_000).fill(one).join(',')}]`));
    assert.deepEqual(parseBoundedJson(`[${Array(250_001).fill(one).join(',')}]`), {
      refused: 'JSON of more than 250000 values',
      isTooLarge: true,
    });
  }
  assert.ok('refused' in parseBoundedJson(`[${Array(125_001).fill('[]').join(',')}]`));
});

test('what stands in strings is no nesting', () => {
  const text = JSON.stringify({ a: '[{'.repeat(100_000), b: '\\"['.repeat(1_000), [','.repeat(300_000)]: '\\' });
  assert.deepEqual(parseBoundedJson(text), { value: JSON.parse(text) });
});

test('what is beyond the bounds is not parsed at all', (t) => {
  const parse = t.mock.method(JSON, 'parse');
  for (const text of [nested('[', ']', 1_000_000), '['.repeat(2_000_000), `[${'{},'.repeat(690_000)}0]`]) {
    assert.ok('refused' in parseBoundedJson(text));
  }
  assert.equal(parse.mock.callCount(), 0);
});

test('a stream is read up to the bound, and closed there', async () => {
  let given = 0;
  let closed = false;
  async function* endless() {
    try {
      for (;;) {
        given += 1;
        yield Buffer.alloc(10, 'x');
      }
    } finally {
      closed = true;
    }
  }
  assert.equal(await readAtMost(endless(), 95), undefined);
  assert.deepEqual([given, closed], [10, true]);
  async function* whole() {
    yield Buffer.from('hö').subarray(0, 2);
    yield Buffer.from('hö').subarray(2);
  }
  assert.equal((await readAtMost(whole(), 3))?.toString(), 'hö');
});

test('a body in very many pieces is read into one place', async () => {
  const kept = new Set<ArrayBufferLike>();
  async function* pieces() {
    for (let n = 0; n < 200_000; n++) {
      const piece = Buffer.from([48 + (n % 10)]);
      if (n % 50_000 === 0) kept.add(piece.buffer);
      yield piece;
    }
  }
  const bytes = await readAtMost(pieces(), 200_000);
  assert.equal(bytes?.toString(), '0123456789'.repeat(20_000));
  assert.equal(await readAtMost(pieces(), 199_999), undefined);
  assert.ok(bytes && !kept.has(bytes.buffer));
});
