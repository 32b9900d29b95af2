import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../src/stores/sqlite.ts';
import type { Store } from '../src/stores/store.ts';
import { createPollers } from '../src/timeline/pollers.ts';
import { createPost, createSource, publish } from '../test/edge-fixture.ts';
import { createVirtualClock } from '../test/virtual-clock.ts';
import { print, short } from './side-by-side.ts';
import { createSimulatedSource } from './simulated-source.ts';

/**
 * What sources and log entries keep in memory and on disk. Each size is a process of its own, whose heap is read after a
 * collection, less what was there before. Of sources RSS says little: their upstreams are simulated in the same process.
 */
const SIZES = [1, 100, 1000, 10_000];
const ENTRIES = 100_000;
const POSTS = 20;

interface Used {
  readonly heap: number;
  readonly rss: number;
  readonly file?: number;
}

const [kind, size] = process.argv.slice(2);
if (kind === undefined) table();
else console.log(JSON.stringify(kind === 'sources' ? await ofSources(Number(size)) : await ofEntries(kind)));

function table(): void {
  const used = SIZES.map((count) => measured('sources', String(count)));
  const [least] = used;
  print(
    `Memory of sources, each polled once, ${POSTS} posts (\`memory\`)`,
    ['sources', 'heap MB', 'heap kB a source'],
    used.map(({ heap }, n) => {
      const count = SIZES[n] ?? 1;
      const each = count === 1 ? '' : short((heap - (least?.heap ?? 0)) / (count - 1) / 1e3);
      return [count.toLocaleString('en'), short(heap / 1e6), each];
    }),
  );
  const stores = ['file', 'memory'].map((each) => [each, measured(each, '')] as const);
  print(
    `Memory and disk of ${ENTRIES.toLocaleString('en')} log entries, with their posts (\`memory\`)`,
    ['store', 'heap MB', 'RSS MB', 'file MB', 'bytes an entry'],
    stores.map(([each, { heap, rss, file }]) => {
      const bytes = each === 'file' ? (file ?? 0) : rss;
      return [
        `sqlite, ${each}`,
        short(heap / 1e6),
        short(rss / 1e6),
        file ? short(file / 1e6) : '',
        short(bytes / ENTRIES),
      ];
    }),
  );
}

function measured(kind: string, size: string): Used {
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--expose-gc', import.meta.filename, kind, size]);
  if (status !== 0) throw new Error(String(stderr));
  return JSON.parse(String(stdout));
}

/** What `work` leaves behind, of which it gives what keeps it alive. */
async function leftBy(work: () => Promise<unknown>): Promise<Used> {
  const before = now();
  const kept = await work();
  const after = now();
  if (kept === undefined) throw new Error('nothing is kept');
  return { heap: after.heap - before.heap, rss: after.rss - before.rss };
}

function now(): Used {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, rss };
}

async function ofSources(count: number): Promise<Used> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const clock = createVirtualClock();
  const store = await openSqliteStore({ file: join(folder, 'log.db'), clock });
  const upstreams = Array.from({ length: count }, (_, n) => createSimulatedSource(`town${n}`, clock));
  for (const town of upstreams) town.publish(POSTS, 7_200_000);
  const used = await leftBy(async () => {
    const keep = { keepHours: 168, keepEntries: 100_000 };
    const sources = upstreams.map(({ source }) => source);
    const pollers = createPollers({ sources, store, clock, holder: 'bench', keep });
    pollers.start();
    await clock.advance(120_000);
    for (const town of upstreams) town.takeBodies();
    return pollers;
  });
  rmSync(folder, { recursive: true });
  return used;
}

async function ofEntries(where: string): Promise<Used> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const file = where === 'file' ? join(folder, 'log.db') : ':memory:';
  const used = await leftBy(async () => {
    const store = await openSqliteStore({ file });
    await fill(store);
    return store;
  });
  const bytes = where === 'file' ? statSync(file).size : undefined;
  rmSync(folder, { recursive: true });
  return { ...used, ...(bytes !== undefined && { file: bytes }) };
}

async function fill(store: Store): Promise<void> {
  const town = createSource('town');
  const time = { nowMs: Date.UTC(2026, 10, 20, 12) };
  for (let n = ENTRIES; n > 0; n -= 100) {
    const posts = Array.from({ length: 100 }, (_, at) => createPost(town, n - at, { text: 'x'.repeat(300) }));
    await publish({ store, time }, town, posts);
  }
}
