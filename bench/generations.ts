import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import { createCandidates } from '../src/candidates.ts';
import { systemClock } from '../src/clock.ts';
import { createForYou, type ForYou } from '../src/feed/for-you.ts';
import { createStoryKeys } from '../src/ids/story-key.ts';
import { createHydrator } from '../src/loaders.ts';
import type { Author } from '../src/post.ts';
import { createRecommender } from '../src/recommenders/registry.ts';
import { createPost, createSource, type Edge, openEdge, publish } from '../test/edge-fixture.ts';
import { median, percentile, print, short } from './side-by-side.ts';

/**
 * First pages whose feeds are not there yet, of viewers who may read the same source: how many of them a core makes, and what
 * a crowd of them does to the gateway, asked over HTTP by another process.
 */
const CANDIDATES = 5_000;
const ROUNDS = 7;
const FEEDS = 100;
const CROWD = 1_000;
const QUERY =
  '{ forYou(limit: 10) { items { post { id text } reason { text } } nextPage { cursor } problems { code } } }';

/** What the machine itself keeps from running in time. */
const IDLE_THREAD = `
  const { parentPort } = require('node:worker_threads');
  const delay = require('node:perf_hooks').monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  parentPort.once('message', () => parentPort.postMessage(delay.max / 1e6));
`;

const recommender = createRecommender({ kind: 'local' });
const town = createSource('town');
const [server] = process.argv.slice(2);
if (server === undefined) await measure();
else console.log(JSON.stringify(await askAll(server)));

async function measure(): Promise<void> {
  const edge = await openEdge({ sources: [town], recommender });
  await fill(edge);
  await alone(edge);
  await crowd(edge);
  await edge.close();
}

async function fill(to: Edge): Promise<void> {
  const author = (n: number): Author => ({
    id: `author:${n}@town.example`,
    upstreamId: `${n}`,
    handle: `a${n}`,
    name: `A ${n}`,
    bot: false,
    emojis: [],
  });
  const post = (n: number) =>
    createPost(town, 20 * n, {
      text: 'x'.repeat(300),
      author: author(n % 400),
      hashtags: n % 5 === 0 ? [`tag${n % 70}`] : [],
      counts: { likes: (n * 7) % 89, reposts: (n * 3) % 13, replies: n % 4 },
    });
  for (let from = 0; from < CANDIDATES; from += 100) {
    await publish(
      to,
      town,
      Array.from({ length: 100 }, (_, n) => post(from + n)),
    );
  }
}

/** One after the other: what each takes of a core, its first page included. */
async function alone({ store, sources, time }: Edge): Promise<void> {
  const clock = { ...systemClock, now: () => time.nowMs };
  const refresh = async () => new Set<string>();
  const candidates = createCandidates({
    store,
    sources,
    refresh,
    clock,
    maxWaitMs: 0,
  });
  const hydrator = createHydrator({ ...store, sources, takeById: async () => 0, clock });
  const forYou = createForYou({
    feeds: store.feeds,
    recommender,
    local: recommender,
    storyKeys: createStoryKeys([Buffer.alloc(32, 7)]),
    clock,
    settings: { size: 500, instanceTtlSeconds: 3600, currentTtlSeconds: 600, whenGone: 'continue' },
  });
  const first = (userId: string) => {
    const viewer = { userId };
    const { hydrate } = hydrator.forViewer(viewer);
    return generated(forYou.page({ userId, limit: 10, candidates: () => candidates(viewer), hydrate }));
  };
  await first('warm');
  const rates: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const from = process.cpuUsage();
    for (let n = 0; n < FEEDS; n += 1) await first(`viewer ${round} ${n}`);
    const { user, system } = process.cpuUsage(from);
    if (round > 0) rates.push(FEEDS / ((user + system) / 1e6));
  }
  print(
    `Generations with ${CANDIDATES.toLocaleString('en')} candidates, of 500 items, embedded store (\`generations\`)`,
    ['a second of a core, median', 'least', 'most', 'required'],
    [[short(median(rates)), short(Math.min(...rates)), short(Math.max(...rates)), 300]],
  );
}

/** A feed that was not kept does not count. */
async function generated(asked: ReturnType<ForYou['page']>): Promise<void> {
  const { state, problems, feed } = await asked;
  if (state !== 'GENERATED' || problems.length > 0 || feed?.size !== 500)
    throw new Error(JSON.stringify({ state, problems }));
}

async function crowd({ url, ask }: Edge): Promise<void> {
  await ask(QUERY, { userId: 'warm' });
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  let highest = before;
  const looking = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage().rss);
  }, 20);
  const idle = new Worker(IDLE_THREAD, { eval: true });
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const took = await clients(url);
  delay.disable();
  clearInterval(looking);
  idle.postMessage('end');
  const [idleMs] = await once(idle, 'message');
  print(
    `${CROWD.toLocaleString('en')} first pages of as many viewers at once (\`generations\`)`,
    ['', 'measured', 'required'],
    [
      ['longest stall of the event loop, ms', short(delay.max / 1e6), 100],
      ['the same of a thread that does nothing, ms', short(idleMs), ''],
      ['memory more, MB', short((highest - before) / 1e6), 200],
      ['until half are answered, ms', short(median(took)), ''],
      ['until 99 % are answered, ms', short(percentile(took, 0.99)), ''],
    ],
  );
}

/** In a process of their own: when each was answered, ms. */
async function clients(url: string): Promise<readonly number[]> {
  const child = spawn(process.execPath, [import.meta.filename, url], { stdio: ['ignore', 'pipe', 'inherit'] });
  const chunks = await child.stdout.toArray();
  return JSON.parse(Buffer.concat(chunks).toString());
}

async function askAll(url: string): Promise<readonly number[]> {
  const fromMs = performance.now();
  return Promise.all(
    Array.from({ length: CROWD }, async (_, n) => {
      const headers = { 'content-type': 'application/json', 'x-user-id': `crowd ${n}` };
      const sent = request(`${url}/graphql`, { method: 'POST', headers, agent: false }).end(
        JSON.stringify({ query: QUERY }),
      );
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      const { data, errors } = JSON.parse(Buffer.concat(await response.toArray()).toString());
      if (errors || data.forYou.items.length !== 10 || data.forYou.problems.length > 0) {
        throw new Error(JSON.stringify(errors ?? data.forYou.problems));
      }
      return performance.now() - fromMs;
    }),
  );
}
