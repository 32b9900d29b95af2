import assert from 'node:assert/strict';
import test from 'node:test';
import { UpstreamError } from '../../src/errors.ts';
import type { HttpReply } from '../../src/upstreams/http.ts';
import { createUpstream } from '../../src/upstreams/registry.ts';
import { createFixedHttp, testClock } from './replay-http.ts';

const spec = { kind: 'mastodon', url: 'https://town.example', host: 'town.example', keepPrivate: true } as const;

function asked(reply: Partial<HttpReply>) {
  const http = createFixedHttp(reply);
  const upstream = createUpstream({ ...spec, timeline: { type: 'home' }, token: 'ada' }, { http, clock: testClock });
  return { http, account: async () => upstream.account?.() };
}

test("whose token it is, is told by the server's own id", async () => {
  for (const id of ['109348684804843987', '022AJJB79799MAT348AZNK2FVD']) {
    const { http, account } = asked({ bodyText: JSON.stringify({ id, username: 'ada', acct: 'ada' }) });
    assert.equal(await account(), id);
    assert.deepEqual(http.asked, ['/api/v1/accounts/verify_credentials']);
  }
});

test('a server that does not let this token ask, or has no answer to give, tells nothing', async () => {
  for (const status of [400, 401, 403, 404, 405, 410, 418, 422]) {
    assert.equal(await asked({ status, bodyText: '{}' }).account(), undefined, String(status));
  }
  for (const bodyText of ['{}', '[]', 'null', '{"id":""}', '{"id":{}}', 'no JSON']) {
    assert.equal(await asked({ bodyText }).account(), undefined, bodyText);
  }
});

test('a server that may tell later throws', async () => {
  for (const [status, code] of [
    [500, 'UNAVAILABLE'],
    [503, 'UNAVAILABLE'],
    [302, 'UNAVAILABLE'],
    [429, 'RATE_LIMITED'],
  ] as const) {
    await assert.rejects(asked({ status }).account(), (error) => error instanceof UpstreamError && error.code === code);
  }
});

test('without a token nobody is asked', async () => {
  const http = createFixedHttp({ bodyText: '{"id":"1"}' });
  const upstream = createUpstream({ ...spec, timeline: { type: 'public' } }, { http, clock: testClock });
  assert.equal(await upstream.account?.(), undefined);
  assert.deepEqual(http.asked, []);
});

test('of Twitter the settings say whose timeline it is', () => {
  const { http } = asked({});
  for (const api of ['1.1', '2'] as const) {
    const timeline = { type: 'home', userId: '12' } as const;
    const upstream = createUpstream({ ...spec, kind: 'twitter', api, timeline }, { http, clock: testClock });
    assert.equal(upstream.account, undefined);
  }
});
