import { createServer, Agent as HttpAgent, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../src/clock.ts';
import { createTimelineReader } from '../src/timeline/reader/read.ts';
import { createPost, createSource, openEdge, publish } from '../test/edge-fixture.ts';
import { print, short, sideBySide } from './side-by-side.ts';

/** What `timeline(since)` costs while nothing is new, over HTTP and in the process. */
const ROUNDS = 9;
const REQUESTS_A_ROUND = 300;
const ENTRIES = 1000;
const SOURCES = 50;

const sources = Array.from({ length: SOURCES }, (_, n) => createSource(`town${n}`));
const edge = await openEdge({ sources });
for (const source of sources) {
  const posts = Array.from({ length: ENTRIES }, (_, n) => createPost(source, n + 1)).reverse();
  await publish(edge, source, posts);
}
const bare = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":{"__typename":"Query"}}');
});
await new Promise<void>((resolve) => bare.listen(0, '127.0.0.1', resolve));
const bareUrl = `http://127.0.0.1:${(bare.address() as AddressInfo).port}`;
const agent = new HttpAgent({ keepAlive: true, maxSockets: 1 });

const FIELDS =
  'since hasNewer entries { post { id text author { handle } } } edited { id } removed gaps { reason } problems { code }';
const keys = (count: number) => sources.slice(0, count).map(({ key }) => key);
const queryOf = async (count: number) => {
  const query = `query ($since: String, $sources: [ID!]) { timeline(since: $since, sources: $sources) { ${FIELDS} } }`;
  const named = { sources: keys(count) };
  const { data, errors } = await edge.ask(query, { variables: named });
  if (errors.length > 0) throw new Error(JSON.stringify(errors));
  const body = JSON.stringify({ query, variables: { ...named, since: data.timeline.since } });
  const answer = JSON.parse(await post(edge.url, body));
  if (answer.errors || answer.data.timeline.entries.length > 0) throw new Error('something was new');
  return body;
};
const one = await queryOf(1);
const ten = await queryOf(10);
const fifty = await queryOf(SOURCES);

const reader = createTimelineReader({
  store: edge.store,
  refresh: async () => new Set(),
  clock: { ...systemClock, now: () => edge.time.nowMs },
  maxWaitMs: 0,
});
const readOf = async (count: number) => {
  const read = { sources: sources.slice(0, count), configured: sources, limit: 40 };
  const { since } = await reader.read(read);
  if (since === undefined) throw new Error('no since');
  return () => reader.read({ ...read, since });
};

const many = (work: () => Promise<unknown>) => async () => {
  for (let n = 0; n < REQUESTS_A_ROUND; n += 1) await work();
};
const typename = JSON.stringify({ query: '{ __typename }' });
const contenders = [
  ['bare node:http, a fixed reply', many(() => post(bareUrl, typename))],
  ['Sluice, { __typename }', many(() => post(edge.url, typename))],
  ['Sluice, timeline(since), 1 source', many(() => post(edge.url, one))],
  ['Sluice, timeline(since), 10 sources', many(() => post(edge.url, ten))],
  ['Sluice, timeline(since), 50 sources', many(() => post(edge.url, fifty))],
  ['the reader alone, 1 source', many(await readOf(1))],
  ['the reader alone, 50 sources', many(await readOf(SOURCES))],
] as const;
const times = await sideBySide(contenders, ROUNDS);
const [bareMs = 0, typenameMs = 0] = times;
print(
  `timeline(since) with nothing new, logs of ${ENTRIES.toLocaleString('en')} entries (\`nothing-new\`)`,
  ['what', 'ms a request', 'requests/s', 'beside bare', 'beside { __typename }'],
  contenders.map(([name], n) => {
    const ms = (times[n] ?? 0) / REQUESTS_A_ROUND;
    const beside = (peerMs: number) => `${short((times[n] ?? 0) / peerMs)} x`;
    return [name, short(ms), short(1000 / ms), beside(bareMs), beside(typenameMs)];
  }),
);
agent.destroy();
bare.close();
await edge.close();

function post(url: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}/graphql`,
      {
        agent,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve(Buffer.concat(chunks).toString()));
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
