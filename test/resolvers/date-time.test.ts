import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dateTime, dateTimeOrNull, dateTimeScalar } from '../../src/resolvers/date-time.ts';

test('a DateTime is UTC with exactly three decimals, whatever number it is made of', () => {
  assert.equal(dateTime(1795211520123), '2026-11-20T21:52:00.123Z');
  fc.assert(
    fc.property(fc.oneof(fc.double({ noNaN: true }), fc.maxSafeInteger()), (ms) => {
      assert.match(dateTime(ms), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    }),
  );
});

test('absent and no number are null', () => {
  assert.equal(dateTimeOrNull(undefined), null);
  assert.equal(dateTimeOrNull(Number.NaN), null);
  assert.equal(dateTimeOrNull(0), '1970-01-01T00:00:00.000Z');
});

test('the scalar takes Unix ms, a Date and its own form, and refuses all else', () => {
  const text = '2026-11-20T21:52:00.123Z';
  for (const value of [Date.parse(text), new Date(text), text]) assert.equal(dateTimeScalar.serialize(value), text);
  for (const value of ['soon', Number.NaN, null, {}]) assert.throws(() => dateTimeScalar.serialize(value), /DateTime/);
});
