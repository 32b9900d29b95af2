import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { cleanHtml, cutText, isClean, toLine, toLines } from '../../src/input/clean-text.ts';

const OVERRIDE = '\u202e';
const EMBED = '\u202b';
const POP = '\u202c';
const ISOLATE = '\u2067';
const POP_ISOLATE = '\u2069';

test('a name is one line without controls, and nothing in it turns what stands behind it', () => {
  assert.equal(toLine(`a\0b\u0007\u0085\nc\x7f${OVERRIDE}d${ISOLATE}\ud800`), 'ab cd\ufffd');
});

test('right-to-left names and joined emojis stay as they are', () => {
  for (const name of ['שלום\u200f!', 'نورا\u200c', '\u200eLTR\u200e', '👩\u200d🚀', 'آرش\u061c'])
    assert.equal(toLine(name), name);
});

test('text keeps tabs and lines, whatever ends them, and loses other controls', () => {
  assert.equal(toLines('a\tb\r\nc\rd\0\u009f\x7f'), 'a\tb\nc\nd');
});

test('what a line opens is closed at its end, innermost first, and what closes nothing goes', () => {
  assert.equal(toLines(`a${OVERRIDE}b\nc`), `a${OVERRIDE}b${POP}\nc`);
  assert.equal(toLines(`${ISOLATE}a${EMBED}b`), `${ISOLATE}a${EMBED}b${POP}${POP_ISOLATE}`);
  assert.equal(toLines(`${ISOLATE}a${EMBED}b${POP_ISOLATE}c`), `${ISOLATE}a${EMBED}b${POP}${POP_ISOLATE}c`);
  assert.equal(toLines(`a${POP}${POP_ISOLATE}b`), 'ab');
  assert.equal(
    toLines(`${ISOLATE}a${POP}`),
    `${ISOLATE}a${POP_ISOLATE}`,
    'an isolate is not closed by the end of an embedding',
  );
  const balanced = `${ISOLATE}@שלום${POP_ISOLATE} hi`;
  assert.equal(toLines(balanced), balanced);
});

test('in HTML it is closed where a paragraph ends, not where a span does', () => {
  assert.equal(
    cleanHtml(`<p>a<span>${OVERRIDE}b</span>c</p><p>d</p>`),
    `<p>a<span>${OVERRIDE}b</span>c${POP}</p><p>d</p>`,
  );
  assert.equal(cleanHtml(`${ISOLATE}a<br />b`), `${ISOLATE}a${POP_ISOLATE}<br />b`);
});

test('no text opens more than it closes, however it is nested', () => {
  const part = fc.constantFrom(
    'a',
    '\n',
    OVERRIDE,
    EMBED,
    POP,
    ISOLATE,
    '\u2066',
    '\u2068',
    POP_ISOLATE,
    '\0',
    '\ud83d',
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
      const text = toLines(parts.join(''));
      for (const line of text.split('\n')) {
        const count = (pattern: RegExp) => line.match(pattern)?.length ?? 0;
        assert.equal(count(/[\u202a\u202b\u202d\u202e]/g), count(/\u202c/g));
        assert.equal(count(/[\u2066-\u2068]/g), count(/\u2069/g));
      }
      assert.equal(toLines(text), text, 'reading it again changes nothing');
      assert.ok(isClean(toLine(parts.join(''))));
    }),
  );
});

test('what is cut says so, is no longer than it may be, and tears no pair', () => {
  assert.equal(cutText('abc', 3), 'abc');
  assert.equal(cutText('abcd', 3), 'ab…');
  assert.equal(cutText('a😀bc', 3), 'a…');
});
