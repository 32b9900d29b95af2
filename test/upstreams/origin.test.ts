import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type TestContext } from 'node:test';
import fc from 'fast-check';
import { UpstreamError } from '../../src/errors.ts';
import { probe } from '../../src/init/probe.ts';
import { createClient } from '../../src/upstreams/client.ts';
import { createHttpClient, type HttpClient, type HttpRequest } from '../../src/upstreams/http.ts';
import { createUpstream } from '../../src/upstreams/registry.ts';
import type { MastodonSpec } from '../../src/upstreams/spec.ts';
import { NOW_MS, testClock } from './replay-http.ts';

const REL = 'http://nodeinfo.diaspora.software/ns/schema/2.0';
const ORIGIN = 'https://s.example:8443';
const base = { host: 's.example', keepPrivate: true, token: 'secret', kind: 'mastodon' } as const;
const home: MastodonSpec = { ...base, url: `${ORIGIN}/below`, timeline: { type: 'home' } };

/** Answers each path's last part; whatever else is asked for tells a software. */
function recorder(answers: Readonly<Record<string, unknown>>, headers = {}): HttpClient & { sent: HttpRequest[] } {
  const sent: HttpRequest[] = [];
  return {
    sent,
    async get(request) {
      sent.push(request);
      const [, body = { software: { name: 'found' } }] =
        Object.entries(answers).find(([end]) => request.url.pathname.endsWith(end)) ?? [];
      const status = body === 404 ? 404 : 200;
      return { status, headers, bodyText: JSON.stringify(body), sentAtMs: NOW_MS };
    },
    close: async () => {},
  };
}

function nodeInfoAt(href: unknown) {
  return { '/instance': 404, '/.well-known/nodeinfo': { links: [{ rel: REL, href }] } };
}

function allStay(sent: readonly HttpRequest[]): void {
  for (const { url, origin } of sent) {
    assert.equal(url.origin, ORIGIN);
    assert.equal(origin, ORIGIN);
    assert.equal(url.username + url.password + url.hash, '');
    assert.ok(url.pathname.startsWith('/below/'), url.pathname);
    // What goes over the wire is read again by others.
    assert.equal(new URL(url.href).origin, ORIGIN);
  }
}

async function orUpstreamError(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => assert.ok(error instanceof UpstreamError, String(error)));
}

const scheme = fc.constantFrom('http:', 'https:', 'HTTP:', 'ftp:', 'file:', 'javascript:', 'data:', '');
const piece = fc.oneof(
  fc.constantFrom(
    '/',
    '//',
    '\\',
    '/\\',
    '\t',
    '\n',
    '..',
    '/../',
    '%2e%2e/',
    '/.',
    '@',
    ':',
    '#',
    '?',
    'evil.example',
  ),
  fc.constantFrom('127.0.0.1:80', '[::1]', 'user:pass@', '%2f%2f', '%5c', '\u0000', '\u3002', '\ud800', 'x', ' '),
  fc.string({ unit: 'binary', maxLength: 4 }),
);
const hostile = fc.tuple(scheme, fc.array(piece, { maxLength: 8 })).map(([start, pieces]) => start + pieces.join(''));

