import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UpstreamError } from '../../../src/errors.ts';
import type { Requests } from '../../../src/timeline/dispatch/requests.ts';
import { createPace } from '../../../src/timeline/poll/pace.ts';
import { openLog } from '../../../src/timeline/poll/poll.ts';
import { readStretch } from '../../../src/timeline/walk/read-stretch.ts';
import { createServerClock } from '../../../src/timeline/walk/server-clock.ts';
import type { SourceContext } from '../../../src/timeline/walk/source-context.ts';
import type { StretchPlan } from '../../../src/timeline/walk/stretch.ts';
import type { PageRequest } from '../../../src/upstreams/upstream.ts';
import { createPollingHarness, type PollingHarnessOptions } from '../polling-harness.ts';

const OPAQUE: PollingHarnessOptions = { scheme: 'opaque', isOpaque: true };

/** A log that has read `known` posts, 5 s apart, of a server whose pages hold 10; then `fresh` more are published. */
async function walkOf(
  options: PollingHarnessOptions & { known?: number; fresh?: number; mayGoOn?: () => boolean } = {},
) {
  let refuse: (request: PageRequest) => boolean = () => false;
  const harness = await createPollingHarness({
    pageSize: 10,
    ...options,
    before(request) {
      if (refuse(request)) throw new UpstreamError('UNAVAILABLE', 'answered 503', { status: 503 });
      return undefined;
    },
  });
  const { clock, store, source } = harness;
  harness.pollers.start();
  const ids: string[] = [];
  for (let n = 0; n < (options.known ?? 30); n += 1) {
    ids.push(harness.publish());
    await clock.advance(5000);
  }
  await clock.advance(60_000);
  await harness.pollers.stop();
  const fresh: string[] = [];
  for (let n = 0; n < (options.fresh ?? 0); n += 1) {
    fresh.push(harness.publish());
    await clock.advance(1000);
  }
  const requests = {
    send: (_: unknown, work: () => Promise<unknown>) => work(),
    describe: (work: () => Promise<unknown>) => work(),
    mayGoOn: options.mayGoOn ?? (() => true),
    mayReadById: () => true,
  } as Pick<Requests, 'send' | 'describe' | 'mayGoOn' | 'mayReadById'> as Requests;
  const context: SourceContext = {
    ...{ source, store, clock, requests, maxPages: 100, keepMs: 0, notes: { requests: 0, duplicatesDropped: 0 } },
    ...{ signal: new AbortController().signal, serverClock: createServerClock(clock), pace: createPace(clock) },
  };
  const read = async (plan: Partial<StretchPlan> = {}) => {
    const log = await openLog(context);
    const readFor = { kind: 'poll', pool: 'poll' } as const;
    return readStretch(context, log, { readFor, bottomKey: log.state.floorKey, maxPages: 100, ...plan });
  };
  /** The order key of a known post. */
  const keyOf = async (n: number) => {
    const all = await store.timelines.knownBetween({ logId: source.logId, limit: 1000 });
    return all.find(({ upstreamId }) => upstreamId === ids[n])?.orderKey ?? '';
  };
  return {
    ...{ harness, context, ids, fresh, read, keyOf },
    refuse: (when: (request: PageRequest) => boolean) => {
      refuse = when;
    },
    readIds: (stretch: Awaited<ReturnType<typeof read>>) => stretch.reads.map(({ post }) => post.upstreamId),
  };
}

