import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { closeGracefully } from '../src/shutdown.ts';
import type { TimelineView } from '../src/timeline/reader/read.ts';
import { codesOf, openEdge } from './edge-fixture.ts';

const EMPTY: TimelineView = { entries: [], edited: [], removed: [], hasNewer: false, gaps: [], problems: [] };

test('requests under way are answered before anything else is closed', async () => {
  const { asked, answer, edge } = await edgeWithSlowTimeline();
  const order: string[] = [];
  edge.httpServer.once('request', (_request, response) => response.once('finish', () => order.push('answered')));
  const answered = edge.ask('{ timeline { hasNewer } }');
  await asked;
  const closed = closeGracefully({ ...partsOf(edge, order), deadlineMs: 10_000 });
  await refused(edge.url);
  answer();
  assert.deepEqual((await answered).data, { timeline: { hasNewer: false } });
  assert.equal(await closed, 0);
  assert.deepEqual(order, ['answered', 'drain', 'stop', 'close']);
});

test('connections that are idle, or fall idle once answered, do not hold it up', async () => {
  const { asked, answer, edge } = await edgeWithSlowTimeline();
  edge.httpServer.keepAliveTimeout = 0;
  const idle = await send(edge.url, '/health');
  await once(idle, 'data');
  const busy = await send(edge.url, `/graphql?query=${encodeURIComponent('{timeline{hasNewer}}')}`);
  await asked;
  const closed = closeGracefully({ ...partsOf(edge, []), deadlineMs: 10_000 });
  await once(idle, 'close');
  answer();
  const [[reply]] = await Promise.all([once(busy, 'data'), once(busy, 'close')]);
  assert.match(String(reply), /^HTTP\/1.1 200 OK/);
  assert.equal(await closed, 0);
});

test('a request on an open connection is refused while stopping', async () => {
  const { asked, answer, edge } = await edgeWithSlowTimeline();
  const slow = edge.ask('{ timeline { hasNewer } }');
  await asked;
  const disposed = edge.server.dispose();
  assert.deepEqual(codesOf(await edge.ask('{ viewer { id } }')), ['UNAVAILABLE']);
  answer();
  assert.deepEqual(codesOf(await slow), []);
  await disposed;
  await edge.close();
});

test('a request that has reached the machine is answered, though nobody has read it yet', async () => {
  const edge = await openEdge();
  const socket = await send(edge.url, `/graphql?query=${encodeURIComponent('{viewer{userId}}')}`);
  const [code, [reply]] = await Promise.all([
    closeGracefully({ ...partsOf(edge, []), deadlineMs: 10_000 }),
    once(socket, 'data'),
  ]);
  assert.match(String(reply), /^HTTP\/1.1 200 OK/);
  assert.equal(code, 0);
});

test('an answer that a slow client has yet to read is sent whole', async () => {
  const edge = await openEdge();
  const socket = await send(edge.url, '/graphql', 'accept: text/html\r\n');
  await once(socket, 'readable');
  const closed = closeGracefully({ ...partsOf(edge, []), deadlineMs: 10_000 });
  await refused(edge.url);
  let reply = '';
  for await (const chunk of socket.setEncoding('latin1')) reply += chunk;
  const [head = '', body = ''] = reply.split(/\r\n\r\n(.*)/s);
  assert.equal(body.length, Number(/content-length: (\d+)/.exec(head)?.[1]));
  assert.equal(await closed, 0);
});

test('half a request holds nothing up', async () => {
  const edge = await openEdge();
  const socket = connect(Number(new URL(edge.url).port), '127.0.0.1');
  const accepted = once(edge.httpServer, 'connection');
  socket.write('GET /graphql HT');
  await accepted;
  assert.equal(await closeGracefully({ ...partsOf(edge, []), deadlineMs: 2000 }), 0);
});

test('a body that does not come within a second is refused', async (t) => {
  const edge = await openEdge();
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const socket = connect(Number(new URL(edge.url).port), '127.0.0.1');
  const asked = once(edge.httpServer, 'request');
  socket.write(
    'POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{',
  );
  await asked;
  const disposed = edge.server.dispose();
  t.mock.timers.tick(1000);
  const [reply] = await once(socket, 'data');
  assert.match(String(reply), /^HTTP\/1.1 503 .*"code":"UNAVAILABLE"/s);
  await disposed;
  t.mock.timers.reset();
  await edge.close();
});

test('what does not end is cut off at the deadline, and the store is closed all the same', async () => {
  const { asked, edge } = await edgeWithSlowTimeline();
  const cut = assert.rejects(edge.ask('{ timeline { hasNewer } }'));
  await asked;
  const order: string[] = [];
  const parts = partsOf(edge, order);
  const failing = async () => {
    throw new Error('the lease is lost');
  };
  const lines: string[] = [];
  const code = await closeGracefully({
    ...parts,
    pollers: { stop: failing },
    deadlineMs: 60,
    log: (line) => lines.push(line),
  });
  assert.equal(code, 1);
  assert.deepEqual(order, ['drain', 'close']);
  assert.deepEqual(lines, [
    'answering the requests under way: not done after 30 ms',
    'stopping the sources: the lease is lost',
  ]);
  await cut;
});

async function edgeWithSlowTimeline() {
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<TimelineView>();
  const edge = await openEdge({
    replace: () => ({
      timeline: {
        read: () => {
          asked.resolve();
          return answered.promise;
        },
      },
    }),
  });
  return { edge, asked: asked.promise, answer: () => answered.resolve(EMPTY) };
}

function partsOf(edge: Awaited<ReturnType<typeof openEdge>>, order: string[]) {
  const note = (name: string) => async () => void order.push(name);
  return {
    httpServer: edge.httpServer,
    server: edge.server,
    forYou: { drain: note('drain') },
    pollers: { stop: note('stop') },
    store: { close: note('close') },
    log: () => undefined,
  };
}

async function send(url: string, path: string, headers = ''): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n`);
  return socket;
}

/** Resolves once no new connection is taken. Those that were taken before ask for nothing. */
async function refused(url: string): Promise<void> {
  const port = Number(new URL(url).port);
  let code: string | undefined;
  while (code !== 'ECONNREFUSED') {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const socket = connect(port, '127.0.0.1');
    socket
      .once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
      .once('connect', () => socket.destroy())
      .once('close', () => resolve(undefined));
    code = await promise;
  }
}
