import assert from 'node:assert/strict';
import test from 'node:test';
import { UpstreamError } from '../../src/errors.ts';
import type { HttpClient } from '../../src/upstreams/http.ts';
import { readVersion } from '../../src/upstreams/mastodon-instance.ts';
import { createUpstream } from '../../src/upstreams/registry.ts';
import type { MastodonSpec } from '../../src/upstreams/spec.ts';
import { NOW_MS, testClock } from './replay-http.ts';

type Answers = Readonly<Record<string, unknown>>;

/** A server with these documents: a number is a status without one, an Error a request that fails; all else is 404. */
function server(answers: Answers, spec: Partial<MastodonSpec> = {}) {
  const asked: string[] = [];
  const known = { answers, nowMs: NOW_MS };
  const http: HttpClient = {
    async get({ url }) {
      asked.push(url.pathname);
      const answer = known.answers[url.pathname] ?? 404;
      if (answer instanceof Error) throw answer;
      const status = typeof answer === 'number' ? answer : 200;
      return { status, headers: {}, bodyText: status === 200 ? JSON.stringify(answer) : '', sentAtMs: known.nowMs };
    },
    close: () => Promise.resolve(),
  };
  const timeline = { type: 'public' } as const;
  const all = { kind: 'mastodon', url: 'https://s.example', host: 's.example', timeline, keepPrivate: true } as const;
  const clock = { ...testClock, now: () => known.nowMs };
  return { asked, known, upstream: createUpstream({ ...all, ...spec }, { http, clock }) };
}

const PUBLIC = '/api/v1/timelines/public';
const noAnswer = new UpstreamError('UNAVAILABLE', 'GET https://s.example/api/v2/instance did not answer');

test('a compatible server names itself in its version', () => {
  for (const [version, sourceUrl, name, number] of [
    ['4.3.1', 'https://github.com/mastodon/mastodon', 'mastodon', '4.3.1'],
    ['4.3.0+glitch', 'https://github.com/glitch-soc/mastodon', 'mastodon', '4.3.0+glitch'],
    ['2.7.2 (compatible; Pleroma 2.5.0)', undefined, 'pleroma', '2.5.0'],
    ['2.7.2 (compatible; Akkoma 3.10.4-0-gebfb617)', undefined, 'akkoma', '3.10.4-0-gebfb617'],
    ['3.5.3 (compatible; Pixelfed 0.11.4)', undefined, 'pixelfed', '0.11.4'],
    ['2.8.0 (compatible; Friendica 2023.05)', undefined, 'friendica', '2023.05'],
    ['4.2.1 (compatible; Iceshrimp.NET/2024.1)', undefined, 'iceshrimp.net', '2024.1'],
    ['4.0.0 (not true; really snac/2.94)', 'https://comam.es/what-is-snac', 'snac', '2.94'],
    ['takahe/0.9.0', undefined, 'takahe', '0.9.0'],
    ['0.19.2+git-90851fc', 'https://codeberg.org/superseriousbusiness/gotosocial', 'gotosocial', '0.19.2+git-90851fc'],
  ] as const) {
    assert.deepEqual(readVersion(version, sourceUrl), { software: { name, version: number }, surely: true });
  }
  for (const [version, sourceUrl] of [
    [undefined, undefined],
    ['3.5.3', undefined],
    ['3.5.3', 'not a url'],
    ['', ''],
  ]) {
    assert.equal(readVersion(version, sourceUrl), undefined);
  }
});

test('a fork with a repository of its own name is what nodeinfo calls it, and without nodeinfo what the repository does', async () => {
  const fork = { version: '4.3.1', source_url: 'https://git.example/us/our-town' };
  const nodeInfoOfFork = {
    '/.well-known/nodeinfo': {
      links: [{ rel: 'http://nodeinfo.diaspora.software/ns/schema/2.0', href: 'https://s.example/nodeinfo/2.0' }],
    },
    '/nodeinfo/2.0': { software: { name: 'mastodon', version: '4.3.1+town' } },
  };
  const told = await server({ '/api/v2/instance': fork, ...nodeInfoOfFork }).upstream.describe();
  assert.equal(told.software, 'mastodon 4.3.1+town');
  assert.equal(told.idScheme, 'mastodon');
  const silent = await server({ '/api/v2/instance': fork, [PUBLIC]: [] }).upstream.describe();
  assert.equal(silent.software, 'our-town 4.3.1');
  assert.equal(silent.idScheme, 'opaque');
});