for (const [name, options] of [
  ['with an order', {}],
  ['without an order', OPAQUE],
] as const) {
  describe(`a stretch of ids ${name}`, () => {
    it('ends at the bottom: with the page that holds it', async () => {
      const { read, keyOf, fresh, ids, readIds } = await walkOf({ ...options, fresh: 15 });
      const stretch = await read({ bottomKey: await keyOf(27) });
      assert.deepEqual([stretch.end, stretch.requests], ['bottom', 2]);
      assert.deepEqual(readIds(stretch), [...fresh.toReversed(), ...ids.slice(25).toReversed()]);
      assert.equal(stretch.lowestKey, await keyOf(25));
    });

    it('is joined where it may not go on, but came down to what is known', async () => {
      const { read, keyOf } = await walkOf({ ...options, fresh: 15 });
      const stretch = await read({ bottomKey: await keyOf(3), maxPages: 2 });
      assert.deepEqual([stretch.end, stretch.brokenBy], ['joined', undefined]);
    });

    it('is broken where it may not go on before that, and tells where reading goes on', async () => {
      const { read, keyOf, fresh } = await walkOf({ ...options, fresh: 25 });
      const bottomKey = await keyOf(27);
      const capped = await read({ bottomKey, maxPages: 2 });
      assert.deepEqual([capped.end, capped.brokenBy, capped.next], ['broken', 'PAGE_CAP', fresh[5]]);
      const { read: readSlowly } = await walkOf({ ...options, fresh: 25, mayGoOn: () => false });
      const slow = await readSlowly({ bottomKey });
      assert.deepEqual([slow.end, slow.brokenBy, slow.requests], ['broken', 'RATE_LIMITED', 1]);
    });

    it('is broken by an error after its first page, which throws its own', async () => {
      const { read, keyOf, refuse } = await walkOf({ ...options, fresh: 25 });
      const bottomKey = await keyOf(27);
      refuse(({ next }) => next !== undefined);
      const stretch = await read({ bottomKey });
      assert.deepEqual(
        [stretch.end, stretch.brokenBy, stretch.error?.code],
        ['broken', 'UPSTREAM_ERROR', 'UNAVAILABLE'],
      );
      refuse(() => true);
      await assert.rejects(read({ bottomKey }), { code: 'UNAVAILABLE' });
    });

    it('is cut where the timeline ends, and shows nothing of what is known', async () => {
      const { read, fresh } = await walkOf({ ...options, fresh: 40, feedDepth: 20 });
      const stretch = await read();
      assert.equal(stretch.end, 'cut');
      assert.equal(stretch.reads.length, Math.min(20, fresh.length));
    });

    it('ends where the timeline does, and what is known was shown', async () => {
      const { read, harness, ids } = await walkOf({ ...options, fresh: 15 });
      const [lowest = ''] = ids;
      harness.server.timeline.change(lowest, { isDeleted: true });
      assert.equal((await read()).end, 'end');
    });

    it('ends where nothing that is known is there any more', async () => {
      const { read, harness, ids } = await walkOf(options);
      for (const id of ids) harness.server.timeline.change(id, { isDeleted: true });
      const stretch = await read();
      assert.deepEqual([stretch.end, stretch.reads.length], ['end', 0]);
    });

    it('ends where the few that are known were deleted, which the log does not know yet', async () => {
      for (const isThere of [false, true]) {
        const { read, harness, ids } = await walkOf({ ...options, known: 3, fresh: 12, feedDepth: 12 });
        for (const id of isThere ? ids.slice(1) : ids) harness.server.timeline.change(id, { isDeleted: true });
        assert.equal((await read()).end, isThere ? 'cut' : 'end');
      }
    });

    it('goes on after pages that are short, or show nothing', async () => {
      const { read, keyOf, harness, fresh, readIds } = await walkOf({ ...options, fresh: 45 });
      for (const id of fresh.slice(5, 40)) harness.server.timeline.change(id, { isHidden: true });
      const stretch = await read({ bottomKey: await keyOf(27) });
      assert.equal(stretch.end, 'bottom');
      assert.deepEqual(readIds(stretch).slice(0, 10), [
        ...fresh.slice(40).toReversed(),
        ...fresh.slice(0, 5).toReversed(),
      ]);
    });

    it('does not go round in circles', async () => {
      const { context, read, harness } = await walkOf({ ...options, fresh: 15 });
      const { upstream } = harness.source;
      const source = { ...harness.source, upstream: { ...upstream, readPage: () => upstream.readPage({}) } };
      Object.assign(context, { source });
      const stretch = await read();
      assert.deepEqual([stretch.end, stretch.requests], ['cut', 2]);
    });
  });
}

describe('a stretch above a since_id', () => {
  it('is read once more without it where it seems to hide what is known, and only once', async () => {
    const { read, harness, ids, context } = await walkOf({ fresh: 3 });
    const sinceId = ids[20] ?? '';
    // What stands above the anchor was deleted: nothing that is known is shown.
    for (const id of ids.slice(21)) harness.server.timeline.change(id, { isDeleted: true });
    const before = harness.server.requests.length;
    const first = await read({ sinceId, bottomKey: '1' });
    const asked = harness.server.requests.slice(before).map((request) => request.sinceId);
    assert.deepEqual(asked.slice(0, 3), [sinceId, sinceId, undefined]);
    assert.equal(first.end, 'end');
    assert.equal(context.notes.brokenAtMs, undefined);
    const again = harness.server.requests.length;
    await read({ sinceId, bottomKey: '1' });
    assert.ok(harness.server.requests.slice(again).every((request) => request.sinceId === sinceId));
  });

  it('is not taken for cut where it was not answered without it, but read without it next', async () => {
    const { read, harness, ids, refuse } = await walkOf({ fresh: 3 });
    const plan = { sinceId: ids[20] ?? '', bottomKey: '1' };
    for (const id of ids.slice(21)) harness.server.timeline.change(id, { isDeleted: true });
    refuse(({ sinceId }) => sinceId === undefined);
    for (let tries = 0; tries < 2; tries += 1) await assert.rejects(read(plan), { code: 'UNAVAILABLE' });
    refuse(() => false);
    assert.equal((await read(plan)).end, 'end');
    const before = harness.server.requests.length;
    await read(plan);
    assert.equal(harness.server.requests[before]?.sinceId, plan.sinceId);
  });

  it('finds out a server that answers it with nothing for ever', async () => {
    const { read, harness, ids, fresh, context, readIds } = await walkOf({ fresh: 3 });
    const { upstream } = harness.source;
    const readPage = async (request: PageRequest) => {
      const page = await upstream.readPage(request);
      return request.sinceId === undefined ? page : { ...page, posts: [], ids: [], next: undefined };
    };
    Object.assign(context, { source: { ...harness.source, upstream: { ...upstream, readPage } } });
    const stretch = await read({ sinceId: ids[28] ?? '', bottomKey: '1' });
    assert.ok(fresh.every((id) => readIds(stretch).includes(id)));
    assert.ok(context.notes.brokenAtMs !== undefined);
  });
});

describe('a stretch of a post that is there twice', () => {
  it('holds it once', async () => {
    const { read, harness, context } = await walkOf({ fresh: 5 });
    const { upstream } = harness.source;
    const readPage = async (request: PageRequest) => {
      const page = await upstream.readPage(request);
      return { ...page, posts: [...page.posts, ...page.posts], ids: [...page.ids, ...page.ids] };
    };
    Object.assign(context, { source: { ...harness.source, upstream: { ...upstream, readPage } } });
    const stretch = await read({ maxPages: 1 });
    assert.deepEqual([stretch.reads.length, stretch.ids.size], [10, 10]);
  });
});
