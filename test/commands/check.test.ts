import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { check } from '../../src/commands/check.ts';
import { ConfigError } from '../../src/errors.ts';
import { folder, runSluice } from './run-sluice.ts';
import { startSmallServer, TOKEN } from './small-server.ts';

let server: Awaited<ReturnType<typeof startSmallServer>>;
before(async () => {
  server = await startSmallServer();
});
after(() => server.close());

const settings = (sources: object, extra: object = {}) => JSON.stringify({ sources, ...extra });
const town = () => ({ kind: 'mastodon', url: server.url, timeline: { type: 'public', only: 'local' } });
const home = (token: string) => ({ ...town(), timeline: { type: 'home' }, token, audience: ['ann', 'bob'] });

describe('sluice check', () => {
  it('refuses a settings file that never ends, instead of ending without a word', async () => {
    const cwd = folder({ 'sluice.config.js': 'await new Promise(() => {});' });
    const { code, stderr } = await runSluice(['check'], { cwd });
    assert.equal(stderr, 'sluice: sluice.config.js: it never ends: it awaits what cannot come\n');
    assert.equal(code, 2);
  });

  it('says what each source came to, without asking it, and warns', async () => {
    const cwd = folder({
      'sluice.config.json': settings(
        {
          town: { kind: 'mastodon', url: 'http://192.0.2.1', allowInsecure: true, timeline: { type: 'public' } },
          home: home(TOKEN),
        },
        { server: { host: '0.0.0.0', cors: [] } },
      ),
    });
    const { code, stdout, stderr } = await runSluice(['check'], { cwd, env: { PORT: '4711' } });
    assert.equal(stderr, '');
    assert.equal(code, 0);
    const lines = stdout.split('\n');
    assert.equal(lines[0], 'sluice.config.json is valid: 2 sources');
    assert.match(
      stdout,
      /^town +mastodon +public +192\.0\.2\.1 +http:\/\/192\.0\.2\.1 +no token +anyone +every 5 s to 60 s/m,
    );
    assert.match(stdout, /^home +mastodon +home +127\.0\.0\.1:\d+ +http:.* token +ann,bob /m);
    assert.match(stdout, /^server +0\.0\.0\.0:4711, cors for nobody$/m);
    assert.match(stdout, /^warning: auth: everybody who reaches 0\.0\.0\.0:4711/m);
    assert.match(stdout, /^warning: sources\.town\.url: it is sent unencrypted$/m);
    assert.ok(!stdout.includes(TOKEN));
  });

  it('--live asks each source once and says what it found', async () => {
    const cwd = folder({ 'sluice.config.json': settings({ town: town(), home: home(TOKEN) }) });
    const { code, stdout } = await runSluice(['check', '--live'], { cwd });
    const found =
      'ok: mastodon 4.4.2[31m, mastodon ids, 1 post, newest 2026-11-20T11:59:00.000Z, 295 of 300 requests left until 2026-11-20T12:05:00.000Z';
    for (const key of ['town', 'home']) assert.ok(stdout.includes(`\n${key}: ${found}\n`), stdout);
    assert.match(stdout, /\nall 2 answered\n$/);
    assert.equal(code, 0);
  });

  it('--live says what is wrong with one source, asks the others, and fails', async () => {
    const silent = { ...town(), url: `${server.url}/silent`, host: 'silent.example', deadlineMs: 100 };
    const cwd = folder({ 'sluice.config.json': settings({ wrong: home('a-wrong-token'), silent, town: town() }) });
    const { code, stdout } = await runSluice(['check', '--live'], { cwd });
    assert.match(
      stdout,
      /^wrong: FAILED: UNAUTHORIZED: GET http:\/\/127\.0\.0\.1:\d+\/api\/v1\/timelines\/home answered 401/m,
    );
    assert.match(stdout, /^town: ok: /m);
    assert.match(stdout, /^silent: FAILED: UNAVAILABLE: GET .* did not answer within 100 ms$/m);
    assert.match(stdout, /\n2 of 3 failed\n$/);
    assert.ok(!stdout.includes('a-wrong-token'));
    assert.equal(code, 1);
  });

  it('stops at the first problem with code 2, one line and no stack', async () => {
    const cwd = folder({ 'sluice.config.json': settings({ town: town() }, { server: { port: '80o0' } }) });
    assert.deepEqual(await runSluice(['check'], { cwd }), {
      code: 2,
      stdout: '',
      stderr: 'sluice: server.port: required a whole number 0 to 65535, got "80o0"\n',
    });
  });

  it('stops where two keys are one timeline, and where there are no settings', async () => {
    const shared = { mine: home(TOKEN), yours: { ...home(TOKEN), audience: 'signed-in' } };
    const none = folder({});
    const checkIn = (cwd: string) => {
      const ignore = () => undefined;
      return check({ flags: {}, operand: '', env: {}, cwd, version: '0.0.0', stdout: ignore, stderr: ignore });
    };
    await assert.rejects(
      checkIn(folder({ 'sluice.config.json': settings(shared) })),
      new ConfigError('sources.mine and sources.yours are one timeline: required the same audience for both'),
    );
    await assert.rejects(checkIn(none), new ConfigError(`no sluice.config.* in ${none}`));
  });
});
