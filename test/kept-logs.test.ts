import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ConfigError } from '../src/errors.ts';
import { keepNamedLogs, purgeSource } from '../src/kept-logs.ts';
import type { Source } from '../src/source.ts';
import { openSqliteStore } from '../src/stores/sqlite.ts';
import type { Store } from '../src/stores/store.ts';
import { appendTo } from './stores/samples.ts';
import { createSource } from './timeline/polling-harness.ts';
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts';

const HOUR_MS = 3_600_000;

function sourceOf(key: string, logId = `log-of-${key}`): Source {
  const unused = async () => assert.fail('nothing is asked');
  const source = createSource({ upstream: { describe: unused, readPage: unused, fetchPosts: unused } });
  return { ...source, key, logId };
}

/** A gateway with these sources, as far as it keeps logs. */
function gatewayOf(store: Store, clock: VirtualClock, sources: readonly Source[]) {
  const stopping = new AbortController();
  const lines: string[] = [];
  const log = (line: string) => lines.push(line);
  const running = keepNamedLogs({ ...store, sources, clock, keepMs: 168 * HOUR_MS, signal: stopping.signal, log });
  const stop = () => {
    stopping.abort();
    return running;
  };
  return { lines, stop };
}

/** Each with a post: 1, 2, and so on. */
async function withLogs(...keys: readonly string[]) {
  const store = await openSqliteStore({ file: ':memory:' });
  for (const [n, key] of keys.entries()) await appendTo(store, `log-of-${key}`, [String(n + 1)]);
  return { store, clock: createVirtualClock() };
}

const shown = async ({ posts }: Store) => [...(await posts.getPosts(['1', '2', '3'])).keys()];

it('a log that no settings name any more goes with its posts after keepHours, and no sooner', async () => {
  const { store, clock } = await withLogs('town', 'former');
  const before = gatewayOf(store, clock, [sourceOf('town'), sourceOf('former')]);
  await clock.advance(48 * HOUR_MS);
  await before.stop();
  const after = gatewayOf(store, clock, [sourceOf('town')]);
  await clock.advance(167 * HOUR_MS);
  assert.deepEqual(await shown(store), ['1', '2']);
  await clock.advance(5 * HOUR_MS);
  assert.deepEqual(await shown(store), ['1']);
  assert.deepEqual(after.lines, ['dropped the log log-of-former: no source has named it for 168 h']);
  await after.stop();
});

it('a log that another gateway names stays, and one of an earlier release has keepHours from now on', async () => {
  const { store, clock } = await withLogs('town', 'club', 'old');
  const gateways = ['town', 'club'].map((key) => gatewayOf(store, clock, [sourceOf(key)]));
  await clock.advance(160 * HOUR_MS);
  assert.deepEqual(await shown(store), ['1', '2', '3']);
  await clock.advance(10 * HOUR_MS);
  assert.deepEqual(await shown(store), ['1', '2']);
  await Promise.all(gateways.map(({ stop }) => stop()));
});

it('a source is purged by the key that it had, not while another one reads its timeline', async () => {
  const { store, clock } = await withLogs('town');
  const sources = [sourceOf('town'), sourceOf('same', 'log-of-town')];
  await gatewayOf(store, clock, sources).stop();
  await assert.rejects(
    purgeSource('town', { ...store, sources }),
    new ConfigError('--source: sources.same reads the same timeline as town'),
  );
  await assert.rejects(purgeSource('nobody', { ...store, sources }), ConfigError);
  assert.equal(await purgeSource('town', { ...store, sources: [] }), true);
  assert.deepEqual(await shown(store), []);
});
