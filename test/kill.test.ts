import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openStore } from '../src/stores/registry.ts';
import { startRedis } from './redis-server.ts';
import { startSimulatedHttp } from './simulated-http.ts';
import { simulatedId } from './simulated-ids.ts';
import { createSimulatedTimeline } from './simulated-timeline.ts';
import { LOG, postIdOf } from './timeline/polling-harness.ts';

const KILLS = 12;
/** Requests that a child answers for before it is killed, at most; the last of them at any moment of its poll. */
const REQUESTS = 6;

/** A store that outlives the gateways on it. */
interface Kept {
  readonly spec: string;
  close(): Promise<void>;
}

async function sqliteFile(): Promise<Kept> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-kill-'));
  return { spec: `sqlite:${join(folder, 'log.db')}`, close: async () => rmSync(folder, { recursive: true }) };
}

async function redisServer(): Promise<Kept> {
  const { url, stop } = await startRedis();
  return { spec: url, close: stop };
}

for (const [name, keep, kills, least] of [
  ['SQLite', sqliteFile, KILLS, 100],
  ['Redis', redisServer, KILLS / 2, 18],
] as const) {
  describe(`kill -9 of the gateway at random moments, with what it kept on ${name}`, () => {
    it('leaves every post in the log exactly once, whether a poll, a fill or a rescan was killed', {
      timeout: 120_000,
    }, async (test) => {
      const seed = Date.now() % 100_000;
      test.diagnostic(`seed ${seed}`);
      const random = randomFrom(seed);
      const timeline = createSimulatedTimeline({ pageSize: 40 });
      const kept = await keep();
      let tick = 0;
      let salt = 0;
      let isCalm = true;
      let sent: (() => void) | undefined;

      /** Time is counted in requests, so that no slow machine makes a post later than the overlap. */
      const server = await startSimulatedHttp(timeline, ({ maxId }) => {
        tick += 1;
        const count = isCalm ? 0 : random(random(4) === 0 ? 60 : 5);
        for (let n = 0; n < count; n += 1) {
          const atMs = Date.now() - random(50);
          salt += 1;
          const id = simulatedId('mastodon', atMs, salt);
          timeline.put({ id, atMs, visibleAtMs: tick + (random(3) === 0 ? random(4) : 0), text: `post ${salt}` });
        }
        // In calm, whole polls are counted: by the requests that begin one.
        return { nowMs: tick, sent: isCalm && maxId !== undefined ? undefined : sent };
      });
      const start = () =>
        spawn(process.execPath, [join(import.meta.dirname, 'kill-child.ts'), server.url, kept.spec], {
          stdio: ['pipe', 'ignore', 'inherit'],
        });

      try {
        const atMs = Date.now() - 3_600_000;
        timeline.put({ id: simulatedId('mastodon', atMs, 0), atMs, visibleAtMs: 0, text: 'history' });
        await answered(start(), 3, (done) => {
          sent = done;
        }).then(ended);

        isCalm = false;
        for (let kill = 0; kill < kills; kill += 1) {
          const child = await answered(start(), 1 + random(REQUESTS), (done) => {
            sent = done;
          });
          // The reply is on its way: reading, sifting and committing it take some milliseconds.
          await new Promise((resolve) => setTimeout(resolve, random(12)));
          child.kill('SIGKILL');
          await once(child, 'exit');
        }
        isCalm = true;
        await answered(start(), 200, (done) => {
          sent = done;
        }).then(ended);

        const store = await openStore(kept.spec);
        const records = await store.timelines.recordsAfter({ logId: LOG, limit: 100_000 });
        const { gaps } = await store.timelines.readLog(LOG);
        const bodies = await store.posts.getPosts(records.map(({ postId }) => postId));
        await store.close();
        assert.ok(timeline.posts.size > least, `${timeline.posts.size} posts`);
        const entries = records.filter(({ kind }) => kind === 'entry').map(({ postId }) => postId);
        assert.deepEqual(entries.toSorted(), [...timeline.posts.keys()].map(postIdOf).toSorted());
        assert.deepEqual(gaps, []);
        assert.equal(bodies.size, entries.length, 'every post has its body');
      } finally {
        await server.close();
        await kept.close();
      }
    });
  });
}

/** Resolves when the server has answered `count` pages since; the child must live until then. */
function answered(child: ChildProcess, count: number, listen: (sent: () => void) => void): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    let left = count;
    listen(() => {
      left -= 1;
      if (left === 0) resolve(child);
    });
    child.once('exit', (code) => reject(new Error(`the gateway ended by itself with ${code}`)));
  });
}

/** Ends a child as an operator would. */
async function ended(child: ChildProcess): Promise<void> {
  child.stdin?.end();
  const [code] = await once(child, 'exit');
  assert.equal(code, 0);
}

/** Park and Miller's generator: whole numbers from 0 to below the bound. */
function randomFrom(seed: number): (bound: number) => number {
  let state = (seed % 2_147_483_646) + 1;
  return (bound) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % bound;
  };
}
