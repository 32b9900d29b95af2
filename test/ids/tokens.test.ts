import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BadCursorError } from '../../src/errors.ts';
import { formatPosition, parsePosition } from '../../src/ids/position.ts';
import { addServed, emptyServedSet, servedFirst } from '../../src/ids/served-set.ts';
import { sipHash, sipKey } from '../../src/ids/sip-hash.ts';
import {
  createTokens,
  explainToken,
  type FeedCursor,
  logTag,
  MAX_TOKEN_LENGTH,
  type TimelinePurpose,
  type TimelineToken,
  type TokenSource,
} from '../../src/ids/tokens.ts';

const KEY = Buffer.alloc(32, 1);
const OLD_KEY = Buffer.alloc(32, 2);
const tokens = createTokens([KEY]);
const PURPOSES: readonly TimelinePurpose[] = ['since', 'until', 'entry'];

const hashes = (count: number, from: string): readonly number[] =>
  Array.from({ length: count }, (_, n) => sipHash(sipKey(KEY), `${from} ${n}`)[0] >>> 0);
const CURSOR: FeedCursor = {
  feedId: '00112233445566aa',
  offset: 20,
  base: 40,
  served: servedFirst(hashes(20, 'a')),
  successor: false,
};
const TIMELINE: TimelineToken = {
  sources: [{ tag: logTag('town'), joined: '1792000000000-2', passed: '1792000100000-0', history: true }],
  at: { sortAtMs: 1792000000123, postId: '115@town.example' },
};

const hash = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value) => value.toString(16).padStart(16, '0'));
const position = fc.tuple(fc.maxSafeNat(), fc.maxSafeNat()).map(([ms, n]) => formatPosition(ms, n));
const story = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const plain = { noNullPrototype: true };
const feedCursor: fc.Arbitrary<FeedCursor> = fc.record(
  {
    feedId: hash,
    offset: fc.maxSafeNat(),
    base: fc.maxSafeNat(),
    served: fc
      .tuple(fc.array(story, { maxLength: 20 }), fc.array(story, { maxLength: 20 }))
      .map(([first, later]) => addServed(servedFirst(first), later)),
    successor: fc.boolean(),
  },
  plain,
);
/** What is missed ends where the source joined, and was found then or later. */
const tokenSource: fc.Arbitrary<TokenSource> = fc
  .record({ tag: hash, joined: position, passed: position, history: fc.boolean() }, plain)
  .chain((source) => {
    const { ms } = parsePosition(source.joined);
    const fromMs = fc.option(fc.integer({ min: Math.min(1, ms), max: ms }), { nil: undefined });
    const missed = fc.record({ fromMs, foundAtMs: fc.integer({ min: ms, max: Number.MAX_SAFE_INTEGER }) }, plain);
    return fc.option(missed, { nil: undefined }).map((some) => ({ ...source, ...(some && { missed: some }) }));
  });
const timelineToken: fc.Arbitrary<TimelineToken> = fc
  .tuple(
    fc.uniqueArray(tokenSource, {
      selector: (source) => source.tag,
      maxLength: 10,
    }),
    fc.option(fc.record({ sortAtMs: fc.maxSafeNat(), postId: fc.string({ unit: 'grapheme', maxLength: 60 }) }, plain), {
      nil: undefined,
    }),
  )
  .map(([sources, at]) => ({
    sources: sources.sort((a, b) => (a.tag < b.tag ? -1 : 1)),
    ...(at === undefined ? {} : { at }),
  }));
const viewer = fc.string({ unit: fc.constantFrom('ann', ':', '@', '\0', 'é', '\ud800'), maxLength: 5 });

/** Everything that may open a token, for the claim that a bad one opens nothing. */
function assertRefused(token: string, viewers: readonly string[] = ['ann']): void {
  for (const who of viewers) {
    assert.throws(() => tokens.openFeedCursor(who, token), BadCursorError);
    assert.throws(() => tokens.openTimeline(PURPOSES, token, who), BadCursorError);
  }
  assert.throws(() => tokens.openTimeline(PURPOSES, token), BadCursorError);
}

