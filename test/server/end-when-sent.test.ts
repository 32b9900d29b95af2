import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { endWhenSent } from '../../src/server/end-when-sent.ts';

/** More than the system keeps for a connection. */
const LARGE = Buffer.alloc(32 * 2 ** 20, 'x');

async function serve(graceMs: number | undefined) {
  const { promise: ended, resolve } = Promise.withResolvers<boolean>();
  const server = createServer((_request, response) => {
    void endWhenSent(response, LARGE, graceMs).then(() => resolve(response.destroyed));
  }).unref();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
  return { server, socket, ended };
}

test('a client that does not read is cut off', async () => {
  const { server, socket, ended } = await serve(50 - LARGE.length / 64);
  assert.equal(await ended, true);
  socket.destroy();
  server.close();
});

test('a client that reads has the whole answer', async () => {
  const { server, socket, ended } = await serve(undefined);
  let bytes = 0;
  for await (const chunk of socket) bytes += chunk.length;
  assert.equal(await ended, false);
  assert.ok(bytes > LARGE.length);
  server.close();
});
