import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { htmlToText, sanitise } from '../../src/upstreams/html.ts';
import { readTweetText } from '../../src/upstreams/twitter-text.ts';
import { boundWords, MAX_WORDS_BYTES, readHtml } from '../../src/upstreams/words.ts';
import { HOSTILE_TEXTS } from './hostile-text.ts';

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

test('the words of any HTML keep within their bound, and say so where they were cut', () => {
  for (const [shape, make] of Object.entries(HOSTILE_TEXTS)) {
    for (const size of [10_000, 99_000, 400_000]) {
      const { text, html } = readHtml(`<p>begin</p>${make(size)}`);
      assert.ok(bytesOf([text, html]) <= MAX_WORDS_BYTES + 20, shape);
      assert.ok(text.startsWith('begin'), shape);
      if (size === 400_000) assert.ok(text.endsWith('…') && html.includes('…'), shape);
    }
  }
});

test('HTML that is cut is whole: sanitising it again changes nothing, and its text is its own', () => {
  const part = fc.constantFrom(
    '<p>',
    '</p>',
    '<ul><li>',
    '<b>',
    '</b>',
    '<a href="https://a.example/b">',
    '</a>',
    '😀',
    '&amp;',
    '>',
  );
  fc.assert(
    fc.property(fc.array(part, { minLength: 3, maxLength: 20 }), (parts) => {
      const { text, html } = readHtml(`<p>begin</p>${`${parts.join('')}${'word 語 '.repeat(200)}`.repeat(60)}`);
      assert.ok(sanitise(html) === html);
      assert.ok(htmlToText(html).replace(/\s+…$/, '…') === text);
      assert.ok(text.endsWith('…'));
    }),
    { numRuns: 20 },
  );
});

test('words within the bound are whole, also when they are many', () => {
  const long = `<p>${'five words in each line '.repeat(1_000)}</p>`;
  assert.equal(readHtml(long).html, sanitise(long));
});

test('the mark stands behind the last word, inside of its paragraph', () => {
  const { html } = readHtml(`<p>a</p><p>${'b'.repeat(99_000)}</p>`);
  assert.match(html, /^<p>a<\/p><p>b+…<\/p>$/);
});

test('the same HTML is converted once', () => {
  const content = '<p>read at each poll</p>';
  assert.equal(readHtml(content), readHtml(`${content}`.slice()));
});

test('a whole page of the longest posts is remembered', () => {
  const page = Array.from({ length: 40 }, (_, n) => `<p>${n}</p>${'&'.repeat(99_000)}`);
  const first = page.map(readHtml);
  assert.ok(page.every((content, n) => readHtml(content) === first[n]));
});

test('what is remembered is bounded: what was read last stays', () => {
  const first = readHtml('<p>first</p>');
  const often = readHtml('<p>often</p>');
  for (let n = 0; n < 100; n++) {
    readHtml(`<p>${n}${' a'.repeat(14_000)}</p>`);
    assert.equal(readHtml('<p>often</p>'), often);
  }
  assert.notEqual(readHtml('<p>first</p>'), first);
});

test('all tries to cut read at most four times the text', () => {
  const read: number[] = [];
  boundWords('x'.repeat(100_000), (source) => {
    read.push(source.length);
    return { text: source, html: source.length > 10 ? 'x'.repeat(MAX_WORDS_BYTES) : '' };
  });
  assert.ok(read.reduce((sum, length) => sum + length, 0) <= 400_000);
});

test('what a status says is never taken for a tweet, nor a tweet for a status', () => {
  const tweet = 'Genuine tweet: vote on Tuesday';
  const key = `tweet\0${JSON.stringify([tweet, []])}`;
  for (const forged of [key, `html\0${key}`]) readHtml(forged);
  assert.equal(readTweetText(tweet, []).text, tweet);
  assert.equal(readHtml(key).text, htmlToText(sanitise(key)));
});
