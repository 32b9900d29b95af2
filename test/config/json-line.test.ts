import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { brokenJsonLine } from '../../src/config/json-line.ts';

describe('the line on which a text stops being JSON', () => {
  const cases: readonly (readonly [text: string, line: number])[] = [
    ['', 1],
    ['{"a": 1\n "b": 2}', 2],
    ['{"a": 1,\n}', 2],
    ['{"a":\n}', 2],
    ['[1,\n2,\n]', 3],
    ['{"a": [}]', 1],
    ['\n\n01', 3],
    ['{\n"a": nulll\n}', 2],
    ["{\n\n'a': 1}", 3],
    ['{"a": "over\nthe line"}', 1],
    ['{"a": "\\x"}', 1],
    ['{}\n\n{}', 3],
    ['{\n"a": 1,\n// why\n"b": 2}', 3],
    ['{"a": 1\n\n\n', 1],
  ];
  for (const [text, line] of cases) {
    it(`is ${line} in ${JSON.stringify(text)}`, () => assert.equal(brokenJsonLine(text), line));
  }

  it('is the line in which a stray word was put, at any place between two tokens', () => {
    const places = fc.json({ noUnicodeString: false }).chain((json) => {
      const lines = JSON.stringify(JSON.parse(json), undefined, 1).split('\n');
      return fc.tuple(fc.constant(lines), fc.nat(lines.length));
    });
    fc.assert(
      fc.property(places, ([lines, at]) => {
        const text = lines.toSpliced(at, 0, 'stray').join('\n');
        assert.equal(brokenJsonLine(text), at + 1);
      }),
    );
  });

  it('is found in any text, however deep and long', () => {
    fc.assert(fc.property(fc.string(), (text) => brokenJsonLine(text) >= 1));
    assert.equal(brokenJsonLine('['.repeat(100_000)), 1);
    assert.equal(brokenJsonLine(`"${'\\'.repeat(100_001)}`), 1);
  });
});
