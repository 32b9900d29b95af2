import assert from 'node:assert/strict';
import type { Source, SourcePolling } from '../../src/source.ts';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import type { Store } from '../../src/stores/store.ts';
import type { SourceStatus } from '../../src/stores/timeline-store.ts';
import { createPollers, type Pollers } from '../../src/timeline/pollers.ts';
import { simulatedId } from '../simulated-ids.ts';
import { createSimulatedServer, HOST, type SimulatedOptions, type SimulatedServer } from '../simulated-server.ts';
import { createVirtualClock, type VirtualClock } from '../virtual-clock.ts';
import { createSource } from './polling-harness.ts';

/** Several timelines of one host, read with one token, and the pollers over them. */
export interface MultiSourceHarness {
  readonly clock: VirtualClock;
  readonly store: Store;
  readonly sources: readonly Source[];
  readonly servers: readonly SimulatedServer[];
  readonly pollers: Pollers;
  readonly lines: readonly string[];
  /** When pages were asked for (ms since the start), of all timelines or of one. */
  askedAtMs(n?: number): readonly number[];
  publish(n: number, count?: number): void;
  status(n: number): Promise<SourceStatus>;
}

export interface MultiSourceHarnessOptions extends Partial<Omit<SimulatedOptions, 'clock' | 'scheme' | 'before'>> {
  readonly size: number;
  /** Looks at each request before it is answered; may throw. `count`: from 1, over all timelines. */
  readonly before?: (n: number, count: number) => void;
  readonly polling?: Partial<SourcePolling>;
  readonly anonymous?: boolean;
  /** Whose token each is read with; absent: one for all. */
  readonly credentialOf?: (n: number) => string;
  readonly clock?: VirtualClock;
  readonly store?: Store;
  /** For jitter; always 0.5 where absent. */
  readonly random?: () => number;
}

export async function createMultiSourceHarness({
  size,
  before,
  polling,
  anonymous,
  credentialOf = () => HOST,
  random = () => 0.5,
  ...options
}: MultiSourceHarnessOptions): Promise<MultiSourceHarness> {
  const clock = options.clock ?? createVirtualClock();
  const store = options.store ?? (await openSqliteStore({ file: ':memory:' }));
  const asked: { n: number; atMs: number }[] = [];
  const lines: string[] = [];
  const servers = Array.from({ length: size }, (_, n) =>
    createSimulatedServer({
      pageSize: 40,
      ...options,
      clock,
      scheme: 'mastodon',
      before() {
        asked.push({ n, atMs: clock.elapsedMs });
        before?.(n, asked.length);
        return undefined;
      },
    }),
  );
  const sources = servers.map((server, n): Source => {
    const source = createSource(server, polling);
    return { ...source, key: `town${n}`, logId: `log-of-town${n}`, credentialId: credentialOf(n), anonymous };
  });
  const keep = { keepHours: 168, keepEntries: 100_000 };
  const log = (line: string) => lines.push(line);
  const pollers = createPollers({ sources, store, clock, holder: crypto.randomUUID(), keep, log, random });
  let salt = 0;
  return {
    clock,
    store,
    sources,
    servers,
    pollers,
    lines,
    askedAtMs: (n) => asked.filter((each) => n === undefined || each.n === n).map(({ atMs }) => atMs),
    publish(n, count = 1) {
      for (let left = count; left > 0; left -= 1) {
        salt += 1;
        const atMs = (servers[n]?.now() ?? 0) - left;
        const id = simulatedId('mastodon', atMs, salt);
        servers[n]?.timeline.put({ id, atMs, visibleAtMs: atMs, text: `post ${salt}` });
      }
    },
    async status(n) {
      const status = await store.timelines.readStatus(`log-of-town${n}`);
      assert.ok(status, 'a status was written');
      return status;
    },
  };
}
