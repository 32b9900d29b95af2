import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { linkParameter } from '../../src/upstreams/link-header.ts';

const nextOf = (header: string | undefined) => linkParameter(header, 'next', 'max_id');

test('the parameter of the link with that rel is found, in any order', () => {
  const next = '<https://town.example/api/v1/timelines/home?limit=40&max_id=5>; rel="next"';
  const prev = '<https://town.example/api/v1/timelines/home?limit=40&min_id=9&max_id=1>; rel="prev"';
  assert.equal(nextOf(`${next}, ${prev}`), '5');
  assert.equal(nextOf(`${prev},${next}`), '5');
  assert.equal(linkParameter(`${next}, ${prev}`, 'prev', 'min_id'), '9');
});

test('commas and semicolons inside of a URL or a quoted text separate nothing', () => {
  assert.equal(nextOf('<https://a.example/?q=a,b;c&max_id=5>; title="x, <y>; rel=prev"; rel="next"'), '5');
});

test('rel may be bare, one of several, and in any case', () => {
  assert.equal(nextOf('<https://a.example/?max_id=5>;rel=next'), '5');
  assert.equal(nextOf('<https://a.example/?max_id=5>; REL="last Next"'), '5');
});

test('encoded ids are decoded, relative URLs are taken', () => {
  assert.equal(nextOf('</api?max_id=a%2Bb>; rel="next"'), 'a+b');
});

test('a link without the parameter, or with an unusable one, is none', () => {
  for (const header of [
    undefined,
    '',
    'garbage',
    '<https://a.example/>; rel="next"',
    '<https://a.example/?max_id=>; rel="next"',
    '<https://a.example/?max_id=a%20b>; rel="next"',
    '<https://a.example/?max_id=5>; rel="nextish"',
    '<https://a.example/?max_id=5>',
    `<https://a.example/?max_id=${'5'.repeat(300)}>; rel="next"`,
  ]) {
    assert.equal(nextOf(header), undefined, String(header));
  }
});

test('any header is read without a crash or a long wait', () => {
  const part = fc.constantFrom('<', '>', ';', ',', '"', 'rel', '=', 'next', ' ', 'https://a.example/?max_id=5', 'x');
  fc.assert(fc.property(fc.array(part, { maxLength: 60 }), (parts) => typeof nextOf(parts.join('')) !== 'object'));
  assert.equal(nextOf(`<a>${'; a="'.repeat(3_000)}`), undefined);
  assert.equal(nextOf(`<${'; '.repeat(8_000)}`), undefined);
});
