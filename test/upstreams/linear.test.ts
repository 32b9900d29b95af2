import assert from 'node:assert/strict';
import test from 'node:test';
import { isWebUrl, parseTime } from '../../src/upstreams/fields.ts';
import { htmlToText, sanitise } from '../../src/upstreams/html.ts';
import { linkParameter } from '../../src/upstreams/link-header.ts';
import { readTweetText } from '../../src/upstreams/twitter-text.ts';
import { readHtml } from '../../src/upstreams/words.ts';
import { countSteps } from './count-steps.ts';
import { HOSTILE_TEXTS } from './hostile-text.ts';

const CODE = ['/src/upstreams/', '/sanitize-html/', '/htmlparser2/', '/launder/'];
/** Below what is cut, so that twice the text is twice the work. */
const SIZE = 420;

/** A square would be four times as much. */
async function grows(work: (size: number) => unknown, size = SIZE): Promise<number> {
  await countSteps(() => work(size), CODE);
  const once = await countSteps(() => work(size), CODE);
  const twice = await countSteps(() => work(2 * size), CODE);
  assert.ok(once > 0);
  return twice / once;
}

let read = 0;

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  // Not the same twice: that would be no work.
  'a status': (text) => readHtml(`${text}<p>${++read}</p>`),
  'a status that is read anew': (text) => htmlToText(sanitise(text)),
  'a tweet': (text) => readTweetText(`${text} ${++read}`, [{ short: 'https://t.co/a', target: 'https://a.example/' }]),
};

for (const [name, convert] of Object.entries(READERS)) {
  test(`${name} of twice the length is at most about twice the work, whatever it holds`, async () => {
    for (const [shape, make] of Object.entries(HOSTILE_TEXTS)) {
      const factor = await grows((size) => convert(make(size)));
      assert.ok(factor < 2.7, `${shape}: twice the length is ${factor} times the work`);
    }
  });
}

test('so is what a server says in headers and about itself', async () => {
  const shapes: Readonly<Record<string, (size: number) => unknown>> = {
    'open links': (size) => linkParameter('<'.repeat(size), 'next', 'max_id'),
    'links that end in space': (size) => linkParameter(`<a>${' '.repeat(size)}`, 'next', 'max_id'),
    'links of open quotes': (size) => linkParameter('<a>;b="'.repeat(size / 7), 'next', 'max_id'),
    'an attribute without a value': (size) => linkParameter(`<a>;${'b'.repeat(size)}`, 'next', 'max_id'),
    attributes: (size) => linkParameter(`<a>${'; b = c'.repeat(size / 7)}`, 'next', 'max_id'),
    'spaces in attributes': (size) => linkParameter(`<a>;b${' '.repeat(size)};b`, 'next', 'max_id'),
    'a time of digits': (size) => parseTime(`2026-11-20T${'1'.repeat(size)}Z`),
    'an address of slashes': (size) => isWebUrl(`https:${'/'.repeat(size)}`),
  };
  for (const [shape, work] of Object.entries(shapes)) {
    const factor = await grows(work, SIZE / 2);
    assert.ok(factor < 2.7, `${shape}: twice the length is ${factor} times the work`);
  }
});

test('the count tells a pattern that begins anew at each character', async () => {
  const factor = await grows((size) => `a${' '.repeat(size)}b`.replace(/[ \t]+\n/g, '\n'));
  assert.ok(factor > 3.5, `a square of the length is ${factor} times the work`);
});
