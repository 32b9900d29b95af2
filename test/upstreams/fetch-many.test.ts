import assert from 'node:assert/strict';
import test from 'node:test';
import { UpstreamError, type UpstreamErrorCode } from '../../src/errors.ts';
import { type FetchedBatch, fetchMany } from '../../src/upstreams/fetch-many.ts';

const answered: FetchedBatch = { posts: new Map(), gone: [], failed: new Map(), sentAtMs: 7 };
const ids = Array.from({ length: 10 }, (_, n) => String(n));

function failingAt(id: string, code: UpstreamErrorCode, status?: number) {
  const asked: string[] = [];
  const fetchBatch = async (batch: readonly string[]) => {
    asked.push(...batch);
    if (batch.includes(id)) throw new UpstreamError(code, 'it failed', { retryAtMs: 9, status });
    return { ...answered, gone: batch };
  };
  return { asked, fetched: fetchMany(ids, { bulk: 1, parallel: 1, now: () => 3, fetchBatch }) };
}

test('ids go in batches, no more at a time than allowed', async () => {
  const batches: (readonly string[])[] = [];
  let open = 0;
  let most = 0;
  const fetchBatch = async (batch: readonly string[]) => {
    batches.push(batch);
    most = Math.max(most, ++open);
    await Promise.resolve();
    open -= 1;
    return { ...answered, gone: batch };
  };
  const fetched = await fetchMany(ids, { bulk: 3, parallel: 2, now: () => 3, fetchBatch });
  assert.deepEqual(batches, [ids.slice(0, 3), ids.slice(3, 6), ids.slice(6, 9), ids.slice(9)]);
  assert.equal(most, 2);
  assert.deepEqual([[...fetched.gone].sort(), fetched.sentAtMs], [ids, 7]);
});

test('a post that is gone is gone, one that cannot be read fails alone', async () => {
  const gone = await failingAt('4', 'GONE').fetched;
  assert.deepEqual([gone.gone.length, gone.failed.size], [10, 0]);
  const forbidden = await failingAt('4', 'FORBIDDEN').fetched;
  assert.deepEqual([forbidden.gone.length, [...forbidden.failed.keys()]], [9, ['4']]);
});

test('after an answer that all would get no more is asked', async () => {
  for (const code of ['RATE_LIMITED', 'UNAUTHORIZED', 'UNAVAILABLE'] as const) {
    const { asked, fetched } = failingAt('4', code);
    const { failed } = await fetched;
    assert.deepEqual(asked, ids.slice(0, 5));
    assert.deepEqual([...failed.keys()], ids.slice(4));
    assert.deepEqual(failed.get('9'), { code, message: 'it failed', retryAtMs: 9 });
  }
});

test('a post over which the server stumbles fails alone; a server that is out is asked no more', async () => {
  const stumbled = await failingAt('4', 'UNAVAILABLE', 500).fetched;
  assert.deepEqual([stumbled.gone.length, [...stumbled.failed.keys()]], [9, ['4']]);
  assert.equal((await failingAt('4', 'UNAVAILABLE', 503).fetched).failed.size, 6);
});

test('no ids need no request', async () => {
  const fetchBatch = () => Promise.reject(new Error('asked'));
  assert.equal((await fetchMany([], { bulk: 1, parallel: 4, now: () => 3, fetchBatch })).sentAtMs, 3);
});

test('a batch whose reply is too large is asked for in halves, and a post that is by itself fails alone', async () => {
  const fetchBatch = async (batch: readonly string[]) => {
    const isTooLarge = batch.length > 2 || batch.includes('4');
    if (isTooLarge) throw new UpstreamError('MALFORMED', 'too large', { isTooLarge });
    return { ...answered, gone: batch };
  };
  const fetched = await fetchMany(ids, { bulk: 10, parallel: 2, now: () => 3, fetchBatch });
  assert.deepEqual(
    [...fetched.gone].sort(),
    ids.filter((id) => id !== '4'),
  );
  assert.deepEqual([...fetched.failed.keys()], ['4']);
});
