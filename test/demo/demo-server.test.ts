import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { startDemoServer } from '../../src/demo/demo-server.ts';

test('a path that is no URL is refused, and the demo lives on', async (t) => {
  const server = await startDemoServer(() => ({ status: 200, body: { ok: true } }));
  t.after(() => server.close());
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  socket.write('GET // HTTP/1.1\r\nhost: localhost\r\n\r\n');
  const [reply] = await once(socket, 'data');
  socket.destroy();
  assert.match(String(reply), /^HTTP\/1\.1 400 /);
  assert.deepEqual(await (await fetch(server.url)).json(), { ok: true });
});
