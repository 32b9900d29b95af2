import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { simulatedId } from '../simulated-ids.ts';
import { readRecordings, recordings } from '../upstreams/replay-http.ts';
import { folder, runSluice } from './run-sluice.ts';

type Answer = (
  url: URL,
  request: IncomingMessage,
) => { status?: number; headers?: Record<string, string>; body: unknown };

async function serve(answer: Answer): Promise<string> {
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const { status = 200, headers = {}, body } = answer(url, request);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const START_MS = Date.UTC(2026, 10, 20);
const STATUSES = Array.from({ length: 60 }, (_, n) => ({
  id: simulatedId('mastodon', START_MS - n * 1000, n),
  account: { id: '7' },
  content: '<p>hello</p>',
}));

/** A Mastodon that shows its public timelines to everybody; `over` answers first. */
function mastodon(
  over: (url: URL, request: IncomingMessage) => ReturnType<Answer> | undefined = () => undefined,
): Answer {
  return (url, request) => {
    const own = over(url, request);
    if (own) return own;
    if (url.pathname === '/api/v2/instance') {
      return { body: { domain: 'town.example', version: '4.4.2', source_url: 'https://github.com/mastodon/mastodon' } };
    }
    if (url.pathname === '/api/v1/timelines/home') return { status: 401, body: { error: 'no' } };
    if (!/timelines|accounts/.test(url.pathname)) return { status: 404, body: {} };
    const sinceId = url.searchParams.get('since_id') ?? '';
    const page = STATUSES.filter(({ id }) => id > sinceId).slice(0, 40);
    const headers = {
      'x-ratelimit-limit': '300',
      'x-ratelimit-remaining': '295',
      'x-ratelimit-reset': new Date(Date.now() + 300_000).toISOString(),
    };
    return { headers, body: page };
  };
}

/** Runs `init` in a fresh folder; what it wrote is read, and checked by `sluice check`. */
async function init(args: readonly string[], env: Record<string, string> = {}) {
  const cwd = folder({});
  const run = await runSluice(['init', ...args], { cwd, env });
  const file = join(cwd, args.includes('--out') ? (args[args.indexOf('--out') + 1] ?? '') : 'sluice.config.ts');
  const text = run.code === 0 ? readFileSync(file, 'utf8') : '';
  return { ...run, cwd, file, text };
}

/** The file's own import needs the package; beside the sources it is a relative one. */
async function check(cwd: string, file: string, env: Record<string, string> = {}) {
  if (file.endsWith('.ts')) {
    const config = new URL('../../src/config.ts', import.meta.url).pathname;
    writeFileSync(file, readFileSync(file, 'utf8').replace("'sluice/config'", JSON.stringify(config)));
  }
  return runSluice(['check', '--config', file], { cwd, env });
}

describe('sluice init', () => {
  it('writes commented settings for what anybody may read, and they are valid', async () => {
    const url = await serve(mastodon());
    const { code, stdout, text, cwd, file } = await init([url]);
    assert.equal(code, 0);
    assert.match(stdout, /^software +mastodon 4\.4\.2$/m);
    assert.match(stdout, /^ids +mastodon$/m);
    assert.match(stdout, /^local +readable, 40 posts of 80 asked for$/m);
    assert.match(stdout, /^limit +295 of 300 requests left for 300 s$/m);
    assert.match(stdout, /^since_id +heeded; on account pages heeded$/m);
    assert.match(text, /^\/\/ software +mastodon 4\.4\.2$/m);
    assert.match(text, /^ {4}local: \{ kind: 'mastodon'/m);
    assert.match(text, /^ {4}\/\/ home: .*env\('SLUICE_TOKEN'\)/m);
    const { code: checked, stdout: told } = await check(cwd, file);
    assert.equal(checked, 0);
    assert.match(told, /is valid: 1 source$/m);
  });

  it('takes a token from the environment, sends it, and never writes it', async () => {
    const url = await serve(
      mastodon((asked, { headers }) => {
        if (headers.authorization === 'Bearer the-secret' || !asked.pathname.includes('/timelines/')) return undefined;
        return { status: 401, body: { error: 'This method requires an authenticated user' } };
      }),
    );
    const refused = await init([url]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /showed no timeline to this caller\. It may want a token: --token-env NAME/);

    const home = await serve(
      mastodon((asked, { headers }) => {
        if (headers.authorization !== 'Bearer the-secret') return { status: 401, body: {} };
        return asked.pathname.endsWith('/home') ? { body: STATUSES.slice(0, 40) } : undefined;
      }),
    );
    const env = { TOWN_TOKEN: 'the-secret' };
    const { code, stdout, text, cwd, file } = await init([home, '--token-env', 'TOWN_TOKEN'], env);
    assert.equal(code, 0);
    assert.match(text, /^ {4}home: \{ .*token: env\('TOWN_TOKEN'\), audience: \['demo'\] \},$/m);
    assert.ok(!`${stdout}${text}`.includes('the-secret'));
    assert.equal((await check(cwd, file, env)).code, 0);

    const unset = await init([home, '--token-env', 'TOWN_TOKEN']);
    assert.deepEqual([unset.code, unset.stderr], [2, 'sluice: --token-env: TOWN_TOKEN is not set\n']);
  });

  it('calls a tag that answers 404 one that nobody used yet, and goes on', async () => {
    const unused = (asked: URL) => (asked.pathname.includes('/tag/') ? { status: 404, body: {} } : undefined);
    const { code, stdout, text } = await init([await serve(mastodon(unused))]);
    assert.equal(code, 0);
    assert.match(stdout, /^tag +nobody used it there yet: GET .* answered 404/m);
    assert.match(text, /Nobody used this tag there yet/);
    assert.ok(!text.includes('no such timeline'));
    assert.match(text, /^ {4}local: \{/m);
  });

  it('writes no anonymous source where pages with a since_id want a token', async () => {
    const url = await serve(
      mastodon((asked) => (asked.searchParams.has('since_id') ? { status: 401, body: { error: 'no' } } : undefined)),
    );
    const { code, stdout, stderr } = await init([url]);
    assert.equal(code, 1);
    assert.match(stdout, /^local +refused: it answers a page, but none with a since_id$/m);
    assert.match(stderr, /It may want a token: --token-env NAME/);
  });

  it('warns where posts are refused by id: removals are then found by absence alone', async () => {
    const refused = (asked: URL) =>
      asked.pathname.startsWith('/api/v1/statuses/') ? { status: 401, body: '' } : undefined;
    const { code, stdout, text, cwd, file } = await init([await serve(mastodon(refused))]);
    assert.equal(code, 0);
    assert.match(stdout, /^by id +refused to this caller: removals are found by absence alone$/m);
    const warning = 'This server refuses single posts to this caller: removals are found by absence alone. A token may';
    assert.match(text, new RegExp(`// ${warning} change that\\.\n {4}local: `));
    assert.equal((await check(cwd, file)).code, 0);

    const answered = (asked: URL) =>
      asked.pathname.startsWith('/api/v1/statuses/') ? { body: STATUSES[0] } : undefined;
    const usual = await init([await serve(mastodon(answered))]);
    assert.match(usual.stdout, /^by id +answered$/m);
    assert.ok(!usual.text.includes('by absence'));
  });

  it('writes JSON where the name says so, never over a file, unless forced', async () => {
    const url = await serve(mastodon());
    const { code, text, cwd, file } = await init([url, '--out', 'my.json']);
    assert.equal(code, 0);
    assert.deepEqual(Object.keys(JSON.parse(text).sources), ['local']);
    assert.equal((await check(cwd, file)).code, 0);
    const again = await runSluice(['init', url, '--out', 'my.json'], { cwd });
    assert.equal(again.code, 2);
    assert.match(again.stderr, /is there already: --force overwrites it/);
    assert.equal((await runSluice(['init', url, '--out', 'my.json', '--force'], { cwd })).code, 0);
    assert.equal((await runSluice(['init', url, '--out', 'my.yaml'], { cwd })).code, 2);
  });

  for (const [name, software, scheme] of [
    ['gotosocial', /gotosocial 0\.19/, 'ulid'],
    ['hollo', /hollo 0\.10/, 'uuidv7'],
    ['snac', /snac 2\.94/, 'opaque'],
  ] as const) {
    it(`recognises ${name} by what it answered`, async () => {
      const all = readRecordings(recordings(name));
      const url = await serve((asked) => {
        const same = all.filter(({ request }) => request.path?.split('?')[0] === asked.pathname);
        const page = asked.pathname.includes('/timelines/public')
          ? all.find((one) => one.name.endsWith('-public-limit5.json'))
          : same[0];
        const { status = 404, headers = {}, bodyText = '{}' } = page ?? {};
        const { 'content-type': type = 'application/json' } = headers;
        return { status, headers: { 'content-type': type }, body: bodyText };
      });
      const { code, stdout, cwd, file } = await init([url]);
      assert.equal(code, 0);
      assert.match(stdout, software);
      assert.match(stdout, new RegExp(`^ids +${scheme}$`, 'm'));
      assert.match(stdout, /^since_id +ignored/m);
      assert.equal((await check(cwd, file)).code, 0);
    });
  }

  it('writes for Twitter without asking it', async () => {
    for (const name of ['x.com', 'https://api.twitter.com']) {
      const { code, text, cwd, file } = await init([name, '--token-env', 'BIRD'], { BIRD: 'b' });
      assert.equal(code, 0);
      assert.match(text, /kind: 'twitter'.*token: env\('BIRD'\), maxPostsPerDay: 500/);
      assert.equal((await check(cwd, file, { BIRD: 'b' })).code, 0);
    }
  });

  it('is not harmed by what a hostile server says of itself', async () => {
    const evil = "x */ ' \u2028 \n process.exit(3) // `";
    const url = await serve(
      mastodon((asked) => {
        if (asked.pathname === '/api/v2/instance')
          return { body: { version: `1.0 (compatible; ${evil} 1.0)`, domain: evil } };
        return undefined;
      }),
    );
    const { code, stdout, text, cwd, file } = await init([url]);
    assert.equal(code, 0);
    assert.ok(!/[\p{Cc}\p{Zl}\p{Zp}]/u.test((text + stdout).replaceAll('\n', '')));
    assert.ok(text.split('\n').every((line) => !/process\.exit/.test(line) || line.startsWith('//')));
    assert.equal((await check(cwd, file)).code, 0);
  });

  for (const [name, answer] of [
    ['HTML', () => ({ headers: { 'content-type': 'text/html' }, body: '<html>' })],
    ['garbage', () => ({ body: '{"a":' })],
    ['401 everywhere', () => ({ status: 401, body: '' })],
    ['a redirect', () => ({ status: 301, headers: { location: 'https://elsewhere.example/' }, body: '' })],
    ['429', () => ({ status: 429, headers: { 'retry-after': '60' }, body: '' })],
    ['empty timelines of no known server', () => ({ status: 404, body: '[]' })],
  ] as const) {
    it(`fails with a reason, and writes nothing, when the server answers with ${name}`, async () => {
      const { code, stderr } = await init([await serve(answer)]);
      assert.equal(code, 1);
      assert.match(stderr, /^sluice: \S.{10,}/);
      assert.ok(!stderr.includes('    at '), 'no stack');
    });
  }

  it('says what is wrong with a URL', async () => {
    for (const text of [
      'ftp://town.example',
      'http://town.example',
      'https://a:b@town.example',
      'not a url',
      'https://',
    ]) {
      const { code, stderr } = await init([text]);
      assert.equal(code, 2, text);
      assert.match(stderr, /^sluice: init: required/, text);
      assert.ok(!stderr.includes('a:b'), 'no password is told');
    }
    assert.equal((await runSluice(['init'])).code, 2);
  });
});
