import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { htmlToText, sanitise, textToHtml } from '../../src/upstreams/html.ts';

const LINK = 'rel="nofollow noopener noreferrer" target="_blank"';

test('what can run or load anything is taken out', () => {
  for (const html of [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<iframe src="https://evil.example"></iframe>',
    '<style>p{}</style>',
    '<svg onload=alert(1)></svg>',
    '<math><mi xlink:href="javascript:alert(1)"></mi></math>',
    '<object data="x"></object><embed src="x">',
    '<link rel=stylesheet href=x><meta http-equiv=refresh><base href=x>',
  ]) {
    assert.doesNotMatch(sanitise(`a${html}b`), /<|alert\(1\)\s*$/, html);
  }
});

test('attributes that act or disguise are taken off', () => {
  assert.equal(
    sanitise('<p onclick="x()" style="position:fixed" id="a" class="evil mention">a</p>'),
    '<p class="mention">a</p>',
  );
  assert.equal(
    sanitise('<a href="https://a.example" onclick="x()" download>a</a>'),
    `<a href="https://a.example" ${LINK}>a</a>`,
  );
});

test('links keep only safe addresses, and always open apart', () => {
  for (const href of [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\tscript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    '//evil.example',
    '/logout',
    'relative',
    '&lt;javascript:',
    ' onload=',
    '&#106;avascript:x',
  ]) {
    assert.doesNotMatch(sanitise(`<a href="${href}">a</a>`), /href/, href);
  }
  assert.equal(
    sanitise('<a href="https://a.example/?a=1&amp;b=2" rel="opener" target="_self">a</a>'),
    `<a href="https://a.example/?a=1&amp;b=2" ${LINK}>a</a>`,
  );
});

test('formatting and the classes of mentions, hashtags and shortened links stay', () => {
  const html =
    '<p>a <strong>b</strong> <em>c</em><br /><span class="h-card">d</span></p><ul><li>e</li></ul><blockquote class="quote-inline">f</blockquote>';
  assert.equal(sanitise(html), html);
});

test('text has paragraphs, line breaks and list items', () => {
  const html = sanitise(
    '<p>one<br>two</p>\n<p>three &lt;3 &amp;amp; &quot;four&quot;</p><ul><li>five</li><li>six</li></ul>',
  );
  assert.equal(htmlToText(html), 'one\ntwo\n\nthree <3 &amp; "four"\n\n- five\n- six');
});

test('a link that Mastodon shortens for the eye is one whole URL in the text', () => {
  const html =
    '<p>see <a href="https://a.example/b/c"><span class="invisible">https://</span><span class="ellipsis">a.example/b</span><span class="invisible">/c</span></a></p>';
  assert.equal(htmlToText(sanitise(html)), 'see https://a.example/b/c');
});

test('plain text becomes HTML that says the same, whatever it holds', () => {
  assert.equal(textToHtml([{ text: 'a <b> & "c"\n\nd\ne' }]), '<p>a &lt;b&gt; &amp; &quot;c&quot;</p><p>d<br />e</p>');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const html = textToHtml([{ text }]);
      assert.equal(sanitise(html).replaceAll('&quot;', '"').replaceAll('"', '&quot;'), html.replaceAll(/\s+$/g, ''));
    }),
    { examples: [['a&amp;lt;b']] },
  );
});

test('any HTML becomes HTML without scripts and a text without tags', () => {
  const part = fc.constantFrom(
    '<',
    '>',
    '</',
    '<a href="',
    '<a href="https://a.example/',
    '"',
    "'",
    'javascript:',
    '<p>',
    '</p>',
    '<br>',
    '<!--',
    '-->',
    '<![CDATA[',
    '&#x6a;',
    '&lt;script&gt;',
    '<script',
    ' onload=',
    'x',
    '\u0000',
    '\ud800',
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      const html = sanitise(parts.join(''));
      assert.doesNotMatch(html, /<(?!\/?(?:p|br|a|span)\b)/);
      // Text holds no bare `<`, so that these are all tags.
      for (const [tag] of html.matchAll(/<(?:[^>"]|"[^"]*")*>/g)) {
        const href = /\shref="([^"]*)"/.exec(tag)?.[1];
        if (href !== undefined) assert.match(href, /^https?:/);
        assert.doesNotMatch(tag.replace(/"[^"]*"/g, '""'), /onload|javascript:/, 'outside of quoted values');
      }
      assert.equal(typeof htmlToText(html), 'string');
    }),
  );
});

test('HTML beyond all bounds is cut, in length and in tags', () => {
  assert.equal(sanitise('x'.repeat(500_000)), 'x'.repeat(100_000));
  assert.equal(sanitise('<br>'.repeat(50_000)), '<br />'.repeat(2_000));
});
