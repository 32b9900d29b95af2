import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, it, type TestContext } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { checkSettings } from '../../src/config.ts';
import { createGateway } from '../../src/gateway.ts';
import { formatNodeId } from '../../src/ids/node-id.ts';
import { createFeedId, createStoryKeys } from '../../src/ids/story-key.ts';
import type { Store } from '../../src/stores/store.ts';
import { startRedis } from '../redis-server.ts';
import { HOUR } from '../stores/samples.ts';

const redis = await startRedis();
after(() => redis.stop());

const KEY = 'k'.repeat(32);

/** What no answer may hold, whatever fails: addresses, the store's kind, a library's or a script's own words. */
const INSIDE = /127\.0\.0\.1|localhost|redis|sqlite|script|WRONGTYPE|ECONN|POST|stream|0x|\.ts\b/i;

const listen = async (t: TestContext, server: Server) => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
};

/** A whole gateway over a real Redis, whose recommender answers 500. Its source is not polled. */
async function openGateway(t: TestContext, url: string, keyPrefix: string) {
  const answer500 = createServer((_, response) => response.writeHead(500, 'hunter2').end('hunter2'));
  const recommender = `http://127.0.0.1:${await listen(t, answer500)}/secret-rank`;
  const settings = checkSettings(
    {
      sources: { town: { kind: 'mastodon', url: 'https://town.example', timeline: { type: 'public' } } },
      store: { kind: 'redis', url, keyPrefix },
      auth: { kind: 'header', name: 'x-user-id', trustedPeers: ['127.0.0.1'] },
      forYou: { recommender: { kind: 'http', url: recommender } },
      polling: { maxWaitMs: 0 },
      tokens: { keys: [KEY] },
    },
    {},
  );
  const logged: string[] = [];
  const gateway = await createGateway({ settings, clock: systemClock, version: '0', log: (line) => logged.push(line) });
  const port = await listen(t, createServer(gateway.handler));
  t.after(async () => {
    await gateway.stop();
    await gateway.store.close();
    await gateway.close();
  });
  const ask = async (query: string, variables = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-user-id': 'ann' },
      body: JSON.stringify({ query, variables }),
    });
    const text = await response.text();
    return { text, ...JSON.parse(text) };
  };
  return { gateway, ask, logged, recommender };
}

const FEED_ID = createFeedId(createStoryKeys([Buffer.from(KEY)]).current);

/** An empty feed of ann's, as a gateway with KEY makes it. */
async function publishFeed({ feeds }: Store): Promise<void> {
  const nowMs = Date.now();
  const instance = { feedId: FEED_ID, generatedAtMs: nowMs, items: [] };
  await feeds.publish({ viewerId: 'ann', instance, nowMs, ttlMs: HOUR, aliasTtlMs: HOUR, keep: 4 });
}

const FOR_YOU = '{ forYou { state feed { id } problems { code message } } }';
const NODE = 'query ($id: ID!) { node(id: $id) { __typename id } }';

describe('a client of a gateway on Redis', { timeout: 60_000 }, () => {
  it('is not told where the recommender is; the operator is', async (t) => {
    const { ask, logged, recommender } = await openGateway(t, redis.url, 'words:');
    for (let n = 0; n < 3; n += 1) {
      const { data, text } = await ask('mutation { refreshForYou { state problems { code message } } }');
      assert.deepEqual(
        data.refreshForYou.problems.filter(({ code }: { code: string }) => code === 'RECOMMENDER_UNAVAILABLE'),
        [{ code: 'RECOMMENDER_UNAVAILABLE', message: 'the recommender does not answer usefully: try again' }],
      );
      assert.doesNotMatch(text, INSIDE);
    }
    const told = `RECOMMENDER_UNAVAILABLE: POST ${recommender} answered 500, required 200`;
    assert.ok(logged.includes(told), String(logged));
  });

  it('finds its feed by id, and nothing by a name that is no id of a feed', async (t) => {
    const { ask, gateway } = await openGateway(t, redis.url, 'nodes:');
    await publishFeed(gateway.store);
    const { data } = await ask(FOR_YOU);
    const { id } = data.forYou.feed;
    assert.equal(id, formatNodeId({ type: 'feed', feedId: FEED_ID }));
    assert.deepEqual((await ask(NODE, { id })).data.node, { __typename: 'FeedInstance', id });
    const keys = await redis.client.keys('nodes:*HOMEPAGE:*');
    assert.ok(keys.includes('nodes:{ann}:HOMEPAGE:current'));
    const rests = keys.map((key) => key.slice('nodes:{ann}:HOMEPAGE:'.length));
    const odd = [
      ...rests.filter((rest) => !id.endsWith(rest)),
      '',
      '*',
      '../x',
      '{bob}',
      'current\u0000',
      '\ud800',
      `${id}0`,
    ];
    for (const name of odd) {
      for (const type of ['feed', 'viewer', 'gap', 'source', 'entry', 'author']) {
        const { text, ...answer } = await ask(NODE, { id: `${type}:${name}` });
        assert.deepEqual(answer, { data: { node: null } }, `${type}:${name}: ${text}`);
      }
    }
  });

  it('is told that the store does not answer, in no words but ours, when a key holds what we did not write', async (t) => {
    const { ask, logged } = await openGateway(t, redis.url, 'odd:');
    await redis.client.set('odd:{ann}:HOMEPAGE:current', 'not ours');
    const feed = formatNodeId({ type: 'feed', feedId: '0011223344556677' });
    await redis.client.lpush('odd:{ann}:HOMEPAGE:0011223344556677', 'not ours');
    const { text, data, errors } = await ask(`{ node(id: "${feed}") { id } ${FOR_YOU.slice(1)}`);
    assert.doesNotMatch(text, INSIDE);
    assert.deepEqual(
      errors.map(({ message, extensions }: { message: string; extensions: { code: string } }) => [
        extensions.code,
        message,
      ]),
      [['STORE_UNAVAILABLE', 'the store does not answer: try again']],
    );
    assert.equal(data.forYou.problems[0].message, 'the store does not answer: try again');
    assert.ok(logged.some((line) => /^STORE_UNAVAILABLE: Redis does not answer: .*WRONGTYPE/.test(line)));
  });

  it('is told no more when the store is gone', async (t) => {
    const own = await startRedis();
    t.after(() => own.stop());
    const { ask, logged } = await openGateway(t, own.url, 'gone:');
    await own.kill();
    const { text, errors, data } = await ask(`{ timeline { since problems { message } } ${FOR_YOU.slice(1)}`);
    assert.doesNotMatch(text, INSIDE);
    assert.deepEqual(
      errors.map(({ message }: { message: string }) => message),
      Array(errors.length).fill('the store does not answer: try again'),
    );
    assert.ok(errors.length > 0 && data.timeline === null);
    assert.ok(
      logged.some((line) => line.startsWith('STORE_UNAVAILABLE: Redis does not answer: ')),
      String(logged),
    );
  });
});
