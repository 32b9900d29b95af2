import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../src/clock.ts';
import { type Config, checkSettings } from '../../src/config.ts';
import { createGateway } from '../../src/gateway.ts';
import { publish } from '../../test/edge-fixture.ts';
import { createPosts } from './posts.ts';

// A gateway as `sluice serve` runs it: node gateway.ts STORE. Its one source is a server on loopback that has nothing new;
// the posts of the last hours are written to the log by hand. It tells its URL, then its CPU time when asked.

const town = await listen(
  createServer(({ url = '/' }, response) => {
    const instance = { domain: 'town', version: '4.3.1', source_url: 'https://github.com/mastodon/mastodon' };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(url.includes('/timelines/') ? [] : instance));
  }),
);
const settings = checkSettings(
  {
    sources: { town: { kind: 'mastodon', url: town, timeline: { type: 'public', only: 'local' } } },
    store: process.argv[2] ?? '',
    auth: { kind: 'header', name: 'x-user-id', trustedPeers: ['127.0.0.1'] },
    // A rescan would find that the town does not have these posts.
    polling: { sweepIntervalMs: 86_400_000 },
  } as Config,
  {},
);
const gateway = await createGateway({ settings, clock: systemClock, version: '0.0.0', log: () => {} });
const [source] = gateway.sources;
if (!source) throw new Error('no source');
const nowMs = Date.now();
await publish({ store: gateway.store, time: { nowMs } }, source, createPosts(source, nowMs));
const url = await listen(createServer(gateway.handler));
gateway.start();
process.send?.({ url: `${url}/graphql` });
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMicros: user + system });
});
process.on('disconnect', () => process.exit(0));

function listen(server: ReturnType<typeof createServer>): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}
