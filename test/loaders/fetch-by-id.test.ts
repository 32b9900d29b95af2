import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UpstreamError } from '../../src/errors.ts';
import { createFetchById } from '../../src/loaders/fetch-by-id.ts';
import type { FetchedPosts, Upstream } from '../../src/upstreams/upstream.ts';
import { createSource, postIdOf } from '../timeline/polling-harness.ts';
import { createVirtualClock } from '../virtual-clock.ts';

const nothing: FetchedPosts = { posts: new Map(), gone: [], failed: new Map(), sentAtMs: 0 };
const described = { idScheme: 'opaque', roundsIds: false, pageSize: 40, sinceId: true, bulk: 2 } as const;

function setUp(fetchPosts: Upstream['fetchPosts']) {
  const clock = createVirtualClock();
  const readPage = async () => assert.fail('no page is read');
  const source = createSource({ upstream: { describe: async () => described, readPage, fetchPosts } });
  const heard: { requests: number; fetched?: FetchedPosts | undefined; error?: unknown }[] = [];
  const fetchById = createFetchById({
    takeById: async (_, count) => Math.min(count, 3),
    fetchedById: (_, outcome) => heard.push(outcome),
    clock,
    maxWaitMs: 3000,
  });
  const wanted = ['1', '2', '3', '4', '5', '6', '7'].map((id) => ({ id: postIdOf(id), upstreamId: id, source }));
  return { clock, heard, read: () => fetchById(wanted) };
}

describe('reads by id', () => {
  it('hand back what the upstream told, with how many requests were spent', async () => {
    const limits = [{ name: 'x-ratelimit', limit: 300, remaining: 0, resetAtMs: 1, endpoint: false }];
    let asked: readonly string[] = [];
    const { heard, read } = setUp(async (ids) => {
      asked = ids;
      return { ...nothing, gone: ids, limits };
    });
    await read();
    assert.deepEqual(asked, ['1', '2', '3', '4', '5', '6']);
    assert.deepEqual(heard, [{ requests: 3, fetched: { ...nothing, gone: asked, limits } }]);
  });

  it('hand back what broke them off, once', async () => {
    const error = new UpstreamError('RATE_LIMITED', 'answered 429', { retryAtMs: 9 });
    const { heard, read } = setUp(async () => Promise.reject(error));
    await read();
    assert.deepEqual(heard, [{ requests: 3, error }]);
  });

  it('do so too where the upstream hangs', async () => {
    const { clock, heard, read } = setUp(() => new Promise(() => {}));
    const reading = read();
    await clock.advance(3000);
    await reading;
    assert.deepEqual(
      heard.map(({ requests, error }) => [requests, error instanceof UpstreamError && error.code]),
      [[3, 'UNAVAILABLE']],
    );
  });
});
