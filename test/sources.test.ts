import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '../src/clock.ts';
import { checkSettings } from '../src/config.ts';
import { ConfigError } from '../src/errors.ts';
import type { Source } from '../src/source.ts';
import { buildSources } from '../src/sources.ts';
import type { HttpClient, HttpRequest } from '../src/upstreams/http.ts';

const town = { kind: 'mastodon', url: 'https://town.example', timeline: { type: 'public' } };
const home = { ...town, timeline: { type: 'home' }, token: 'ann-token', audience: ['ann'] };
const bird = { kind: 'twitter', api: '2', timeline: { type: 'user', userId: '12' }, token: 'bird-token' };

/** Answers everything with an empty list, and remembers what was asked. */
function deafHttp(): HttpClient & { readonly asked: HttpRequest[] } {
  const asked: HttpRequest[] = [];
  return {
    asked,
    async get(request) {
      asked.push(request);
      return { status: 200, headers: {}, bodyText: '[]', sentAtMs: 0 };
    },
    async close() {},
  };
}

function build(sources: object, extra: object = {}): Source[] {
  return buildSources(checkSettings({ sources, ...extra }, {}), { http: deafHttp(), clock: systemClock });
}

function only(source: object): Source {
  const [built] = build({ only: source });
  assert.ok(built);
  return built;
}

