import assert from 'node:assert/strict';
import { formatPostId, parsePostId } from '../../src/ids/post-id.ts';
import type { IdSchemeName } from '../../src/post.ts';
import type { Source, SourcePolling } from '../../src/source.ts';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import type { Store } from '../../src/stores/store.ts';
import type { LogRecord, LogState, SourceStatus } from '../../src/stores/timeline-store.ts';
import { createPollers, type Pollers } from '../../src/timeline/pollers.ts';
import { simulatedId } from '../simulated-ids.ts';
import { createSimulatedServer, HOST, type SimulatedOptions, type SimulatedServer } from '../simulated-server.ts';
import type { SimulatedPost } from '../simulated-timeline.ts';
import { createVirtualClock, type VirtualClock } from '../virtual-clock.ts';

export const LOG = 'log-of-town';

/** A simulated server, a store, and a gateway's pollers over them, on one virtual clock. */
export interface PollingHarness {
  readonly clock: VirtualClock;
  readonly server: SimulatedServer;
  readonly store: Store;
  readonly source: Source;
  readonly pollers: Pollers;
  readonly lines: readonly string[];
  /** Publishes a post made `agoMs` ago, seen from `lateMs` after that on; gives its id. */
  publish(post?: Partial<SimulatedPost> & { agoMs?: number; lateMs?: number }): string;
  /** Wakes the source, waits for its answer. True when it is STALE. */
  refresh(): Promise<boolean>;
  log(): Promise<LogState>;
  status(): Promise<SourceStatus>;
  records(): Promise<readonly LogRecord[]>;
  /** The ids of the log's entries, oldest first. */
  entries(): Promise<readonly string[]>;
}

export interface PollingHarnessOptions extends Partial<Omit<SimulatedOptions, 'clock' | 'scheme'>> {
  readonly scheme?: IdSchemeName;
  readonly polling?: Partial<SourcePolling>;
  readonly clock?: VirtualClock;
  readonly store?: Store;
  readonly server?: SimulatedServer;
  readonly holder?: string;
  readonly maxPagesPerPoll?: number;
  readonly keepHours?: number;
}

/** Nothing polls before `pollers.start()`. */
export async function createPollingHarness(options: PollingHarnessOptions = {}): Promise<PollingHarness> {
  const clock = options.clock ?? createVirtualClock();
  const scheme = options.scheme ?? 'mastodon';
  const server = options.server ?? createSimulatedServer({ pageSize: 40, ...options, clock, scheme });
  const store = options.store ?? (await openSqliteStore({ file: ':memory:' }));
  const lines: string[] = [];
  const source = createSource(server, options.polling);
  const { maxPagesPerPoll, holder = 'gateway' } = options;
  const pollers = createPollers({
    sources: [source],
    store,
    clock,
    holder,
    keep: { keepHours: options.keepHours ?? 168, keepEntries: 100_000 },
    log: (line) => lines.push(line),
    random: () => 0.5,
    ...(maxPagesPerPoll !== undefined && { maxPagesPerPoll }),
  });
  let salt = 0;

  async function records(): Promise<readonly LogRecord[]> {
    const found: LogRecord[] = [];
    for (;;) {
      const after = found.at(-1)?.position;
      const more = await store.timelines.recordsAfter({
        logId: LOG,
        limit: 1000,
        ...(after !== undefined && { after }),
      });
      found.push(...more);
      if (more.length < 1000) return found;
    }
  }

  return {
    clock,
    server,
    store,
    source,
    pollers,
    lines,
    publish({ agoMs = 0, lateMs = 0, ...post } = {}) {
      const atMs = server.now() - agoMs;
      salt += 1;
      const id = post.id ?? simulatedId(scheme, atMs, salt);
      server.timeline.put({ id, atMs, visibleAtMs: atMs + lateMs, text: `post ${salt}`, ...post });
      return id;
    },
    async refresh() {
      const stale = pollers.refresh([LOG], 1500);
      await clock.advance(1500);
      return (await stale).has(LOG);
    },
    log: () => store.timelines.readLog(LOG),
    async status() {
      const status = await store.timelines.readStatus(LOG);
      assert.ok(status, 'a status was written');
      return status;
    },
    records,
    entries: async () =>
      (await records()).filter(({ kind }) => kind === 'entry').map(({ postId }) => upstreamIdOf(postId)),
  };
}

export function postIdOf(upstreamId: string): string {
  return formatPostId(upstreamId, HOST);
}

function upstreamIdOf(postId: string): string {
  return parsePostId(postId)?.upstreamId ?? postId;
}

export function createSource(server: Pick<SimulatedServer, 'upstream'>, polling: Partial<SourcePolling> = {}): Source {
  return {
    key: 'town',
    logId: LOG,
    network: 'mastodon',
    host: HOST,
    url: `https://${HOST}`,
    timeline: 'public',
    audience: 'anyone',
    upstream: server.upstream,
    credentialId: HOST,
    polling: {
      minIntervalMs: 5000,
      idleIntervalMs: 60_000,
      // Polls alone are looked at, unless a test says so.
      sweepIntervalMs: 86_400_000,
      overlapMs: 60_000,
      overlap: 'latest',
      pollWhen: 'always',
      ownInterval: false,
      ownOverlap: false,
      ...polling,
    },
  };
}
