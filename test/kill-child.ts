import { systemClock } from '../src/clock.ts';
import { openStore } from '../src/stores/registry.ts';
import { createPollers } from '../src/timeline/pollers.ts';
import { createHttpClient } from '../src/upstreams/http.ts';
import { createMastodon } from '../src/upstreams/mastodon.ts';
import { createSource } from './timeline/polling-harness.ts';

/**
 * A gateway's write side in a process of its own, for kill.test.ts: `node kill-child.ts URL SPEC [HOLDER]`. Polls as fast as it may until
 * its standard input ends. Children that are not told a holder's name have one, so that a new one need not wait for the old one's lease.
 */
const [url = '', spec = '', holder = 'gateway'] = process.argv.slice(2);
const clock = systemClock;
const http = createHttpClient({ version: 'test', clock });
const mastodon = createMastodon(
  { kind: 'mastodon', url, host: 'town.example', keepPrivate: false, timeline: { type: 'public' } },
  { http, clock },
);
// Only what headers tell bounds fills and rescans, so that they are many in the seconds of a test.
const upstream = { ...mastodon, describe: async () => ({ ...(await mastodon.describe()), throttles: [] }) };
const store = await openStore(spec);
const pollers = createPollers({
  sources: [
    createSource({ upstream }, { minIntervalMs: 1, idleIntervalMs: 1, sweepIntervalMs: 50, ownInterval: true }),
  ],
  store,
  clock,
  holder,
  keep: { keepHours: 168, keepEntries: 100_000 },
  // Bursts leave gaps, so that fills are killed, too.
  maxPagesPerPoll: 2,
});
pollers.start();

process.stdin.on('end', async () => {
  await pollers.stop();
  await http.close();
  await store.close();
});
process.stdin.resume();