describe('sources', () => {
  it('keep the order of the settings, and ask nothing when they are built', () => {
    const http = deafHttp();
    const settings = checkSettings({ sources: { zoo: town, ant: bird, mid: home } }, {});
    const sources = buildSources(settings, { http, clock: systemClock });
    assert.deepEqual(
      sources.map(({ key }) => key),
      ['zoo', 'ant', 'mid'],
    );
    assert.deepEqual(http.asked, []);
  });

  it('name their timeline as people would', () => {
    const mastodon = [
      { type: 'home' },
      { type: 'public' },
      { type: 'public', only: 'local' },
      { type: 'tag', tag: 'Cats' },
      { type: 'list', id: '42' },
      { type: 'account', id: '01ABC' },
    ].map((timeline) => only({ ...home, timeline }).timeline);
    assert.deepEqual(mastodon, ['home', 'public', 'public (local)', 'tag #Cats', 'list 42', 'account 01ABC']);

    const twitter = [
      { type: 'home', userId: '1' },
      { type: 'user', userId: '2' },
      { type: 'list', id: '3' },
      { type: 'mentions', userId: '4' },
      { type: 'search', query: 'a "b"' },
    ].map((timeline) => only({ ...bird, timeline, audience: 'anyone' }).timeline);
    assert.deepEqual(twitter, ['home 1', 'user 2', 'list 3', 'mentions 4', 'search "a \\"b\\""']);
  });

  it('have a log that is named by kind, host and timeline, whatever their key', () => {
    assert.equal(only(town).logId, 'mastodon:town.example:public');
    assert.equal(
      only({ ...town, timeline: { type: 'public', only: 'remote' } }).logId,
      'mastodon:town.example:public:remote',
    );
    assert.equal(
      only({ ...town, timeline: { type: 'tag', tag: 'Käse:1' } }).logId,
      'mastodon:town.example:tag:k%C3%A4se%3A1',
    );
    assert.equal(only(bird).logId, 'twitter:x.com:user:12');
    assert.equal(build({ other: bird })[0]?.logId, only(bird).logId);
    assert.notEqual(only({ ...town, host: 'elsewhere.example' }).logId, only(town).logId);
  });

  it('have one log for each account of a home timeline, without its token', () => {
    const [ann, bob, again] = build({ a: home, b: { ...home, token: 'bob-token' }, c: home });
    assert.notEqual(ann?.logId, bob?.logId);
    assert.equal(ann?.logId, again?.logId);
    assert.match(ann?.logId ?? '', /^mastodon:town\.example:home:[0-9a-f]{16}$/);
  });

  it('share a budget when host and token are the same', () => {
    const tag = { ...town, timeline: { type: 'tag', tag: 'cats' } };
    const [a, b, c, d] = build({ a: town, b: tag, c: { ...tag, host: 'a.example', token: 'ann-token' }, d: home });
    assert.equal(a?.credentialId, 'town.example anonymous');
    assert.equal(b?.credentialId, a?.credentialId);
    assert.notEqual(c?.credentialId, d?.credentialId);
    assert.match(d?.credentialId ?? '', /^town\.example [0-9a-f]{16}$/);
  });

  it('are polled at least as rarely when idle as when asked for', () => {
    const [quick, slow] = build(
      {
        quick: { ...town, minIntervalMs: 50, overlap: 'retrieved-at' },
        slow: { ...bird, pollWhen: 'asked', maxPostsPerDay: 500 },
      },
      { polling: { idleIntervalMs: 1000 } },
    );
    assert.deepEqual(quick?.polling, {
      minIntervalMs: 50,
      idleIntervalMs: 1000,
      sweepIntervalMs: 300_000,
      overlapMs: 60_000,
      overlap: 'retrieved-at',
      pollWhen: 'always',
      maxPostsPerDay: undefined,
      ownInterval: true,
      ownOverlap: false,
      idScheme: undefined,
    });
    assert.equal(slow?.polling.idleIntervalMs, 60_000);
    assert.equal(slow?.polling.ownInterval, false);
    assert.equal(slow?.polling.pollWhen, 'asked');
    assert.equal(slow?.polling.maxPostsPerDay, 500);
  });

  it('are asked at their own URL with their own token', async () => {
    const http = deafHttp();
    const sources = { near: { ...home, url: 'http://127.0.0.1:9200/base/', deadlineMs: 100 } };
    const [source] = buildSources(checkSettings({ sources }, {}), { http, clock: systemClock });
    await source?.upstream.readPage({});
    const request = http.asked.at(-1);
    assert.equal(request?.token, 'ann-token');
    assert.equal(request?.deadlineMs, 100);
    assert.match(request?.url.href ?? '', /^http:\/\/127\.0\.0\.1:9200\/base\/api\/v1\/timelines\/home/);
  });

  it('show private posts for a list of users alone', async () => {
    const status = {
      id: '115000000000000001',
      uri: 'https://town.example/users/ann/statuses/1',
      created_at: '2026-11-20T12:00:00.000Z',
      visibility: 'private',
      content: '<p>for friends</p>',
      account: { id: '1', username: 'ann', acct: 'ann' },
    };
    const http: HttpClient = {
      ...deafHttp(),
      get: async () => ({ status: 200, headers: {}, bodyText: JSON.stringify([status]), sentAtMs: 0 }),
    };
    const counts = [];
    for (const audience of [['ann'], 'signed-in', 'anyone']) {
      const settings = checkSettings({ sources: { home: { ...home, audience } } }, {});
      const [source] = buildSources(settings, { http, clock: systemClock });
      counts.push((await source?.upstream.readPage({}))?.posts.length);
    }
    assert.deepEqual(counts, [1, 0, 0]);
  });

  it('may share a log with the same audience only, in any order', () => {
    const two = (audience: unknown) => () =>
      build({ mine: { ...home, audience: ['ann', 'bob'] }, yours: { ...home, audience } });
    assert.equal(two(['bob', 'ann'])().length, 2);
    const message = 'sources.mine and sources.yours are one timeline: required the same audience for both';
    for (const audience of ['anyone', 'signed-in', ['ann'], ['ann', 'bob', 'eve'], ['ann,bob']]) {
      assert.throws(two(audience), (error) => error instanceof ConfigError && error.message === message);
    }
  });

  it('may not share a log over two URLs or APIs', () => {
    const message =
      'sources.a and sources.b are one timeline: required the same url and api for both, or a host of its own for one';
    for (const other of [{ api: '1.1' }, { url: 'http://localhost:9200' }]) {
      assert.throws(() => build({ a: bird, b: { ...bird, ...other } }), new ConfigError(message));
    }
    assert.equal(build({ a: bird, b: { ...bird, api: '1.1', host: 'old.example' } }).length, 2);
  });
});