async function listen(t: TestContext, answer: (path: string) => unknown) {
  const asked: { path: string; token: string | undefined }[] = [];
  const server = createServer((request, response) => {
    asked.push({ path: request.url ?? '', token: request.headers.authorization });
    const body = answer(request.url ?? '');
    response.writeHead(body === undefined ? 404 : 200).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, port: (server.address() as AddressInfo).port };
}

test('a nodeinfo link that names a host in its path takes no request, and no token, there', async (t) => {
  const other = await listen(t, () => ({ software: { name: 'evil' } }));
  for (const href of [
    `//127.0.0.1:${other.port}/x`,
    `/\\127.0.0.1:${other.port}/x`,
    `/%09/127.0.0.1:${other.port}/x`,
  ]) {
    const own = await listen(t, (path) =>
      path === '/.well-known/nodeinfo' ? { links: [{ rel: REL, href: `http://town.example/${href}` }] } : undefined,
    );
    const http = createHttpClient({ version: '1' });
    t.after(() => http.close());
    const spec = { ...home, url: `http://127.0.0.1:${own.port}` };
    await orUpstreamError(createUpstream(spec, { http, clock: testClock }).describe());
    assert.deepEqual(other.asked, []);
    assert.ok(own.asked.length > 0 && own.asked.every(({ token }) => token === 'Bearer secret'));
  }
});

test('no request leaves the origin and the path of its source, whatever a nodeinfo link says', async () => {
  await fc.assert(
    fc.asyncProperty(hostile, async (href) => {
      const http = recorder(nodeInfoAt(href));
      await orUpstreamError(createUpstream(home, { http, clock: testClock }).describe());
      assert.ok(http.sent.length >= 3);
      allStay(http.sent);
    }),
    { numRuns: 500 },
  );
});

test('nor does one for posts by id, or for an older page, whatever their names', async () => {
  await fc.assert(
    fc.asyncProperty(hostile, fc.constantFrom('..', '.', '%2e%2e', '…'), async (text, dots) => {
      const link = `<${text.replaceAll(/[<>\n\r]/g, '')}?max_id=${encodeURIComponent(text.toWellFormed())}>; rel="next"`;
      const http = recorder({ '/instance': 404, '/.well-known/nodeinfo': 404 }, { link });
      const upstream = createUpstream({ ...home, idScheme: 'opaque' }, { http, clock: testClock });
      await orUpstreamError(upstream.fetchPosts([text, dots, '7']));
      await orUpstreamError(upstream.readPage({ next: text, sinceId: dots }));
      allStay(http.sent);
      const ids = http.sent.flatMap(({ url }) => /\/statuses\/(.*)$/.exec(url.pathname)?.[1] ?? []);
      assert.ok(ids.includes('7') && ids.every((id) => id !== ''), String(ids));
    }),
    { numRuns: 300 },
  );
});

test('nor does what init asks of a server, whatever it calls its accounts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(hostile, fc.constantFrom('..', '.', '')), async (id) => {
      const post = (n: number) => ({ id: String(117020593473214477n + BigInt(n)), account: { id } });
      const posts = [post(5), post(4), post(3), post(2), post(1)];
      const http = recorder({ ...nodeInfoAt(id), '/public': posts, '/photography': posts, '/statuses': posts });
      const client = createClient(home, { http, clock: testClock });
      await probe(client, { hasToken: false, told: () => {} });
      allStay(http.sent);
      for (const { url } of http.sent) assert.doesNotMatch(url.pathname, /^\/below\/api\/v1\/(accounts\/)?statuses$/);
    }),
    { numRuns: 200 },
  );
});

test('a path that a URL would change is refused before it is sent', () => {
  const client = createClient(home, { http: recorder({}), clock: testClock });
  for (const path of ['/../x', '/a/%2e%2e/b', '/a\\b', '/a\tb', '/a?b', '/a#b', 'a', '//h/../x']) {
    assert.throws(() => client.url(path), { code: 'MALFORMED' }, path);
  }
  assert.equal(client.url('//evil.example/x').href, `${ORIGIN}/below//evil.example/x`);
  const atRoot = createClient({ url: 'https://user:pass@s.example/?q#f' }, { http: recorder({}), clock: testClock });
  assert.equal(atRoot.url('//evil.example/x').href, 'https://s.example//evil.example/x');
});

test('what sends refuses a URL of another origin than its caller may ask', async (t) => {
  const other = await listen(t, () => []);
  const http = createHttpClient({ version: '1' });
  t.after(() => http.close());
  const url = new URL(`http://127.0.0.1:${other.port}/x`);
  for (const origin of ['http://127.0.0.1:1', `https://127.0.0.1:${other.port}`, `http://localhost:${other.port}`]) {
    await assert.rejects(http.get({ url, origin, token: 'secret' }), { code: 'MALFORMED' });
    const client = createClient({ url: origin, token: 'secret' }, { http, clock: testClock });
    await assert.rejects(client.get(url), { code: 'MALFORMED' });
  }
  assert.deepEqual(other.asked, []);
});

test('what a server calls its software is visible ASCII, and short', async () => {
  const name = `Mast\u0000odon\u202e\ud800${'x'.repeat(50)}`;
  const http = recorder({ ...nodeInfoAt('/n'), '/n': { software: { name, version: '4.3\r\n\u2066.1' } } });
  const { software } = await createUpstream(home, { http, clock: testClock }).describe();
  assert.equal(software, `mastodon ${'x'.repeat(50)} 4.3 .1`);
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), async (version, source_url) => {
      for (const document of [{ version }, { version, source_url }, { version: `1 (${version} 2)` }]) {
        const told = recorder({ '/instance': document, '/.well-known/nodeinfo': 404, '/home': [] });
        const description = await createUpstream(home, { http: told, clock: testClock }).describe();
        assert.match(description.software ?? '', /^([\x21-\x7e]+( [\x21-\x7e]+)*)?$/);
        assert.ok((description.software ?? '').length <= 201);
      }
    }),
  );
});