test('a feed cursor opens to what was sealed', () => {
  fc.assert(
    fc.property(viewer, feedCursor, (who, cursor) => {
      assert.deepEqual(tokens.openFeedCursor(who, tokens.sealFeedCursor(who, cursor)), cursor);
    }),
  );
});

test('a timeline token opens to what was sealed, for its viewer', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...PURPOSES),
      fc.option(viewer, { nil: undefined }),
      timelineToken,
      (purpose, who, token) => {
        const sealed = tokens.sealTimeline(purpose, token, who);
        assert.deepEqual(tokens.openTimeline([purpose], sealed, who), token);
      },
    ),
  );
});

test('the same position is always the same string, in whatever order the sources come', () => {
  fc.assert(
    fc.property(timelineToken, (token) => {
      const turned = { ...token, sources: token.sources.toReversed() };
      assert.equal(tokens.sealTimeline('since', turned, 'ann'), tokens.sealTimeline('since', token, 'ann'));
    }),
  );
  assert.equal(tokens.sealFeedCursor('ann', CURSOR), createTokens([KEY, OLD_KEY]).sealFeedCursor('ann', { ...CURSOR }));
});

test('tokens are URL-safe', () => {
  assert.match(tokens.sealFeedCursor('ann', CURSOR), /^[A-Za-z0-9_-]+$/);
  assert.match(tokens.sealTimeline('entry', TIMELINE), /^[A-Za-z0-9_-]+$/);
});

test('a token opens for its viewer alone', () => {
  assertRefused(tokens.sealFeedCursor('ann', CURSOR), ['bob', 'ann ', 'Ann', '', '\0ann']);
  assertRefused(tokens.sealTimeline('since', TIMELINE, 'ann'), ['bob', '']);
  assert.throws(() => tokens.openTimeline(['since'], tokens.sealTimeline('since', TIMELINE, '')), BadCursorError);
  assertRefused(tokens.sealTimeline('since', TIMELINE, '\ud800'), ['\ud801', '\ufffd']);
});

test('a timeline token that is bound to nobody opens for everyone', () => {
  const token = tokens.sealTimeline('since', TIMELINE);
  for (const who of [undefined, 'ann', 'bob', ''])
    assert.deepEqual(tokens.openTimeline(['since'], token, who), TIMELINE);
});

test('a token opens for its purpose alone', () => {
  for (const purpose of PURPOSES) {
    const token = tokens.sealTimeline(purpose, TIMELINE);
    assert.throws(
      () =>
        tokens.openTimeline(
          PURPOSES.filter((other) => other !== purpose),
          token,
        ),
      BadCursorError,
    );
    assert.throws(() => tokens.openFeedCursor('ann', tokens.sealTimeline(purpose, TIMELINE, 'ann')), BadCursorError);
  }
  assert.throws(() => tokens.openTimeline([], tokens.sealTimeline('since', TIMELINE)), BadCursorError);
  assert.throws(() => tokens.openTimeline(PURPOSES, tokens.sealFeedCursor('ann', CURSOR), 'ann'), BadCursorError);
});

test('every key opens, the first one seals, and a retired one opens no more', () => {
  const old = createTokens([OLD_KEY]);
  const rotated = createTokens([KEY, OLD_KEY]);
  assert.deepEqual(rotated.openFeedCursor('ann', old.sealFeedCursor('ann', CURSOR)), CURSOR);
  assert.deepEqual(tokens.openFeedCursor('ann', rotated.sealFeedCursor('ann', CURSOR)), CURSOR);
  assert.throws(() => old.openFeedCursor('ann', rotated.sealFeedCursor('ann', CURSOR)), BadCursorError);
  assertRefused(old.sealFeedCursor('ann', CURSOR));
  assertRefused(old.sealTimeline('since', TIMELINE));
});

test('tokens cannot be made without a key', () => {
  assert.throws(() => createTokens([]), RangeError);
  assert.throws(() => createTokens([KEY, Buffer.alloc(0)]), RangeError);
});

