import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatPostId, isHost, isUpstreamId, parsePostId } from '../../src/ids/post-id.ts';

const upstreamId = fc
  .string({ unit: fc.constantFrom(...'%:@a1é🙂 /\n', '%3A', '%25'), minLength: 1, maxLength: 40 })
  .filter(isUpstreamId);
const host = fc.constantFrom(
  'x.com',
  'localhost:8803',
  '127.0.0.1:9200',
  '[::1]:80',
  'my_server',
  'xn--bcher-kva.example',
);

test('a plain id stays readable', () => {
  assert.equal(formatPostId('115', 'town.example'), '115@town.example');
  assert.deepEqual(parsePostId('115@town.example'), { upstreamId: '115', host: 'town.example' });
});

test('the host keeps its port', () => {
  assert.deepEqual(parsePostId(formatPostId('7', 'localhost:8803')), { upstreamId: '7', host: 'localhost:8803' });
});

test('only the characters that separate parts are encoded', () => {
  assert.equal(formatPostId('at://did:plc:x/p%', 'b.example'), 'at%3A//did%3Aplc%3Ax/p%25@b.example');
});

test('what is formatted parses back, whatever the upstream id holds', () => {
  fc.assert(
    fc.property(upstreamId, host, (id, at) => {
      assert.deepEqual(parsePostId(formatPostId(id, at)), { upstreamId: id, host: at });
    }),
  );
});

test('what parses formats back to the same text, so an id has one spelling', () => {
  const part = fc.string({ unit: fc.constantFrom('%', '%3A', '%3a', '%41', ':', '@', 'a', '1', 'x.com', '.', 'X') });
  fc.assert(
    fc.property(part, (text) => {
      const parsed = parsePostId(text);
      if (parsed !== undefined) assert.equal(formatPostId(parsed.upstreamId, parsed.host), text);
    }),
    { numRuns: 2000 },
  );
});

for (const bad of [
  '',
  '@',
  '115',
  '115@',
  '@x.com',
  'a:b@x.com',
  'a@b@x.com',
  'a%@x.com',
  'a%3a@x.com',
  'a%41@x.com',
  '1@X.com',
  '1@x y',
  '1@x.com\n',
  '1@a/b',
]) {
  test(`${JSON.stringify(bad)} is no post id`, () => assert.equal(parsePostId(bad), undefined));
}

test('a post id is refused when it is too long, quickly', () => {
  assert.equal(parsePostId(`${'1'.repeat(256)}@x.com`), undefined);
  assert.equal(parsePostId(`${'%3A'.repeat(200_000)}@x.com`), undefined);
  assert.equal(parsePostId(`1@${'x'.repeat(256)}`), undefined);
});

test('an upstream id that cannot be kept is refused when it is formatted', () => {
  assert.throws(() => formatPostId('', 'x.com'), RangeError);
  assert.throws(() => formatPostId('1'.repeat(256), 'x.com'), RangeError);
  assert.throws(() => formatPostId('\ud800', 'x.com'), RangeError);
  assert.throws(() => formatPostId('1', 'x@y'), RangeError);
  assert.ok(isUpstreamId('1'.repeat(255)));
  assert.ok(!isHost(''));
});
