import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import test, { type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { UpstreamError } from '../../src/errors.ts';
import { createHttpClient, type HttpOptions } from '../../src/upstreams/http.ts';

/** Listens on loopback until the test is over; gives the base URL. */
async function listen(t: TestContext, server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function serve(t: TestContext, listener: RequestListener, options: Partial<HttpOptions> = {}) {
  const base = await listen(t, createServer(listener));
  return { base, ...client(t, base, options) };
}

async function serveBytes(t: TestContext, onConnection: (socket: Socket) => void, options: Partial<HttpOptions> = {}) {
  const base = await listen(t, createTcpServer(onConnection));
  return { base, ...client(t, base, options) };
}

function client(t: TestContext, base: string, options: Partial<HttpOptions>) {
  const http = createHttpClient({ version: '1.2.3', ...options });
  t.after(() => http.close());
  const { origin } = new URL(base);
  return { http, get: (path: string, token?: string) => http.get({ url: new URL(path, base), origin, token }) };
}

function fails(code: string, message: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof UpstreamError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  };
}

test('a reply comes with its status, headers and text, whatever the status', async (t) => {
  const { get } = await serve(
    t,
    (_, response) =>
      response.writeHead(404, { 'X-Some': 'thing', link: ['<a>; rel="next"', '<b>; rel="prev"'] }).end('höhö'),
    { clock: { now: () => 42 } },
  );
  const reply = await get('/a');
  assert.deepEqual([reply.status, reply.bodyText, reply.sentAtMs], [404, 'höhö', 42]);
  assert.equal(reply.headers['x-some'], 'thing');
  assert.equal(reply.headers.link, '<a>; rel="next", <b>; rel="prev"');
});

test('requests name us, ask for JSON, and for no packing that cannot be undone', async (t) => {
  let seen: IncomingMessage['headers'] = {};
  const { get } = await serve(t, (request, response) => {
    seen = request.headers;
    response.end('[]');
  });
  await get('/a', 'secret');
  assert.deepEqual(
    [seen['user-agent'], seen.accept, seen['accept-encoding'], seen.authorization],
    ['sluice/1.2.3 (GraphQL gateway)', 'application/json', 'gzip', 'Bearer secret'],
  );
  await get('/a');
  assert.equal(seen.authorization, undefined);
});

test('connections are kept for the next request', async (t) => {
  const sockets = new Set<unknown>();
  const { get } = await serve(t, (request, response) => {
    sockets.add(request.socket);
    response.end('[]');
  });
  for (let n = 0; n < 20; n++) await get(`/${n}`);
  // One may still be finishing when the next request begins.
  assert.ok(sockets.size <= 2, `20 requests over ${sockets.size} connections`);
});

test('a packed reply is unpacked', async (t) => {
  const { get } = await serve(t, (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('[1]'));
  });
  assert.equal((await get('/a')).bodyText, '[1]');
});

test('a server that never answers runs into the deadline', async (t) => {
  const { get } = await serve(t, () => {}, { deadlineMs: 60 });
  await assert.rejects(
    get('/slow?token=secret'),
    fails('UNAVAILABLE', /^GET http:\/\/127[^?]*\/slow did not answer within 60 ms$/),
  );
});

test('a server that drips runs into the deadline too', async (t) => {
  const { get } = await serve(
    t,
    (_, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write(' '), 5);
      response.on('close', () => clearInterval(drip));
    },
    { deadlineMs: 80 },
  );
  await assert.rejects(get('/drip'), fails('UNAVAILABLE', /did not answer within 80 ms/));
});

test("a request's own deadline wins", async (t) => {
  const { http, base } = await serve(t, () => {});
  const request = http.get({ url: new URL('/a', base), origin: base, deadlineMs: 50 });
  await assert.rejects(request, fails('UNAVAILABLE', /within 50 ms/));
});

test('a body larger than allowed is broken off, also when no length was told', async (t) => {
  let closed: () => void = () => {};
  const brokenOff = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const { get } = await serve(
    t,
    (_, response) => {
      response.on('close', closed);
      const pour = (): void => {
        while (!response.destroyed && response.write('x'.repeat(4_096)));
        response.once('drain', pour);
      };
      pour();
    },
    { maxBodyBytes: 100_000 },
  );
  await assert.rejects(get('/huge'), fails('MALFORMED', /answered with more than 100000 bytes/));
  await brokenOff;
});

test('a small body that unpacks to a huge one is broken off', async (t) => {
  const bomb = gzipSync(Buffer.alloc(20 * 2 ** 20));
  const { get } = await serve(t, (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb), {
    maxBodyBytes: 2 ** 20,
  });
  assert.ok(bomb.length < 2 ** 20);
  await assert.rejects(get('/bomb'), fails('MALFORMED', /more than 1048576 bytes/));
});