const SAMPLES = {
  'feed cursor': tokens.sealFeedCursor('ann', CURSOR),
  'since token': tokens.sealTimeline('since', TIMELINE),
  'bound until token': tokens.sealTimeline('until', TIMELINE, 'ann'),
};
for (const [name, token] of Object.entries(SAMPLES)) {
  test(`a ${name} with one bit turned is refused, whichever bit`, () => {
    const bytes = Buffer.from(token, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const turned = Buffer.from(bytes);
      turned[bit >> 3] = (turned[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assertRefused(turned.toString('base64url'));
    }
  });

  test(`a ${name} that is cut or lengthened is refused`, () => {
    for (let length = 0; length < token.length; length += 1) assertRefused(token.slice(0, length));
    for (const more of ['A', 'AA', '=', '==', '\n', ' ', '.', '\0', 'é']) {
      assertRefused(token + more);
      assertRefused(more + token);
    }
    assertRefused(token + token);
  });

  test(`a ${name} in another spelling of the same bytes is refused`, () => {
    const bytes = Buffer.from(token, 'base64url');
    const spellings = ['+', '/', '='].includes(bytes.toString('base64'))
      ? []
      : [bytes.toString('base64'), bytes.toString('hex')];
    const last = token.at(-1) ?? '';
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (const other of alphabet) if (other !== last) spellings.push(token.slice(0, -1) + other);
    for (const spelling of spellings) if (spelling !== token) assertRefused(spelling);
  });
}

test('tail bits that base64 ignores do not make another token', () => {
  // 1 byte longer or shorter changes the length modulo 3: one of these three has ignored bits.
  const tails = ['1', '12', '123'].map((postId) =>
    tokens.sealTimeline('entry', { ...TIMELINE, at: { sortAtMs: 0, postId } }),
  );
  const open = tails.filter((token) => token.length % 4 !== 0);
  assert.equal(open.length, 2);
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  for (const token of open) {
    const same = alphabet.charAt(alphabet.indexOf(token.at(-1) ?? '') + 1);
    const twin = token.slice(0, -1) + same;
    assert.deepEqual(Buffer.from(twin, 'base64url'), Buffer.from(token, 'base64url'));
    assertRefused(twin);
  }
});

test('any text is a bad cursor', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.stringMatching(/^[A-Za-z0-9_-]{0,200}$/),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from([1, 1, ...bytes]).toString('base64url')),
  );
  fc.assert(
    fc.property(text, (token) => assertRefused(token)),
    { numRuns: 300 },
  );
  for (const token of ['', 'A', '=', 'é', '\ud800', 'A'.repeat(MAX_TOKEN_LENGTH), 'A'.repeat(1_000_000)])
    assertRefused(token);
});

test('a token of another version is refused though a key signed it', async () => {
  const { createHmac } = await import('node:crypto');
  const signed = Buffer.from([9, 2, 0, 0]);
  const mac = createHmac('sha256', KEY).update('sluice token\x000\0').update(signed).digest().subarray(0, 16);
  assertRefused(Buffer.concat([signed, mac]).toString('base64url'));
  const [, ...rest] = signed;
  const present = Buffer.from([1, ...rest]);
  const valid = createHmac('sha256', KEY).update('sluice token\x000\0').update(present).digest().subarray(0, 16);
  assert.deepEqual(tokens.openTimeline(['since'], Buffer.concat([present, valid]).toString('base64url')), {
    sources: [],
  });
});

