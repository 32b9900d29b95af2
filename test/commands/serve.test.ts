import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { type Demo, startDemo } from '../../src/demo/demo.ts';

const BIN = new URL('../../bin/sluice.js', import.meta.url).pathname;
let directory = '';

before(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-serve-'));
});
after(() => rmSync(directory, { recursive: true, force: true }));

describe('the demo, without a settings file', () => {
  test('answers both feeds, and stops with exit code 0 on SIGTERM', async (t) => {
    const { child, url, lines } = await startServing({ PORT: '0' }, t.signal);
    assert.match(lines.join('\n'), /demo/);
    assert.match(lines.join('\n'), /curl -s http/);

    const { data, errors } = await ask(
      url,
      '{ viewer { userId } timeline { entries { post { id } } since } forYou { items { post { id } } state } }',
    );
    assert.equal(errors, undefined);
    assert.equal(data.viewer.userId, 'demo');
    assert.ok(data.timeline.entries.length > 0);
    assert.equal(typeof data.timeline.since, 'string');
    assert.ok(data.forYou.items.length > 0);
    assert.equal(data.forYou.state, 'GENERATED');

    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  test('is refused in production, with the folder that has no settings file', async () => {
    const { code, stderr } = await run({ NODE_ENV: 'production' });
    assert.equal(code, 2);
    assert.equal(stderr, `sluice: no sluice.config.* in ${directory}\n`);
  });

  test('is refused on a host that is not loopback', async () => {
    const { code, stderr } = await run({ HOST: '0.0.0.0', PORT: '0' });
    assert.equal(code, 2);
    assert.match(stderr, /^sluice: HOST: the demo listens on loopback hosts alone, got "0\.0\.0\.0"/);
  });
});

describe('a gateway with a settings file and a sqlite file', () => {
  let demo: Demo;
  before(async () => {
    demo = await startDemo(systemClock);
    const config = { ...demo.config, store: `sqlite:${join(directory, 'sluice.db')}` };
    writeFileSync(join(directory, 'own.json'), JSON.stringify(config));
  });
  after(() => demo.close());

  test('prints a line to copy that works as it stands, with the header that names a viewer', async (t) => {
    const auth = { kind: 'header', name: 'x-user-id', trustedPeers: ['127.0.0.1'] };
    writeFileSync(join(directory, 'header.json'), JSON.stringify({ ...demo.config, store: 'sqlite::memory:', auth }));
    const { child, lines } = await startServing({ PORT: '0' }, t.signal, ['--config', 'header.json']);
    const [, curl = ''] = lines.find((line) => line.startsWith('Try '))?.split(/^Try +/) ?? [];
    const header = /-H '(x-user-id): (\w+)'/.exec(curl);
    const body = /-d '(.*)'$/.exec(curl)?.[1];
    const url = /curl -s (\S+)/.exec(curl)?.[1] ?? '';
    assert.ok(header?.[1] && header[2] && body, curl);
    const headers = { 'content-type': 'application/json', [header[1]]: header[2] };
    const { data, errors } = await (await fetch(url, { method: 'POST', headers, body })).json();
    assert.equal(errors, undefined);
    assert.ok(data.forYou);
    child.kill('SIGINT');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  test('goes on after kill -9 where a client was: old tokens are good, and nothing comes twice', async (t) => {
    const args = ['--config', 'own.json'];
    const first = await startServing({ PORT: '0' }, t.signal, args);
    const page = (await ask(first.url, '{ timeline(limit: 200) { entries { id } since } }')).data.timeline;
    const given = new Set(page.entries.map(({ id }: { id: string }) => id));
    assert.ok(given.size > 0);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');

    const second = await startServing({ PORT: '0' }, t.signal, args);
    const { data, errors } = await ask(
      second.url,
      `{ timeline(since: "${page.since}", limit: 200) { entries { id } } }`,
    );
    assert.equal(errors, undefined);
    assert.deepEqual(
      data.timeline.entries.filter(({ id }: { id: string }) => given.has(id)),
      [],
    );
    second.child.kill('SIGTERM');
    assert.deepEqual(await once(second.child, 'exit'), [0, null]);
  });
});

describe('a gateway that is stopped', () => {
  const silent = createServer();
  before(async () => {
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const sources = { town: { kind: 'mastodon', url, timeline: { type: 'public' } } };
    const forYou = { recommender: { kind: 'http', url, timeoutMs: 60_000 } };
    writeFileSync(join(directory, 'silent.json'), JSON.stringify({ sources, forYou, store: 'sqlite::memory:' }));
  });
  after(() => {
    silent.closeAllConnections();
    silent.close();
  });

  test('answers what it was asked, however often it is told to stop', async (t) => {
    const { child, url } = await startServing({ PORT: '0' }, t.signal, ['--config', 'silent.json']);
    const answered = ask(url, '{ timeline { problems { code } } }');
    await once(silent, 'request');
    assert.ok(child.stdout);
    const lines = createInterface({ input: child.stdout });
    child.kill('SIGTERM');
    for await (const line of lines) if (line.endsWith('SIGTERM: stopping')) break;
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGINT'] as const) child.kill(signal);
    assert.equal((await answered).errors, undefined);
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  test('ends within 10 s though its recommender never answers', async (t) => {
    const { child, url } = await startServing({ PORT: '0' }, t.signal, ['--config', 'silent.json']);
    const cutOff = assert.rejects(ask(url, '{ forYou { state } }'));
    await new Promise<void>((resolve) => {
      silent.on('request', ({ method }) => method === 'POST' && resolve());
    });
    const startedMs = performance.now();
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [1, null]);
    assert.ok(performance.now() - startedMs < 10_000);
    await cutOff;
  });

  test('ends at once while its settings file still waits for something', async () => {
    writeFileSync(
      join(directory, 'waiting.js'),
      'console.log("Try "); await new Promise((r) => setTimeout(r, 60_000));',
    );
    const child = spawnSluice({}, ['--config', 'waiting.js']);
    assert.ok(child.stdout);
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });
});

test('an address that is not of this machine ends with exit code 2', async () => {
  const sources = { town: { kind: 'mastodon', url: 'https://town.example', timeline: { type: 'public' } } };
  const config = { sources, store: 'sqlite::memory:', server: { host: '192.0.2.1' } };
  writeFileSync(join(directory, 'far.json'), JSON.stringify(config));
  const { code, stderr } = await run({ SLUICE_CONFIG: 'far.json' });
  assert.equal(code, 2);
  assert.match(stderr, /^sluice: cannot listen on port 4000 of 192\.0\.2\.1 \(EADDRNOTAVAIL\)/);
});

test('a port that is taken ends with exit code 2 and names the fix', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const { code, stderr } = await run({ PORT: String(port) });
  taken.close();
  assert.equal(code, 2);
  assert.match(stderr, new RegExp(`^sluice: port ${port} is taken: .*PORT=\\d+ npm start`));
});

/** Starts the gateway in the temporary folder and gives the endpoint's URL once it is told. */
async function startServing(env: Record<string, string>, signal: AbortSignal, args: readonly string[] = []) {
  const child = spawnSluice(env, args);
  signal.addEventListener('abort', () => child.kill('SIGKILL'));
  const lines: string[] = [];
  let complaints = '';
  child.stderr?.on('data', (chunk) => {
    complaints += chunk;
  });
  assert.ok(child.stdout);
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line);
    if (line.startsWith('Try ')) break;
  }
  child.stdout.resume();
  const url = /http:\/\/\S+\/graphql/.exec(lines.find((line) => line.startsWith('GraphQL ')) ?? '')?.[0];
  assert.ok(url, `${lines.join('\n')}${complaints}`);
  return { child, url, lines };
}

async function run(env: Record<string, string>): Promise<{ code: number; stderr: string }> {
  const child = spawnSluice(env, []);
  let stderr = '';
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, stderr };
}

function spawnSluice(env: Record<string, string>, args: readonly string[]): ChildProcess {
  return spawn(process.execPath, [BIN, 'serve', ...args], {
    cwd: directory,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function ask(url: string, query: string) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  return response.json();
}
