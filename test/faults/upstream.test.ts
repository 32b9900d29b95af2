import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { createLabClient } from '../../experiment/client.ts';
import { createHttpClient, type HttpClient } from '../../src/upstreams/http.ts';
import { createMastodon } from '../../src/upstreams/mastodon.ts';
import { startSimulatedHttp } from '../simulated-http.ts';
import { createSimulatedServer, HOST } from '../simulated-server.ts';
import { createPollingHarness, type PollingHarness } from '../timeline/polling-harness.ts';
import { createVirtualClock } from '../virtual-clock.ts';

type Spoil = (response: ServerResponse, body: string) => void;

/** What becomes of a page, and what the source's status tells of it. */
const FAULTS: readonly (readonly [name: string, told: string, spoil: Spoil])[] = [
  ['hangs', 'FAILING UNAVAILABLE', () => {}],
  ['drips its body', 'FAILING UNAVAILABLE', drip],
  ['cuts its body', 'FAILING UNAVAILABLE', cut],
  ['resets the connection', 'FAILING UNAVAILABLE', (response) => response.destroy()],
  ['is behind a broken proxy', 'FAILING UNAVAILABLE', answer(502, '<html><h1>502 Bad Gateway</h1></html>')],
  ['answers HTML', 'FAILING UNAVAILABLE', answer(200, '<!doctype html><title>Down for maintenance</title>')],
  ['answers with nothing', 'FAILING MALFORMED', answer(200, '')],
  ['answers half of its JSON', 'FAILING MALFORMED', (response, body) => response.end(body.slice(0, body.length / 2))],
  ['answers another shape', 'FAILING MALFORMED', answer(200, '{"statuses":[]}')],
  ['answers bytes', 'FAILING MALFORMED', answer(200, Buffer.from([0, 255, 254, 128, 10, 0]))],
  ['says gzip and is not', 'FAILING MALFORMED', answer(200, 'plain', { 'content-encoding': 'gzip' })],
  ['answers without end', 'FAILING MALFORMED', flood],
  ['redirects', 'FAILING UNAVAILABLE', answer(302, '', { location: 'http://127.0.0.1:1/' })],
  ['throttles, and tells no time', 'WAITING RATE_LIMITED', answer(429, '{"error":"Too many requests"}')],
  ['garbles one post of the page', 'OK MALFORMED', garble],
];

describe('an upstream that', () => {
  for (const [name, told, spoil] of FAULTS) {
    it(`${name}: nothing is lost, nothing twice, and the state tells`, { timeout: 60_000 }, async () => {
      const town = await openTown();
      try {
        await town.advance(10);
        town.publish(5);
        await town.advance(60_000);
        const before = await town.client.read();
        assert.equal(before.ids.length, 8);

        town.spoil = spoil;
        town.publish(100);
        await town.advance(180_000);
        const { state, problems } = await town.harness.status();
        assert.equal(`${state} ${problems[0]?.code}`, told, JSON.stringify(problems));
        assert.equal(town.publish(3).length, 3);
        const during = await town.client.read();

        town.spoil = undefined;
        await town.advance(900_000);
        const after = await town.client.read();
        const delivered = [...before.ids, ...during.ids, ...after.ids];
        assert.deepEqual(delivered.toSorted(), [...town.harness.server.timeline.posts.keys()].toSorted());
        assert.deepEqual((await town.harness.log()).gaps, []);
        assert.equal((await town.harness.status()).state, 'OK');
      } finally {
        await town.close();
      }
    });
  }
});

/** A gateway's pollers that read a simulated Mastodon over HTTP. Real sockets and deadlines, virtual time. */
async function openTown() {
  const clock = createVirtualClock();
  const controls: { spoil: Spoil | undefined } = { spoil: undefined };
  const simulated = createSimulatedServer({ clock, scheme: 'mastodon', pageSize: 40 });
  const web = await startSimulatedHttp(simulated.timeline, () => {
    return { nowMs: clock.now(), dateMs: clock.now(), spoil: controls.spoil };
  });
  const underWay = new Set<Promise<unknown>>();
  const client = createHttpClient({ version: 'test', clock, deadlineMs: 100, maxBodyBytes: 300_000 });
  const http: HttpClient = {
    close: client.close,
    get(request) {
      const reply = client.get(request).finally(() => underWay.delete(reply));
      underWay.add(reply);
      return reply;
    },
  };
  const upstream = createMastodon(
    { kind: 'mastodon', url: web.url, host: HOST, keepPrivate: false, timeline: { type: 'public' } },
    { http, clock },
  );
  const harness: PollingHarness = await createPollingHarness({
    clock,
    server: { ...simulated, upstream },
    polling: { sweepIntervalMs: 300_000 },
  });
  for (let n = 3; n > 0; n -= 1) harness.publish({ agoMs: 300_000 + n * 1000 });
  harness.pollers.start();

  /** Virtual time stands while a request is under way. */
  async function advance(ms: number): Promise<void> {
    for (let at = 0; at < ms; at += 1000) {
      await clock.advance(Math.min(1000, ms - at));
      while (underWay.size > 0) {
        await Promise.allSettled(underWay);
        await clock.advance(0);
      }
    }
  }

  return Object.assign(controls, {
    harness,
    advance,
    client: createLabClient(harness.store, clock, harness.source),
    publish: (count: number) => Array.from({ length: count }, (_, n) => harness.publish({ agoMs: (count - n) * 10 })),
    async close() {
      const stopped = harness.pollers.stop();
      await clock.advance(60_000);
      await stopped;
      await http.close();
      await web.close();
      await harness.store.close();
    },
  });
}

function answer(status: number, body: string | Buffer, headers: Record<string, string> = {}): Spoil {
  return (response) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

function drip(response: ServerResponse, body: string): void {
  let at = 0;
  const timer = setInterval(() => response.write(body.charAt(at++)), 5);
  response.on('close', () => clearInterval(timer));
}

function cut(response: ServerResponse, body: string): void {
  response.writeHead(200, { 'content-length': Buffer.byteLength(body) });
  response.write(body.slice(0, body.length / 2), () => response.destroy());
}

function flood(response: ServerResponse): void {
  const more = (): void => {
    while (!response.destroyed && response.write(' '.repeat(65_536)));
  };
  response.on('drain', more);
  more();
}

function garble(response: ServerResponse, body: string): void {
  const statuses = JSON.parse(body);
  if (statuses.length > 0) delete statuses[Math.floor(statuses.length / 2)].id;
  response.end(JSON.stringify(statuses));
}