test('a signed body that says too much is refused quickly', async () => {
  const { createHmac } = await import('node:crypto');
  const huge = [255, 255, 255, 255, 255, 255, 255, 15];
  const sealBody = (purpose: number, body: readonly number[], who: string): string => {
    const signed = Buffer.from([1, purpose, ...body]);
    const binding = Buffer.from(who, 'utf16le');
    const hmac = createHmac('sha256', KEY).update(`sluice token\0${binding.length}\0`).update(binding).update(signed);
    return Buffer.concat([signed, hmac.digest().subarray(0, 16)]).toString('base64url');
  };
  const id = [0, 0, 0, 0, 0, 0, 0, 1];
  // The control: the same way of sealing gives a token that opens.
  assert.equal(tokens.openFeedCursor('ann', sealBody(0x85, [0, ...id, 5, 0, 0, 0], 'ann')).offset, 5);
  for (const body of [
    [0, ...id, 5, 0, ...huge, ...huge],
    [0, ...id, 5, 0, ...huge, 0, 0, 0, 0],
    [0, ...id, 5, 0, 0, 0, 0],
    [2, ...id, 5, 0, 0, 0],
    [0, ...id, 0x85, 0, 0, 0, 0],
    [],
  ]) {
    assertRefused(sealBody(0x85, body, 'ann'));
  }
  const source = [0, 5, 0, 0, 0];
  assert.equal(tokens.openTimeline(['since'], sealBody(2, [1, ...id, ...source, 0], '')).sources.length, 1);
  for (const body of [
    [...huge],
    [...huge, 0],
    [2, ...id, ...source, ...id, ...source, 0],
    [1, ...id, 8, 5, 0, 0, 0, 0],
    [1, ...id, 4, 5, 0, 0, 0, 0],
    [1, ...id, 4, 5, 0, 0, 0, 7, 0, 0],
    [1, ...id, 4, 5, 0, 0, 0, 0, ...huge, 0],
    [1, ...id, 2, 5, 0, 6, 0, 0],
    [1, ...id, 2, 5, 0, 0, 0, 0],
    [0, 1, 5, ...Buffer.alloc(4000, 'x')],
    [1, ...id, ...source, 1, 5, 0xff],
    [0, 0, 0],
    [],
  ]) {
    assertRefused(sealBody(2, body, ''));
  }
});

test('20, 100 and 500 served stories give cursors of at most 90, 245 and 1,015 characters', () => {
  for (const [count, characters] of [
    [20, 90],
    [100, 245],
    [500, 1015],
  ] as const) {
    const token = tokens.sealFeedCursor('ann', { ...CURSOR, offset: count, served: servedFirst(hashes(count, 'a')) });
    assert.ok(token.length <= characters, `${count} gave ${token.length}`);
  }
});

test('2,000 served stories, in any split of first and later, leave the cursor below 4,096 characters', () => {
  for (let first = 0; first <= 2000; first += 125) {
    const served = addServed(servedFirst(hashes(first, `a${first}`)), hashes(2000 - first, `b${first}`));
    const token = tokens.sealFeedCursor('ann', { ...CURSOR, offset: 100_000, base: 100_000, served, successor: true });
    assert.ok(token.length < MAX_TOKEN_LENGTH, `${first} first gave ${token.length}`);
  }
});

test('50 sources and the longest post id stay below 4,096 characters', () => {
  const sources = Array.from({ length: 50 }, (_, n) => ({
    tag: logTag(`log ${n}`),
    joined: formatPosition(1792000000000, 16_000_000),
    passed: formatPosition(1892000000000, 16_000_000),
    history: true,
  }));
  const at = { sortAtMs: 1792000000000, postId: `${'%3A'.repeat(255)}@${'h'.repeat(255)}` };
  assert.ok(tokens.sealTimeline('until', { sources, at }, 'ann').length < MAX_TOKEN_LENGTH);
});

test('50 sources that all missed something stay below 4,096 characters, in the cursor of an entry too', () => {
  const yearMs = 365 * 86_400_000;
  const joinedMs = Date.UTC(2026, 10, 20);
  const sources = Array.from({ length: 50 }, (_, n) => ({
    tag: logTag(`log ${n}`),
    joined: formatPosition(joinedMs, 16_000_000),
    passed: formatPosition(joinedMs + yearMs, 16_000_000),
    history: true,
    missed: { fromMs: joinedMs - yearMs, foundAtMs: joinedMs + yearMs },
  }));
  // Bytes: version, purpose, MAC and count, then of each source tag and flags, both positions, what it missed, and no place.
  const source = 8 + 1 + (6 + 4) + (5 + 4) + (5 + 5);
  const since = tokens.sealTimeline('since', { sources }, 'ann');
  assert.equal(Buffer.from(since, 'base64url').length, 1 + 1 + 16 + 1 + 50 * source + 1);
  const at = { sortAtMs: joinedMs, postId: `${'%3A'.repeat(255)}@${'h'.repeat(255)}` };
  const entry = tokens.sealTimeline('entry', { sources, at }, 'ann');
  assert.ok(entry.length < MAX_TOKEN_LENGTH);
  assert.deepEqual(tokens.openTimeline(['entry'], entry, 'ann').sources[0]?.missed, sources[0]?.missed);
});

