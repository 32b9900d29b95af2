import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { readRateLimit, readRetryAt, tighter } from '../../src/upstreams/rate-limit.ts';
import { NOW_MS } from './replay-http.ts';

/** `[limit, remaining, reset]` as headers of a family. */
function limits(prefix: string, [limit, remaining, reset]: readonly [string, string, string]) {
  return { [`${prefix}-limit`]: limit, [`${prefix}-remaining`]: remaining, [`${prefix}-reset`]: reset };
}

const inFiveMinutes = NOW_MS + 300_000;
const unixSeconds = String(inFiveMinutes / 1000);
const iso = new Date(inFiveMinutes).toISOString();
const expected = { limit: 300, remaining: 298, resetAtMs: inFiveMinutes };

test('Mastodon names the reset in ISO 8601 with microseconds', () => {
  const headers = limits('x-ratelimit', ['300', '298', iso.replace('000Z', '000123Z')]);
  assert.deepEqual(readRateLimit(headers, NOW_MS), expected);
});

test('GoToSocial names it in Unix seconds, or as ISO 8601', () => {
  assert.deepEqual(readRateLimit(limits('x-ratelimit', ['300', '298', unixSeconds]), NOW_MS), expected);
  assert.deepEqual(readRateLimit(limits('x-ratelimit', ['300', '298', iso]), NOW_MS), expected);
});

test('Twitter names it in Unix seconds', () => {
  assert.deepEqual(readRateLimit(limits('x-rate-limit', ['300', '298', unixSeconds]), NOW_MS), expected);
});

test('the tightest of several limits wins: the fewest requests a second until the reset', () => {
  const perWindow = limits('x-rate-limit', ['900', '800', unixSeconds]);
  const tomorrow = String((NOW_MS + 86_400_000) / 1000);
  const perDay = limits('x-app-rate-limit', ['100000', '3', tomorrow]);
  assert.equal(readRateLimit({ ...perWindow, ...perDay }, NOW_MS)?.remaining, 3);
  const ample = limits('x-app-rate-limit', ['10000000', '9999999', tomorrow]);
  assert.equal(readRateLimit({ ...perWindow, ...ample }, NOW_MS)?.remaining, 800);
});

test('of two replies the one that leaves less counts', () => {
  assert.deepEqual(tighter(expected, { ...expected, remaining: 5 })?.remaining, 5);
  assert.equal(tighter(undefined, expected), expected);
  assert.equal(tighter(expected, undefined), expected);
});

test('garbage is ignored', () => {
  for (const triple of [
    ['', '298', unixSeconds],
    ['300', '-1', unixSeconds],
    ['300', '298', ''],
    ['300', '298', 'soon'],
    ['300', '298', '99999999999'],
    ['300', '298', '9999-01-01T00:00:00Z'],
    ['0', '0', unixSeconds],
    ['1e3', '298', unixSeconds],
    ['NaN', 'NaN', 'NaN'],
    ['9'.repeat(400), '298', unixSeconds],
  ] as const) {
    assert.equal(readRateLimit(limits('x-ratelimit', triple), NOW_MS), undefined, String(triple));
  }
  assert.equal(readRateLimit({}, NOW_MS), undefined);
});

test('more remaining than the limit is as much as the limit', () => {
  assert.equal(readRateLimit(limits('x-ratelimit', ['300', '301', iso]), NOW_MS)?.remaining, 300);
});

test('Retry-After is read as seconds and as a date', () => {
  assert.equal(readRetryAt({ 'retry-after': '30' }, NOW_MS), NOW_MS + 30_000);
  assert.equal(readRetryAt({ 'retry-after': new Date(inFiveMinutes).toUTCString() }, NOW_MS), inFiveMinutes);
});

test('without Retry-After the reset of what is used up counts, the latest of them', () => {
  const used = { ...limits('x-rate-limit', ['15', '0', unixSeconds]) };
  assert.equal(readRetryAt(used, NOW_MS), inFiveMinutes);
  const day = limits('x-app-rate-limit', ['1000', '0', String((NOW_MS + 86_400_000) / 1000)]);
  assert.equal(readRetryAt({ ...used, ...day }, NOW_MS), NOW_MS + 86_400_000);
});

test('a 429 that names no time, or one that is over, is retried after a minute', () => {
  const past = limits('x-rate-limit', ['15', '0', String((NOW_MS - 60_000) / 1000)]);
  const left = limits('x-rate-limit', ['900', '711', unixSeconds]);
  for (const headers of [{}, past, left, { 'retry-after': 'soon' }, { 'retry-after': '-3' }, { 'retry-after': '0' }]) {
    assert.equal(readRetryAt(headers, NOW_MS), NOW_MS + 60_000);
  }
});

test('whatever the headers say, the next try lies ahead, within a week', () => {
  const names = [
    'retry-after',
    'x-ratelimit-limit',
    'x-ratelimit-remaining',
    'x-ratelimit-reset',
    'x-rate-limit-reset',
  ];
  const value = fc.oneof(
    fc.string(),
    fc.integer().map(String),
    fc.date({ noInvalidDate: true }).map((d) => d.toISOString()),
  );
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), value), (headers) => {
      const retryAtMs = readRetryAt(headers, NOW_MS);
      assert.ok(retryAtMs > NOW_MS && retryAtMs <= NOW_MS + 7 * 86_400_000);
    }),
  );
});
