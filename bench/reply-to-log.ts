import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStore } from '../src/stores/sqlite.ts';
import { createPollers } from '../src/timeline/pollers.ts';
import { createVirtualClock } from '../test/virtual-clock.ts';
import { median, print, short } from './side-by-side.ts';
import { createSimulatedSource } from './simulated-source.ts';

/**
 * Posts a second from a reply's text to the log, on one core: the real adapter, sifting, and the embedded store.
 * Beside it, over the same replies: parsing the JSON alone, and inserting each post into a bare table, a page a transaction.
 */
const ROUNDS = 9;
const POLLS_A_ROUND = 25;
const POSTS_A_POLL = 40;

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
const rows = [];
for (const overlapMs of [1000, 10_000, 60_000]) rows.push(...(await measure(overlapMs)));
print(
  'From reply to log (`reply-to-log`)',
  ['overlap k', 'what', 'new posts/s', 'posts read/s', 'beside JSON.parse', 'beside JSON.parse + INSERT'],
  rows,
);
rmSync(folder, { recursive: true });

async function measure(overlapMs: number): Promise<(readonly string[])[]> {
  const clock = createVirtualClock();
  const town = createSimulatedSource('town', clock, { overlapMs });
  const store = await openSqliteStore({ file: join(folder, `log-${overlapMs}.db`), clock });
  const keep = { keepHours: 168, keepEntries: 1_000_000 };
  const pollers = createPollers({ sources: [town.source], store, clock, holder: 'bench', keep });
  const bare = new DatabaseSync(join(folder, `bare-${overlapMs}.db`));
  bare.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE posts (id TEXT PRIMARY KEY, post TEXT)',
  );
  const insert = bare.prepare('INSERT OR IGNORE INTO posts VALUES (?, ?)');
  town.publish(POSTS_A_POLL, 5000);
  pollers.start();
  await clock.advance(5000);
  town.takeBodies();

  const times = { ours: [] as number[], parse: [] as number[], insert: [] as number[], read: [] as number[] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    let oursMs = 0;
    for (let n = 0; n < POLLS_A_ROUND; n += 1) {
      town.publish(POSTS_A_POLL, 5000);
      const fromMs = performance.now();
      await clock.advance(5000);
      oursMs += performance.now() - fromMs;
    }
    const bodies = town.takeBodies();
    let fromMs = performance.now();
    const pages: { id: string }[][] = bodies.map((body) => JSON.parse(body));
    const parseMs = performance.now() - fromMs;
    fromMs = performance.now();
    for (const page of pages) {
      bare.exec('BEGIN IMMEDIATE');
      for (const status of page) insert.run(status.id, JSON.stringify(status));
      bare.exec('COMMIT');
    }
    const insertMs = performance.now() - fromMs;
    if (round === 0) continue;
    times.ours.push(oursMs);
    times.parse.push(parseMs);
    times.insert.push(parseMs + insertMs);
    times.read.push(pages.reduce((sum, page) => sum + page.length, 0));
  }
  await pollers.stop();
  const { counts } = await store.timelines.readLog(town.source.logId);
  const published = (1 + (ROUNDS + 1) * POLLS_A_ROUND) * POSTS_A_POLL;
  if (counts.posts < published - POSTS_A_POLL) throw new Error(`${counts.posts} of ${published} posts are in the log`);
  await store.close();
  bare.close();

  const fresh = POLLS_A_ROUND * POSTS_A_POLL;
  const read = median(times.read);
  const parse = median(times.parse);
  const both = median(times.insert);
  const row = (what: string, ms: number) => [
    `${overlapMs / 1000} s`,
    what,
    short((fresh / ms) * 1000),
    short((read / ms) * 1000),
    `${short(ms / parse)} x`,
    `${short(ms / both)} x`,
  ];
  return [row('Sluice', median(times.ours)), row('JSON.parse', parse), row('JSON.parse + INSERT', both)];
}