test('an old Mastodon is found by nodeinfo, on its own origin whatever the link says', async () => {
  const { upstream, asked } = server({
    '/api/v1/instance': { version: '3.5.3' },
    '/.well-known/nodeinfo': {
      links: [{ rel: 'http://nodeinfo.diaspora.software/ns/schema/2.0', href: 'https://evil.example/nodeinfo/2.0' }],
    },
    '/nodeinfo/2.0': { software: { name: 'mastodon', version: '3.5.3' } },
  });
  const description = await upstream.describe();
  assert.equal(description.software, 'mastodon 3.5.3');
  assert.deepEqual([description.idScheme, description.bulk, description.throttles?.length], ['mastodon', 1, 1]);
  assert.deepEqual(asked, ['/api/v2/instance', '/api/v1/instance', '/.well-known/nodeinfo', '/nodeinfo/2.0']);
});

test('bulk requests by id are for Mastodon itself, from 4.3', async () => {
  const bulkOf = async (version: string) => {
    const source_url = version.includes('(') ? '' : 'https://github.com/mastodon/mastodon';
    return (await server({ '/api/v2/instance': { version, source_url } }).upstream.describe()).bulk;
  };
  assert.equal(await bulkOf('4.2.9'), 1);
  assert.equal(await bulkOf('4.3.0-beta.1'), 20);
  assert.equal(await bulkOf('5.0.0'), 20);
  assert.equal(await bulkOf('4.3.0 (compatible; Sharkey 2024.8)'), 1);
});

test('a server that tells nothing is described by the shape of its ids', async () => {
  const ids = ['01M7XD44QR5BJ411C2PWH2M7T9', '01M7XD44QJCE55MX0R6RAHQ6YY'].map((id) => ({ id }));
  assert.equal((await server({ [PUBLIC]: ids }).upstream.describe()).idScheme, 'ulid');
  const decimals = ['109348684804843987', '109348684804843986'].map((id) => ({ id }));
  assert.equal((await server({ [PUBLIC]: decimals }).upstream.describe()).idScheme, 'opaque', 'could be Pixelfed');
});

test("the settings' id scheme wins", async () => {
  const { upstream } = server({ '/api/v2/instance': { version: 'takahe/0.9.0' } }, { idScheme: 'opaque' });
  assert.deepEqual((await upstream.describe()).idScheme, 'opaque');
});

test('while a server does not answer, describing fails; its timeline is read all the same, and the question put again later', async () => {
  const post = { id: '117020593473214477', created_at: '2026-11-20T12:00:00Z', visibility: 'public' };
  const { upstream, known, asked } = server({ '/api/v2/instance': noAnswer, [PUBLIC]: [post] });
  await assert.rejects(upstream.describe(), noAnswer);
  assert.equal((await upstream.readPage({})).posts[0]?.idScheme, 'opaque');
  await upstream.readPage({});
  assert.equal(asked.filter((path) => path === '/api/v2/instance').length, 1, 'not on every poll');

  known.answers = {
    ...known.answers,
    '/api/v2/instance': { version: '4.5.0', source_url: 'https://x.example/mastodon' },
  };
  known.nowMs += 300_000;
  assert.equal((await upstream.readPage({})).posts[0]?.idScheme, 'mastodon');
});

test('an instance document that fails is passed over for the next one', async () => {
  const { upstream } = server({ '/api/v2/instance': 500, '/api/v1/instance': { version: 'takahe/0.9.0' } });
  assert.equal((await upstream.describe()).software, 'takahe 0.9.0');
  await assert.rejects(server({ '/api/v2/instance': 500 }).upstream.describe(), { code: 'UNAVAILABLE', status: 500 });
  await assert.rejects(server({ '/api/v2/instance': 429 }).upstream.describe(), { code: 'RATE_LIMITED' });
});
