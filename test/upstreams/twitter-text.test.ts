import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { sanitise } from '../../src/upstreams/html.ts';
import { readTweetText } from '../../src/upstreams/twitter-text.ts';

test('links stand where they stood, also twice; those to media and those without a target vanish', () => {
  const links = [
    { short: 'https://t.co/abc', target: 'https://a.example/?x=1&y="2"', shown: 'a.example' },
    { short: 'https://t.co/pic' },
  ];
  const { text, html } = readTweetText('1 https://t.co/abc, 2 https://t.co/abc https://t.co/pic', links);
  assert.equal(text, '1 https://a.example/?x=1&y="2", 2 https://a.example/?x=1&y="2"');
  assert.match(html, /^<p>1 <a href="https:\/\/a\.example\/\?x=1&amp;y=&quot;2&quot;" rel=.*>a\.example<\/a>, 2 /);
  assert.doesNotMatch(html, /t\.co/);
});

test('a short link that nothing is known about stays', () => {
  assert.equal(readTweetText('see https://t.co/xyz', []).text, 'see https://t.co/xyz');
});

test('entities are unescaped once', () => {
  assert.equal(readTweetText('&amp;lt; &lt;b&gt;', []).text, '&lt; <b>');
  assert.equal(readTweetText('&amp;lt; &lt;b&gt;', []).html, '<p>&amp;lt; &lt;b&gt;</p>');
});

test('no text makes HTML that sanitising would change', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('<', '>', '&', '"', 'a', '\n', ' ', ';', 'lt', '&lt;') }), (raw) => {
      const { html } = readTweetText(raw, []);
      const same = (value: string) => value.replaceAll('&quot;', '"');
      assert.equal(same(sanitise(html)), same(html));
    }),
  );
});

test('an address is a link where Twitter put one, and a web address alone', () => {
  const evil = 'javascript:alert(document.domain)';
  for (const short of [evil, 'https://t.co/abc', `before https://t.co/abc`]) {
    const { html } = readTweetText(`${short} and more`, [{ short, target: evil, shown: 'click me' }]);
    assert.doesNotMatch(html, /href/);
    assert.equal(sanitise(html), html);
  }
});

test('the same tweet is converted once, one with other links anew', () => {
  const links = [{ short: 'https://t.co/abc', target: 'https://a.example/' }];
  const words = readTweetText('https://t.co/abc', links);
  assert.equal(readTweetText('https://t.co/abc', [...links]), words);
  assert.notEqual(readTweetText('https://t.co/abc', []).html, words.html);
});
