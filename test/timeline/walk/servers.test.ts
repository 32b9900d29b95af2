import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { IdSchemeName } from '../../../src/post.ts';
import { openSqliteStore } from '../../../src/stores/sqlite.ts';
import { createPollers } from '../../../src/timeline/pollers.ts';
import { createUpstream } from '../../../src/upstreams/registry.ts';
import type { MastodonTimeline } from '../../../src/upstreams/spec.ts';
import { readRecordings, recordings } from '../../upstreams/replay-http.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { createSource, LOG } from '../polling-harness.ts';

type Server = 'gotosocial' | 'hollo' | 'mastodon' | 'snac';

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

type Status = { id: string; content: string; uri: string } & Record<string, unknown>;

/** The statuses of a recorded page, as that server wrote them. */
function pageOf(server: Server, name: string): Status[] {
  return JSON.parse(recorded(server, name).bodyText);
}

function recorded(server: Server, name: string) {
  const found = readRecordings(recordings(server)).find(
    (one) => one.name.replace(/.*\//, '').replace(/^\d+-/, '') === `${name}.json`,
  );
  assert.ok(found, `no recording ${name} of ${server}`);
  return found;
}

/** Sluice's poller on the real adapter, over a server that answers pages as `answer` says and all else as recorded. */
async function poll(options: {
  server: Server;
  timeline?: MastodonTimeline;
  idScheme?: IdSchemeName;
  answer: (query: URLSearchParams, count: number) => Answer;
}) {
  const { server, timeline = { type: 'home' }, answer } = options;
  const clock = createVirtualClock(Date.UTC(2026, 10, 21, 12));
  const all = readRecordings(recordings(server));
  const queries: URLSearchParams[] = [];
  const http = {
    async get({ url }: { url: URL }) {
      if (url.pathname.includes('/timelines/') || url.pathname.endsWith('/statuses')) {
        queries.push(url.searchParams);
        const { status = 200, headers = {}, body } = answer(url.searchParams, queries.length);
        const bodyText = typeof body === 'string' ? body : JSON.stringify(body);
        return { status, headers: { 'content-type': 'application/json', ...headers }, bodyText, sentAtMs: clock.now() };
      }
      const found = all.find(({ request }) => request.path?.split('?')[0] === url.pathname);
      if (!found) return { status: 404, headers: {}, bodyText: '{}', sentAtMs: clock.now() };
      const { status, headers, bodyText } = found;
      return { status, headers, bodyText, sentAtMs: clock.now() };
    },
    async close() {},
  };
  const host = `${server}.example`;
  const { idScheme } = options;
  const upstream = createUpstream(
    { kind: 'mastodon', url: `https://${host}`, host, timeline, token: 'ada', keepPrivate: true, idScheme },
    { http, clock },
  );
  const source = createSource({ upstream }, { minIntervalMs: 60_000, idScheme });
  const store = await openSqliteStore({ file: ':memory:' });
  const keep = { keepHours: 168, keepEntries: 10_000 };
  const pollers = createPollers({ sources: [source], store, clock, holder: 'one', keep, random: () => 0.5 });
  pollers.start();
  return {
    clock,
    pollers,
    queries,
    records: () => store.timelines.recordsAfter({ logId: LOG, limit: 1000 }),
    state: () => store.timelines.readLog(LOG),
    status: () => store.timelines.readStatus(LOG),
    posts: async (ids: readonly string[]) => [...(await store.posts.getPosts(ids)).values()].map(({ post }) => post),
  };
}

const MINUTE = 60_000;
const isOlder = (query: URLSearchParams) => query.has('max_id');

describe('servers whose account pages ignore since_id', () => {
  for (const [server, name] of [
    ['hollo', 'account-limit5'],
    ['gotosocial', 'account-limit5'],
    ['snac', 'account-since-idx30-limit5'],
  ] as const) {
    it(`${server}: a poll costs one request, nothing comes twice, nothing is a gap`, async () => {
      const page = pageOf(server, name);
      const timeline = { type: 'account', id: 'ada' } as const;
      const world = await poll({ server, timeline, answer: (query) => ({ body: isOlder(query) ? [] : page }) });
      await world.clock.advance(10 * MINUTE);
      const records = await world.records();
      assert.equal(records.length, page.length);
      assert.equal(world.queries.length, 11);
      assert.deepEqual((await world.state()).gaps, []);
      await world.pollers.stop();
    });

    it(`${server}: a new post on top comes once`, async () => {
      const page = pageOf(server, name);
      const timeline = { type: 'account', id: 'ada' } as const;
      const answer = (query: URLSearchParams, count: number) => ({
        body: isOlder(query) ? [] : count < 4 ? page.slice(1) : page,
      });
      const world = await poll({ server, timeline, answer });
      await world.clock.advance(10 * MINUTE);
      const uris = (await world.records()).map(({ uri }) => uri);
      assert.deepEqual([...uris].sort(), page.map(({ uri }) => uri).sort());
      await world.pollers.stop();
    });
  }
});

describe('a since_id that is answered with nothing for ever', () => {
  it('gotosocial: settings that name another scheme are noticed, ids are taken as opaque', async () => {
    const page = pageOf('gotosocial', 'live-home-three-new');
    const answer = (query: URLSearchParams, count: number) => {
      const since = query.get('since_id');
      // As recorded in home-since-snowflake18: 200 and no posts.
      if (since !== null && /^\d+$/.test(since)) return { body: [] };
      return { body: isOlder(query) ? [] : count < 4 ? page.slice(2) : page };
    };
    const world = await poll({ server: 'gotosocial', idScheme: 'mastodon', answer });
    await world.clock.advance(20 * MINUTE);
    assert.equal((await world.records()).length, page.length);
    assert.equal((await world.state()).memory?.scheme, 'opaque');
    await world.pollers.stop();
  });

  it('gotosocial in the place of a mastodon: the poller notices, walks pages, and tells that for a day', async () => {
    const page = pageOf('gotosocial', 'live-home-three-new');
    const before = page.map((status, n) => ({ ...status, id: `11500000000000000${n}`, uri: `${status.uri}/before` }));
    const answer = (query: URLSearchParams, count: number) => {
      if (count < 4) return { body: isOlder(query) ? [] : before };
      return { body: query.has('since_id') || isOlder(query) ? [] : page };
    };
    const world = await poll({ server: 'gotosocial', idScheme: 'mastodon', answer });
    await world.clock.advance(30 * MINUTE);
    assert.equal((await world.records()).length, 2 * page.length);
    const late = world.queries.slice(-10);
    assert.ok(
      late.every((query) => !query.has('since_id') && !isOlder(query)),
      'one request a poll, without since_id',
    );
    assert.ok((await world.state()).memory?.brokenAtMs);
    await world.pollers.stop();
  });

  it('a timeline whose posts were all deleted is looked into once, and since_id stays', async () => {
    const page = pageOf('gotosocial', 'live-home-three-new');
    const answer = (query: URLSearchParams, count: number) => ({ body: count < 3 && !isOlder(query) ? page : [] });
    const world = await poll({ server: 'gotosocial', answer });
    await world.clock.advance(30 * MINUTE);
    assert.equal(world.queries.filter((query) => !query.has('since_id')).length, 2, 'the first poll, and one look');
    assert.equal((await world.state()).memory?.brokenAtMs, undefined);
    await world.pollers.stop();
  });
});

describe('snac', () => {
  it("shows a boost in the original's place, its id in upper case: it is an entry of its own, once", async () => {
    const originals = pageOf('snac', 'live-public-after-boost-of-old');
    const original = originals.find(({ id }) => /[a-f]/.test(id));
    assert.ok(original);
    const boost = { ...original, id: original.id.toUpperCase(), uri: `${original.uri}/boost`, reblog: original };
    const page = originals.flatMap((status) => (status === original ? [boost, status] : [status]));
    const answer = (query: URLSearchParams, count: number) => ({
      body: isOlder(query) ? [] : count < 4 ? originals : page,
    });
    const world = await poll({ server: 'snac', timeline: { type: 'public' }, answer });
    await world.clock.advance(10 * MINUTE);
    const records = await world.records();
    assert.equal(records.length, page.length);
    assert.equal(new Set(records.map(({ postId }) => postId)).size, page.length);
    assert.deepEqual([...new Set(records.map(({ kind }) => kind))], ['entry']);
    await world.pollers.stop();
  });

  it("changes an id's first digits with an edit: an edit, not another post", async () => {
    const page = pageOf('snac', 'live-home-three-new');
    const [first] = page;
    assert.ok(first);
    const edited = {
      ...first,
      id: `${Number(first.id.slice(0, 10)) + 60}${first.id.slice(10)}`,
      content: '<p>new</p>',
      edited_at: '2026-11-21T12:00:00.000Z',
    };
    const answer = (query: URLSearchParams, count: number) => ({
      body: isOlder(query) ? [] : count < 4 ? page : [edited, ...page.slice(1)],
    });
    const world = await poll({ server: 'snac', answer });
    await world.clock.advance(10 * MINUTE);
    const kinds = (await world.records()).slice(page.length).map(({ kind }) => kind);
    assert.deepEqual(kinds, ['edit']);
    await world.pollers.stop();
  });

  it('gives the whole newest page again when the cursor post was deleted: nothing twice', async () => {
    const page = pageOf('snac', 'live-home-three-new');
    const answer = (query: URLSearchParams, count: number) => ({
      body: isOlder(query) ? [] : count < 4 ? page : page.slice(0, -1),
    });
    const world = await poll({ server: 'snac', answer });
    await world.clock.advance(30 * MINUTE);
    assert.equal((await world.records()).length, page.length);
    assert.deepEqual((await world.state()).gaps, []);
    await world.pollers.stop();
  });

  it('refuses a token with an empty HTML body: the source is stopped, and says why', async () => {
    const { status, headers, bodyText } = recorded('snac', 'home-no-token');
    const world = await poll({ server: 'snac', answer: () => ({ status, headers, body: bodyText }) });
    await world.clock.advance(60 * MINUTE);
    const told = await world.status();
    assert.deepEqual([told?.state, told?.problems[0]?.code], ['STOPPED', 'UNAUTHORIZED']);
    assert.equal(world.queries.length, 2, 'one 401 may be a stray one; then an hour passes');
    await world.pollers.stop();
  });
});

describe('mastodon', () => {
  it('moves the media of a post to other addresses: no edit, but their present addresses; an edit is told by its time', async () => {
    const page = pageOf('mastodon', 'public-remote');
    const [first] = page;
    assert.ok(first && JSON.stringify(first).includes('/media/901.png'));
    const proxied = JSON.parse(JSON.stringify(page).replaceAll('/media/901.png', '/media_proxy/901'));
    const edited = [{ ...first, content: '<p>new</p>', edited_at: '2026-11-21T12:05:00.000Z' }, ...page.slice(1)];
    const answer = (query: URLSearchParams, count: number) => ({
      body: isOlder(query) ? [] : count < 3 ? proxied : count < 9 ? page : edited,
    });
    const world = await poll({ server: 'mastodon', timeline: { type: 'public', only: 'remote' }, answer });
    while (world.queries.length < 8) await world.clock.advance(1000);
    const records = await world.records();
    assert.deepEqual(
      records.map(({ kind }) => kind),
      page.map(() => 'entry'),
    );
    const [post] = await world.posts([`${first.id}@mastodon.example`]);
    assert.deepEqual(
      post?.media.map(({ url }) => url),
      ['https://town.example/media/901.png', 'https://town.example/media/902.mp4'],
    );
    await world.clock.advance(10 * MINUTE);
    const changed = (await world.records()).slice(page.length);
    assert.deepEqual(
      changed.map(({ kind, postId }) => [kind, postId]),
      [['edit', `${first.id}@mastodon.example`]],
    );
    await world.pollers.stop();
  });
});

describe('errors of real servers', () => {
  const page = pageOf('hollo', 'live-home-three-new');
  for (const [name, failure, state] of [
    ['hollo: 500 with an empty body', { status: 500, body: '' }, 'FAILING'],
    [
      'hollo: an error that is an object',
      { status: 400, body: { error: { issues: [], name: 'ZodError' } } },
      'FAILING',
    ],
    ['gotosocial: 429 without Retry-After', { status: 429, body: { error: 'Too Many Requests' } }, 'WAITING'],
    ['mastodon: 503 as HTML', { status: 503, headers: { 'content-type': 'text/html' }, body: '<html>' }, 'FAILING'],
    ['mastodon: an empty body', { status: 200, body: '' }, 'FAILING'],
  ] as const) {
    it(`${name}: the state tells, and afterwards all comes once`, async () => {
      const answer = (query: URLSearchParams, count: number): Answer => {
        if (count === 2 || count === 3) return failure;
        return { body: isOlder(query) ? [] : count < 3 ? page.slice(1) : page };
      };
      const world = await poll({ server: 'hollo', answer });
      while (world.queries.length < 2) await world.clock.advance(1000);
      await world.clock.advance(1);
      assert.equal((await world.status())?.state, state);
      await world.clock.advance(30 * MINUTE);
      assert.equal((await world.status())?.state, 'OK');
      assert.equal((await world.records()).length, page.length);
      await world.pollers.stop();
    });
  }
});

describe('gotosocial', () => {
  it('has ids of the future: they are entries once, and never lift the watermark', async () => {
    const page = pageOf('gotosocial', 'live-home-three-new');
    const [first, ...rest] = page;
    assert.ok(first);
    const future = { ...first, id: `7Z${first.id.slice(2)}`, uri: `${first.uri}/future` };
    const answer = (query: URLSearchParams, count: number) => ({
      body: isOlder(query) ? [] : count < 4 ? rest : [future, first, ...rest],
    });
    const world = await poll({ server: 'gotosocial', answer });
    await world.clock.advance(30 * MINUTE);
    assert.equal((await world.records()).length, page.length + 1);
    const state = await world.state();
    assert.equal(state.watermark?.upstreamId, first.id);
    assert.deepEqual(state.gaps, []);
    const polls = world.queries.slice(-20).filter((query) => query.has('since_id'));
    assert.ok(polls.every((query) => (query.get('since_id') ?? '') < first.id));
    await world.pollers.stop();
  });
});