test('without a bound of its own a reply may hold 8 MiB, packed or not', async (t) => {
  const bound = 8 * 2 ** 20;
  const { get } = await serve(t, (request, response) => {
    const body = Buffer.alloc(request.url?.startsWith('/more') ? bound + 1 : bound, 'x');
    if (request.url?.endsWith('packed')) response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(body));
    else response.end(body);
  });
  for (const form of ['packed', 'plain']) {
    assert.equal((await get(`/whole-${form}`)).bodyText.length, bound);
    await assert.rejects(get(`/more-${form}`), fails('MALFORMED', /more than 8388608 bytes/));
  }
});

test('a body that is not what its encoding says is MALFORMED', async (t) => {
  const { get } = await serve(t, (request, response) => {
    response.writeHead(200, { 'content-encoding': request.url === '/br' ? 'br' : 'gzip' }).end('not packed');
  });
  await assert.rejects(get('/gzip'), fails('MALFORMED', /cannot be unpacked/));
  await assert.rejects(get('/br'), fails('MALFORMED', /encoding that was not asked for/));
});

test('a reply in another encoding leaves nothing behind that would end the process', async (t) => {
  const { get } = await serve(t, (_, response) => response.writeHead(200, { 'content-encoding': 'br' }).end('x'));
  // The first one's body tells its end while the second is asked for.
  for (const path of ['/first', '/second']) {
    await assert.rejects(get(path), fails('MALFORMED', /encoding that was not asked for/));
  }
});

test('redirects are told, not followed', async (t) => {
  let other = 0;
  const { get } = await serve(t, (request, response) => {
    if (request.url !== '/a') other += 1;
    response.writeHead(302, { location: '/b' }).end();
  });
  assert.equal((await get('/a', 'secret')).status, 302);
  assert.equal(other, 0);
});

test('a kept connection that the server closed meanwhile costs a second try, no more', async (t) => {
  let requests = 0;
  const { get } = await serveBytes(t, (socket) => {
    socket.on('data', () => {
      requests += 1;
      if (requests === 2) return socket.resetAndDestroy();
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]');
    });
  });
  await get('/a');
  assert.equal((await get('/b')).bodyText, '[]');
  assert.equal(requests, 3);
});

test('a server that always resets is asked twice', async (t) => {
  let requests = 0;
  const { get } = await serveBytes(t, (socket) => {
    socket.on('data', () => {
      requests += 1;
      socket.resetAndDestroy();
    });
  });
  await assert.rejects(get('/a'), fails('UNAVAILABLE', /gave no whole reply: /));
  assert.equal(requests, 2);
});

test('a reply that breaks off in the middle is not asked for again', async (t) => {
  let requests = 0;
  const { get } = await serveBytes(t, (socket) => {
    socket.on('data', () => {
      requests += 1;
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n[', () => socket.destroy());
    });
  });
  await assert.rejects(get('/a'), fails('UNAVAILABLE', /gave no whole reply/));
  assert.equal(requests, 1);
});

test('what is not HTTP is UNAVAILABLE', async (t) => {
  for (const garbage of [
    '\u0000\u0001\u0002',
    'SSH-2.0-OpenSSH\r\n',
    'HTTP/1.1 999999 x\r\n\r\n',
    `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`,
  ]) {
    const { get } = await serveBytes(t, (socket) => socket.end(garbage), { deadlineMs: 2_000 });
    await assert.rejects(get('/a'), fails('UNAVAILABLE', /^GET http:\/\/127/));
  }
});

test('a port where nobody listens is UNAVAILABLE', async (t) => {
  const base = await listen(t, createServer());
  const port = Number(new URL(base).port);
  const { get } = client(t, `http://127.0.0.1:${port === 1 ? 2 : 1}`, {});
  await assert.rejects(get('/a'), fails('UNAVAILABLE', /gave no whole reply: ECONNREFUSED/));
});

test('an abort and a close break off what is under way', async (t) => {
  const { http, base } = await serve(t, () => {});
  const url = new URL('/a', base);
  const aborted = http.get({ url, origin: base, signal: AbortSignal.timeout(20) });
  await assert.rejects(aborted, fails('UNAVAILABLE', /was broken off/));
  const broken = assert.rejects(http.get({ url, origin: base }), fails('UNAVAILABLE', /the client is closed/));
  await http.close();
  await broken;
  await assert.rejects(http.get({ url, origin: base }), fails('UNAVAILABLE', /^GET /));
});

test('a token that would break the header is refused unsent, and not shown', async (t) => {
  const { get } = await serve(t, (_, response) => response.end('[]'));
  await assert.rejects(get('/a', 'se\r\ncret'), (error) => {
    assert.ok(fails('UNAUTHORIZED', /the token holds characters/)(error));
    assert.doesNotMatch(String(error), /cret/);
    return true;
  });
});

test('every whole reply is shown to the recorder', async (t) => {
  const seen: string[] = [];
  const { get } = await serve(t, (_, response) => response.end('[]'), {
    onReply: ({ url }, { status, bodyText }) => seen.push(`${url.pathname} ${status} ${bodyText}`),
  });
  await get('/a');
  assert.deepEqual(seen, ['/a 200 []']);
});
