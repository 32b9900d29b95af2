import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { createPost, createSource, openEdge, publish } from '../edge-fixture.ts';
import { sendRequest } from '../send-request.ts';

const json = { 'content-type': 'application/json' };

test('answers that nobody reads hold 64 MB and no more, and small ones are answered all the same', async (t) => {
  const town = createSource('town');
  const edge = await openEdge({ sources: [town] });
  t.after(() => edge.close());
  const html = `<p>${'x'.repeat(90_000)}</p>`;
  await publish(
    edge,
    town,
    Array.from({ length: 20 }, (_, n) => createPost(town, n + 1, { html })),
  );
  const fields = Array.from({ length: 5 }, (_, n) => `a${n}: html`).join(' ');
  const body = JSON.stringify({ query: `{ timeline(limit: 20) { entries { post { ${fields} } } } }` });
  const silent: Socket[] = [];
  t.after(() => silent.forEach((socket) => void socket.destroy()));
  // As events, too: they count like any other answer.
  for (const accept of [
    'application/json',
    'text/event-stream',
    'application/json',
    'multipart/mixed',
    '*/*',
    '*/*',
    '*/*',
  ]) {
    const socket = connect({ port: Number(new URL(edge.url).port), host: '127.0.0.1' });
    silent.push(socket);
    const head = `POST /graphql HTTP/1.1\r\nhost: localhost\r\naccept: ${accept}\r\ncontent-type: application/json\r\n`;
    socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`);
    await once(socket, 'readable');
  }
  const ninth = await sendRequest(`${edge.url}/graphql`, { headers: json, body });
  assert.deepEqual([ninth.status, ninth.headers['retry-after']], [503, '1']);
  const small = JSON.stringify({ query: '{ timeline(limit: 20) { entries { id } } }' });
  assert.equal((await sendRequest(`${edge.url}/graphql`, { headers: json, body: small })).status, 200);
  assert.equal((await sendRequest(`${edge.url}/health`, { method: 'GET' })).status, 200);
});

test('of bodies that do not come whole the oldest gives its place to the next, once, also where it cannot be told yet', async (t) => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const edge = await openEdge({
    replace: ({ timeline }) => ({
      timeline: {
        async read(request) {
          await released;
          return timeline.read(request);
        },
      },
    }),
  });
  t.after(() => edge.close());
  const begun: Socket[] = [];
  t.after(() => begun.forEach((socket) => void socket.destroy()));
  const head =
    'POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n';
  const padded = (query: string) => JSON.stringify({ query }).padEnd(99, ' ');
  const begin = async (before = '') => {
    const asked = once(edge.httpServer, 'request');
    const socket = connect({ port: Number(new URL(edge.url).port), host: '127.0.0.1' });
    begun.push(socket);
    socket.write(`${before}${head}{`);
    await asked;
    return socket;
  };
  // Its answer waits behind another on the same connection.
  const first = await begin(head + padded('{ timeline { hasNewer } }'));
  for (let n = 1; n < 1_000; n++) await begin();
  const last = [await begin(), await begin()];
  assert.match(String((await once(begun[1] ?? first, 'data'))[0]), /^HTTP\/1.1 408 /);
  for (const socket of last) {
    socket.write(padded('{ viewer { userId } }').slice(1));
    assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 200 /);
  }
  release();
  let told = '';
  for await (const chunk of first.setEncoding('utf8')) told += chunk;
  assert.match(told, /^HTTP\/1.1 200 [\s\S]*HTTP\/1.1 408 /);
  assert.deepEqual(edge.logged, []);
});

test('the type of a body is taken in any case', async (t) => {
  const edge = await openEdge();
  t.after(() => edge.close());
  const body = JSON.stringify({ query: '{ viewer { userId } }' });
  const headers = { 'content-type': 'Application/JSON; Charset=UTF-8' };
  assert.equal((await sendRequest(`${edge.url}/graphql`, { headers, body })).status, 200);
});
