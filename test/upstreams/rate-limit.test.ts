import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import {
  isEndpointLimit,
  isRetryGuessed,
  readRateLimit,
  readRateLimits,
  readRetryAt,
} from '../../src/upstreams/rate-limit.ts';
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

test('all of several limits are told, with what each is about', () => {
  const tomorrow = String((NOW_MS + 86_400_000) / 1000);
  const perDay = ['x-app-rate-limit', 'x-app-limit-24hour', 'x-user-limit-24hour'];
  const headers = perDay.map((prefix) => limits(prefix, ['100', '99', tomorrow]));
  const told = readRateLimits(Object.assign(limits('x-rate-limit', ['15', '3', unixSeconds]), ...headers), NOW_MS);
  assert.deepEqual(
    told.limits.map(({ name, limit, endpoint }) => [name, limit, endpoint]),
    [['x-rate-limit', 15, true], ...perDay.map((prefix) => [prefix, 100, false])],
  );
  assert.deepEqual(told.rateLimit, { limit: 100, remaining: 99, resetAtMs: NOW_MS + 86_400_000 });
  assert.deepEqual(readRateLimits({}, NOW_MS), { rateLimit: undefined, limits: [] });
});

test('a 429 without Retry-After and with requests left tells no time', () => {
  assert.equal(isRetryGuessed(limits('x-rate-limit', ['900', '711', unixSeconds]), NOW_MS), true);
  assert.equal(isRetryGuessed(limits('x-rate-limit', ['900', '0', unixSeconds]), NOW_MS), false);
  assert.equal(isRetryGuessed({ 'retry-after': '30' }, NOW_MS), false);
});

test('a 429 is about its endpoint alone where nothing else is used up', () => {
  const used = limits('x-rate-limit', ['15', '0', unixSeconds]);
  const day = limits('x-app-rate-limit', ['1000', '0', String((NOW_MS + 86_400_000) / 1000)]);
  assert.equal(isEndpointLimit(used, NOW_MS), true);
  assert.equal(isEndpointLimit({ ...used, ...day }, NOW_MS), false);
  assert.equal(isEndpointLimit({ ...used, 'retry-after': '60' }, NOW_MS), false);
  assert.equal(isEndpointLimit(limits('x-rate-limit', ['900', '711', unixSeconds]), NOW_MS), false, 'a hidden limit');
  assert.equal(isEndpointLimit(limits('x-ratelimit', ['300', '0', iso]), NOW_MS), false, 'Mastodon counts by token');
});

test('resets and dates are of the server, whose clock may be another than ours', () => {
  const serverMs = NOW_MS - 3_600_000;
  const date = new Date(serverMs).toUTCString();
  const used = limits('x-ratelimit', ['300', '0', new Date(serverMs + 120_000).toISOString()]);
  assert.equal(readRetryAt({ ...used, date }, NOW_MS), NOW_MS + 120_000);
  const named = { 'retry-after': new Date(serverMs + 30_000).toUTCString(), date };
  assert.equal(readRetryAt(named, NOW_MS), NOW_MS + 30_000);
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

test('a 429 that names nothing but a reset waits until then, in whichever form it is', () => {
  for (const headers of [
    { 'x-ratelimit-reset': iso.replace('000Z', '000123Z') },
    { 'x-ratelimit-reset': iso },
    { 'x-ratelimit-reset': unixSeconds, 'x-ratelimit-remaining': '0' },
    { 'x-rate-limit-reset': unixSeconds },
    { 'x-app-limit-24hour-reset': unixSeconds },
  ]) {
    const told = [readRetryAt(headers, NOW_MS), isRetryGuessed(headers, NOW_MS)];
    assert.deepEqual(told, [inFiveMinutes, false], JSON.stringify(headers));
  }
  const left = { 'x-ratelimit-reset': iso, 'x-ratelimit-remaining': '7' };
  assert.equal(isRetryGuessed(left, NOW_MS), true, 'requests are left: another limit is used up');
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
