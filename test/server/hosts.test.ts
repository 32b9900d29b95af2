import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHostCheck } from '../../src/server/hosts.ts';
import { type EdgeOptions, openEdge } from '../edge-fixture.ts';
import { sendRequest } from '../send-request.ts';

const kinds: readonly NonNullable<EdgeOptions['auth']>[] = [
  { kind: 'none', userId: 'demo' },
  { kind: 'header', name: 'x-user-id', trustedPeers: ['127.0.0.1'] },
];
const listeners = ['127.0.0.1', '0.0.0.0', 'feeds.example'];
const body = JSON.stringify({ query: '{ viewer { userId } }' });

for (const auth of kinds) {
  for (const host of listeners) {
    test(`auth ${auth.kind}, listening on ${host}: it answers to its own names and to addresses alone`, async (t) => {
      const edge = await openEdge({ auth, settings: { host, hosts: ['Reader.example', 'gateway.internal'] } });
      t.after(() => edge.close());
      const status = async (name: string) => {
        const headers = { host: name, 'content-type': 'application/json', 'x-user-id': 'ann' };
        return (await sendRequest(`${edge.url}/graphql`, { headers, body })).status;
      };
      const own = ['localhost', 'localhost:4000', 'LOCALHOST', 'sluice.localhost', 'reader.example', 'reader.example.'];
      for (const name of [...own, 'Gateway.Internal:8080', '127.0.0.1:4000', '[::1]:4000', '10.1.2.3']) {
        assert.equal(await status(name), 200, name);
      }
      const foreign = ['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example:4000', 'xreader.example'];
      for (const name of [...foreign, 'reader.example.evil', 'reader.example@evil.example', '0x7f.1']) {
        assert.equal(await status(name), 421, name);
      }
      assert.equal(await status('feeds.example'), host === 'feeds.example' ? 200 : 421);
      assert.equal((await sendRequest(`${edge.url}/health`, { method: 'GET', headers: { host: 'x' } })).status, 200);
    });
  }
}

test('a request without a name is none of its own', () => {
  const check = createHostCheck({ host: '127.0.0.1', hosts: [] });
  assert.deepEqual([check(undefined)?.status, check('')?.status, check('localhost')], [421, 421, undefined]);
});
