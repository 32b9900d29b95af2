import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRedis } from '../test/redis-server.ts';
import { type Ask, sendAll } from './pages/connections.ts';
import { type Peer, startEdge, startGateway, startPeer } from './pages/processes.ts';
import { median, percentile, print, short, sideBySide } from './side-by-side.ts';

/** Pages of ten posts over HTTP beside servers that hand out the same ten from memory, each in a process of its own. */
const ROUNDS = 9;
const CONNECTIONS = 16;
const REQUESTS_A_ROUND = 1_000;
/** What is compiled while it runs is fast only then. */
const WARM_UP = 2_000;
const VIEWERS = 50;
const PEERS = ['yoga', 'yoga + jit', 'mercurius', 'mercurius + jit', 'node:http'];

const POST = `id text html createdAt visibility language url author { id handle name avatarUrl }
  media { kind url previewUrl alt } hashtags counts { replies reposts likes }`;
const FOR_YOU = `query ($cursor: String) { forYou(limit: 10, cursor: $cursor) {
  items { position post { ${POST} } reason { kind text } } nextPage { cursor } state problems { code message } } }`;
const TIMELINE = `query ($since: String) { timeline(limit: 10, since: $since) {
  entries { id sortAt late post { ${POST} } } edited { id } removed since hasNewer gaps { id reason } problems { code message } } }`;

/** The requests of one viewer each. */
interface Asks {
  readonly 'For You, page 2': readonly Ask[];
  readonly 'timeline, newest page': readonly Ask[];
  readonly 'timeline(since), nothing new': readonly Ask[];
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-pages-'));
const redis = await startRedis();
const gateways = [
  await startGateway('Sluice, SQLite', `sqlite:${join(folder, 'sluice.db')}`),
  await startGateway('Sluice, Redis', redis.url),
];
const asks = await Promise.all(gateways.map(asksOf));
const [first, firstAsks] = [gateways[0], asks[0]];
if (!first || !firstAsks) throw new Error('no gateway');
const edge = await startEdge('Sluice, its edge alone');
const edgeAsks = await asksOf(edge);
const served = await servedBy(first, firstAsks);
const peers: Peer[] = [];
for (const name of PEERS) peers.push(await startPeer(name, served));

const rows = (Object.keys(firstAsks) as (keyof Asks)[]).flatMap((page) => [
  // All that a peer looks at is whether there is a `since`.
  ...peers
    .filter(({ name }) => name === 'yoga' || page === 'For You, page 2')
    .map((peer) => ({ page, peer, asks: firstAsks[page] })),
  ...(page === 'For You, page 2' ? [{ page, peer: edge, asks: edgeAsks[page] }] : []),
  ...gateways.map((peer, n) => ({ page, peer, asks: asks[n]?.[page] ?? [] })),
]);
for (const { peer, asks } of rows) await load(peer, asks, WARM_UP);
const p99s = rows.map((): number[] => []);
const cpus = rows.map((): number[] => []);
const times = await sideBySide(
  rows.map(({ page, peer, asks }, n) => [
    `${page}, ${peer.name}`,
    async () => {
      const before = await peer.cpuMicros();
      const each = await load(peer, asks, REQUESTS_A_ROUND);
      cpus[n]?.push((await peer.cpuMicros()) - before);
      p99s[n]?.push(percentile(each, 0.99));
    },
  ]),
  ROUNDS,
);

// Without the first round, which warms up.
const settled = (values: readonly (readonly number[])[], n: number) => median(values[n]?.slice(1) ?? []);
const yogaOf = (page: string) => rows.findIndex((row) => row.page === page && row.peer.name === 'yoga');
const ten = yogaOf('For You, page 2');
print(
  `Pages of ten posts over HTTP, ${CONNECTIONS} connections (\`pages\`)`,
  [
    'page',
    'server',
    'requests/s',
    'beside Yoga',
    'beside Yoga with ten posts',
    'p99 beside Yoga',
    'CPU µs',
    'CPU beside Yoga',
  ],
  rows.map(({ page, peer }, n) => {
    const yoga = yogaOf(page);
    const ms = times[n] ?? Number.NaN;
    const cpu = (row: number) => settled(cpus, row) / REQUESTS_A_ROUND;
    return [
      page,
      peer.name,
      short((1000 * REQUESTS_A_ROUND) / ms),
      `${short((times[yoga] ?? Number.NaN) / ms)} x`,
      `${short((times[ten] ?? Number.NaN) / ms)} x`,
      `${short(settled(p99s, n) / settled(p99s, yoga))} x`,
      short(cpu(n)),
      `${short(cpu(n) / cpu(yoga))} x`,
    ];
  }),
);
for (const each of [...gateways, edge, ...peers]) each.stop();
await redis.stop();
rmSync(folder, { recursive: true, force: true });

function load({ url }: Peer, asks: readonly Ask[], total: number) {
  return sendAll({ url, asks, connections: CONNECTIONS, total });
}

async function post({ url }: Peer, { body, userId }: Ask) {
  const headers = { 'content-type': 'application/json', 'x-user-id': userId };
  const text = await (await fetch(url, { method: 'POST', headers, body })).text();
  const { data, errors } = JSON.parse(text);
  if (errors) throw new Error(text);
  return { data, text };
}

async function asksOf(gateway: Peer): Promise<Asks> {
  const pages: Ask[] = [];
  const ask = (userId: string, query: string, variables = {}) => ({
    userId,
    body: JSON.stringify({ query, variables }),
  });
  for (let n = 0; n < VIEWERS; n += 1) {
    const userId = `reader${n}`;
    const { data } = await post(gateway, ask(userId, FOR_YOU));
    pages.push(ask(userId, FOR_YOU, { cursor: data.forYou.nextPage.cursor }));
  }
  const newest = ask('reader', TIMELINE);
  const { since } = (await post(gateway, newest)).data.timeline;
  return {
    'For You, page 2': pages,
    'timeline, newest page': [newest],
    'timeline(since), nothing new': [ask('reader', TIMELINE, { since })],
  };
}

/** What a gateway answers to these, for the peers to answer the same. */
async function servedBy(gateway: Peer, asks: Asks) {
  const answer = async ([one]: readonly Ask[]) => post(gateway, one ?? { body: '', userId: '' });
  const forYou = await answer(asks['For You, page 2']);
  const page = (await answer(asks['timeline, newest page'])).data.timeline;
  const nothing = (await answer(asks['timeline(since), nothing new'])).data.timeline;
  const counts = [forYou.data.forYou.items.length, page.entries.length, nothing.entries.length].join();
  if (counts !== '10,10,0') throw new Error(`10, 10 and 0 posts were expected, got ${counts}`);
  return { forYou: forYou.data.forYou, timeline: { page, nothing }, text: forYou.text };
}
