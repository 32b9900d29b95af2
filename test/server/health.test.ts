import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { createPost, createSource, openEdge, publish } from '../edge-fixture.ts';
import { sendRequest } from '../send-request.ts';

const COUNT = 8;

test('/health is answered between dear requests, however many come at once on one connection', async (t) => {
  const town = createSource('town');
  let executed = 0;
  const edge = await openEdge({
    sources: [town],
    replace: ({ timeline }) => ({
      timeline: {
        read(request) {
          executed += 1;
          return timeline.read(request);
        },
      },
    }),
  });
  t.after(() => edge.close());
  await publish(
    edge,
    town,
    Array.from({ length: 200 }, (_, n) => createPost(town, n + 1)),
  );
  const fields = Array.from({ length: 150 }, (_, n) => `a${n}: text`).join(' ');
  const query = JSON.stringify({ query: `{ timeline(limit: 200) { entries { post { ${fields} } } } }` });

  let answers = 0;
  const { promise: allAnswered, resolve } = Promise.withResolvers<void>();
  const socket = connect(Number(new URL(edge.url).port), '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    answers += chunk.toString('latin1').split('HTTP/1.1 ').length - 1;
    if (answers === COUNT) resolve();
  });
  const arrived = once(edge.httpServer, 'request');
  const head = 'POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n';
  socket.write(`${head}content-length: ${query.length}\r\n\r\n${query}`.repeat(COUNT));
  await arrived;
  let executedBefore = COUNT;
  edge.httpServer.on('request', ({ url }) => {
    if (url === '/health') executedBefore = executed;
  });
  assert.equal((await sendRequest(`${edge.url}/health`, { method: 'GET' })).status, 200);
  await allAnswered;
  assert.ok(executedBefore < COUNT, `${executedBefore} of ${COUNT} were executed first`);
});
