import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UpstreamError } from '../../src/errors.ts';
import { createPageFitter } from '../../src/upstreams/fit-page.ts';

const tooLarge = new UpstreamError('MALFORMED', 'too large', { isTooLarge: true });

async function asked(
  fit: ReturnType<typeof createPageFitter>,
  wanted: number,
  fits: number,
): Promise<readonly number[]> {
  const limits: number[] = [];
  await fit(wanted, async (limit) => {
    limits.push(limit);
    if (limit > fits) throw tooLarge;
  }).catch((error: unknown) => assert.equal(error, tooLarge));
  return limits;
}

test('fewer are asked for until the reply fits, and then twice as many each time', async () => {
  const fit = createPageFitter(100);
  assert.deepEqual(await asked(fit, 100, 9), [100, 12, 1]);
  assert.deepEqual(await asked(fit, 100, 9), [2]);
  assert.deepEqual(await asked(fit, 3, 9), [3]);
  for (const limit of [8, 16, 32, 64, 100, 100]) assert.deepEqual(await asked(fit, 100, 100), [limit]);
});

test('a page that does not fit with the fewest fails, and what is no matter of size is not tried again', async () => {
  const fit = createPageFitter(100, 10);
  assert.deepEqual(await asked(fit, 5, 0), [10]);
  assert.deepEqual(await asked(fit, 100, 0), [100, 12, 10]);
  const gone = new UpstreamError('GONE', 'gone');
  let tries = 0;
  const failing = fit(100, async () => {
    tries += 1;
    throw gone;
  });
  await assert.rejects(failing, gone);
  assert.equal(tries, 1);
});
