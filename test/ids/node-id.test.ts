import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatNodeId, type NodeRef, parseNodeId } from '../../src/ids/node-id.ts';
import { formatPostId, isUpstreamId } from '../../src/ids/post-id.ts';

const name = fc.string({
  unit: fc.constantFrom(...'%:@a1é{} \n', '%3A', 'post', 'entry:'),
  minLength: 1,
  maxLength: 30,
});
const upstreamId = name.filter(isUpstreamId);
const host = fc.constantFrom('x.com', 'localhost:8803', '[::1]:80');
const postId = fc.tuple(upstreamId, host).map(([id, at]) => formatPostId(id, at));
const plain = { noNullPrototype: true };
const ref: fc.Arbitrary<NodeRef> = fc.oneof(
  fc.record({ type: fc.constant('post'), id: postId }, plain),
  fc.record({ type: fc.constant('author'), upstreamId, host }, plain),
  fc.record({ type: fc.constant('source'), key: name }, plain),
  fc.record(
    {
      type: fc.constant('feed'),
      feedId: fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 16, maxLength: 16 }),
    },
    plain,
  ),
  fc.record({ type: fc.constant('viewer'), userId: name }, plain),
  fc.record({ type: fc.constant('gap'), gapId: name }, plain),
  fc.record({ type: fc.constant('entry'), sourceKey: name, postId }, plain),
);

const GOLDEN: readonly (readonly [string, NodeRef])[] = [
  ['115@town.example', { type: 'post', id: '115@town.example' }],
  ['115@localhost:8803', { type: 'post', id: '115@localhost:8803' }],
  ['author:12@x.com', { type: 'author', upstreamId: '12', host: 'x.com' }],
  ['source:town', { type: 'source', key: 'town' }],
  ['feed:00112233445566aa', { type: 'feed', feedId: '00112233445566aa' }],
  ['viewer:ann%40work', { type: 'viewer', userId: 'ann@work' }],
  ['gap:town%3A3', { type: 'gap', gapId: 'town:3' }],
  ['entry:town:115@town.example:8443', { type: 'entry', sourceKey: 'town', postId: '115@town.example:8443' }],
];

for (const [id, node] of GOLDEN) {
  test(`${id} names one ${node.type}`, () => {
    assert.equal(formatNodeId(node), id);
    assert.deepEqual(parseNodeId(id), node);
  });
}

test('what is formatted parses back, whatever its parts hold', () => {
  fc.assert(
    fc.property(ref, (node) => assert.deepEqual(parseNodeId(formatNodeId(node)), node)),
    { numRuns: 1000 },
  );
});

test('different things never get one id', () => {
  fc.assert(
    fc.property(ref, ref, (a, b) => {
      fc.pre(JSON.stringify(a) !== JSON.stringify(b));
      assert.notEqual(formatNodeId(a), formatNodeId(b));
    }),
  );
});

test('any text is either refused or the one spelling of what it names', () => {
  const unit = fc.constantFrom(
    'entry',
    'post',
    'author',
    'source',
    'viewer',
    ':',
    '@',
    '%',
    '%3A',
    '%40',
    '%41',
    'x.com',
    '1',
  );
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit, maxLength: 8 }), fc.string({ unit: 'binary' })), (text) => {
      const node = parseNodeId(text);
      if (node !== undefined) assert.equal(formatNodeId(node), text);
    }),
    { numRuns: 2000 },
  );
});

for (const bad of [
  '',
  'source:',
  'source:a:b',
  'viewer:a@b',
  'post:1@x.com',
  'nobody:1',
  'Source:town',
  'author:12',
  'entry:town',
  'entry:town:',
  'entry::1@x.com',
  'entry:town:1',
  'town',
  'gap:%',
  'feed:current',
  'feed:00112233445566AA',
  'feed:00112233445566aa0',
  'feed:00112233445566aa\n',
  'feed:0011223344%3A566a',
]) {
  test(`${JSON.stringify(bad)} names nothing`, () => assert.equal(parseNodeId(bad), undefined));
}

test('a huge id is answered, not a crash', () => {
  assert.equal(parseNodeId(`source:${'%3A'.repeat(200_000)}:`), undefined);
  assert.equal(parseNodeId('a'.repeat(1_000_000)), undefined);
});

test('a reference without a name cannot be formatted', () => {
  assert.throws(() => formatNodeId({ type: 'viewer', userId: '' }), RangeError);
  assert.throws(() => formatNodeId({ type: 'feed', feedId: 'current' }), RangeError);
  assert.throws(() => formatNodeId({ type: 'post', id: 'source:town' }), RangeError);
  assert.throws(() => formatNodeId({ type: 'entry', sourceKey: 'town', postId: '115' }), RangeError);
});