test('a token that an earlier release sealed opens', () => {
  // Sealed by the release before tokens told what was missed.
  const old = 'AQIBABEiM0RVZv8BgICY3JM0APQDAwAKnYH0oo1LOV0zIimTKsyx';
  assert.deepEqual(createTokens([Buffer.from('an old key')]).openTimeline(['since'], old), {
    sources: [{ tag: '00112233445566ff', joined: '1792000000000-0', passed: '1792000000500-3', history: true }],
  });
});

test('what cannot be said in a token is refused when it is sealed', () => {
  const [source] = TIMELINE.sources;
  assert.ok(source);
  for (const bad of [
    { ...CURSOR, feedId: 'abc' },
    { ...CURSOR, offset: -1 },
    { ...CURSOR, base: 0.5 },
    { ...CURSOR, served: servedFirst(hashes(2500, 'a')) },
  ]) {
    assert.throws(() => tokens.sealFeedCursor('ann', bad), RangeError);
  }
  for (const bad of [
    { sources: [source, source] },
    { sources: [{ ...source, tag: 'town' }] },
    { sources: [{ ...source, passed: 'abc' }] },
    { sources: [{ ...source, joined: '5-0', missed: { fromMs: 7, foundAtMs: 5 } }] },
    { sources: [{ ...source, joined: '5-0', missed: { fromMs: 5, foundAtMs: 4 } }] },
    { sources: [], at: { sortAtMs: -1, postId: '1@x.com' } },
    { sources: [], at: { sortAtMs: 1, postId: '\ud800' } },
    { sources: [], at: { sortAtMs: 1, postId: 'x'.repeat(4000) } },
  ]) {
    assert.throws(() => tokens.sealTimeline('since', bad), RangeError);
  }
});

test('a log tag is 16 hex digits and the same each time', () => {
  assert.match(logTag('mastodon town.example home ann'), /^[0-9a-f]{16}$/);
  assert.equal(logTag('a'), logTag('a'));
  assert.notEqual(logTag('a'), logTag('b'));
});

test('a token is explained with its content, its purpose and the key that verifies it', () => {
  const keys = [KEY, OLD_KEY];
  const token = createTokens([OLD_KEY]).sealTimeline('until', TIMELINE);
  assert.deepEqual(explainToken(token, keys), {
    readable: true,
    version: 1,
    purpose: 'until',
    bound: false,
    signature: 'valid',
    keyIndex: 1,
    timeline: TIMELINE,
  });
  const bound = tokens.sealFeedCursor('ann', { ...CURSOR, served: emptyServedSet });
  const explained = {
    readable: true,
    version: 1,
    purpose: 'feed',
    bound: true,
    feed: { ...CURSOR, served: emptyServedSet },
  };
  assert.deepEqual(explainToken(bound, keys), { ...explained, signature: 'unknown' });
  assert.deepEqual(explainToken(bound, keys, 'ann'), { ...explained, signature: 'valid', keyIndex: 0 });
  assert.deepEqual(explainToken(bound, keys, 'bob'), { ...explained, signature: 'invalid' });
  assert.deepEqual(explainToken(bound, [], 'ann'), { ...explained, signature: 'invalid' });
});

test('any text is explained, with a reason when it is no token', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.uint8Array({ minLength: 16, maxLength: 80 }).map((bytes) => Buffer.from([1, 2, ...bytes]).toString('base64url')),
    fc
      .uint8Array({ minLength: 16, maxLength: 80 })
      .map((bytes) => Buffer.from([1, 129, ...bytes]).toString('base64url')),
  );
  fc.assert(
    fc.property(text, (token) => {
      const explained = explainToken(token, [KEY], 'ann');
      assert.ok(explained.readable ? explained.signature === 'invalid' : explained.reason.length > 0);
    }),
    { numRuns: 1000 },
  );
  assert.equal(explainToken('', []).readable, false);
});
