import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { StoreUnavailableError } from '../../src/errors.ts';
import { connectRedis } from '../../src/stores/redis-client.ts';
import { openStore } from '../../src/stores/registry.ts';
import { freePort, startRedis } from '../redis-server.ts';

const TLS = join(import.meta.dirname, 'tls');
const CERTIFICATE = join(TLS, 'localhost.crt');
const run = promisify(execFile);

describe('Redis behind a login', () => {
  it('is opened with user and password, and refused without, in words that hold neither', async () => {
    const redis = await startRedis();
    after(() => redis.stop());
    await redis.client.call('ACL', 'SETUSER', 'ann', 'on', '>hunter2', '~*', '&*', '+@all');
    await redis.client.call('ACL', 'SETUSER', 'default', 'nopass', '-@all', '+auth', '+hello', 'off');
    const { port } = redis;
    const store = await openStore(`redis://ann:hunter2@127.0.0.1:${port}`);
    await store.ping();
    await store.close();
    const spec = { kind: 'redis', url: `redis://ann:hunter3@127.0.0.1:${port}` } as const;
    await assert.rejects(connectRedis(spec, { mayEvict: false, log: () => {}, startMs: 300 }), (error: Error) => {
      assert.ok(error instanceof StoreUnavailableError);
      assert.match(error.message, /^store: redis:\/\/127\.0\.0\.1:\d+ cannot be reached: .*WRONGPASS/);
      assert.doesNotMatch(error.message, /hunter/);
      return true;
    });
  });

  it('is reached over TLS, by a certificate that is trusted', async () => {
    const port = await freePort();
    const files = [
      '--tls-cert-file',
      CERTIFICATE,
      '--tls-key-file',
      join(TLS, 'localhost.key'),
      '--tls-auth-clients',
      'no',
    ];
    const redis = await startRedis({ args: ['--tls-port', `${port}`, '--tls-ca-cert-file', CERTIFICATE, ...files] });
    after(() => redis.stop());
    // Node reads what it trusts beside its own list once, when it starts.
    const committer = [join(import.meta.dirname, 'committer.ts'), `rediss://localhost:${port}`, '1', '1', '2'];
    const { stdout } = await run(process.execPath, committer, {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: CERTIFICATE },
    });
    assert.equal(stdout, '1\n2\n');
    const spec = { kind: 'redis', url: `rediss://localhost:${port}` } as const;
    const refused = connectRedis(spec, { mayEvict: false, log: () => {}, startMs: 300 });
    await assert.rejects(
      refused,
      /^StoreUnavailableError: store: rediss:\/\/localhost:\d+ cannot be reached: self-signed certificate/,
    );
  });
});

it('a Redis that is not there is named, with why', async () => {
  const port = await freePort();
  const spec = { kind: 'redis', url: `redis://127.0.0.1:${port}/3` } as const;
  await assert.rejects(
    connectRedis(spec, { mayEvict: false, log: () => {}, startMs: 200 }),
    /^StoreUnavailableError: store: redis:\/\/127\.0\.0\.1:\d+ cannot be reached: connect ECONNREFUSED/,
  );
});
