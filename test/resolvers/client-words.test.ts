import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  IdsUnavailableError,
  RateLimitedError,
  RecommenderUnavailableError,
  StoreUnavailableError,
  UpstreamError,
} from '../../src/errors.ts';
import { createClientWords } from '../../src/resolvers/client-words.ts';
import { codesOf, createPost, createSource, NOW_MS, openEdge, publish } from '../edge-fixture.ts';

const SECRET = 'connect ECONNREFUSED 10.1.2.3:6379';

test('words are made of the code alone, and the message is logged once in 10 s a code', () => {
  const logged: string[] = [];
  const time = { nowMs: NOW_MS };
  const words = createClientWords({ clock: { now: () => time.nowMs }, log: (line) => logged.push(line) });
  const codes = ['STORE_UNAVAILABLE', 'RECOMMENDER_UNAVAILABLE', 'IDS_UNAVAILABLE', 'MALFORMED', 'no such code'];
  for (const code of codes) {
    const said = [1, 2, 3].map((n) => words({ code, message: `${SECRET} ${n}` }));
    assert.equal(new Set(said).size, 1);
    assert.doesNotMatch(said.join(), /ECONN|10\.1|6379/);
  }
  assert.deepEqual(
    logged,
    codes.map((code) => `${code}: ${SECRET} 1`),
  );
  time.nowMs += 9_999;
  words({ code: 'STORE_UNAVAILABLE', message: 'early' });
  time.nowMs += 1;
  words({ code: 'STORE_UNAVAILABLE', message: 'again' });
  time.nowMs -= 3_600_000;
  words({ code: 'STORE_UNAVAILABLE', message: 'the clock was set back' });
  assert.deepEqual(logged.slice(codes.length), [
    'STORE_UNAVAILABLE: again',
    'STORE_UNAVAILABLE: the clock was set back',
  ]);
});

test('no error that may come of an outage brings its message to a client', async (t) => {
  const inAMinute = NOW_MS + 60_000;
  for (const error of [
    new StoreUnavailableError(SECRET),
    new RecommenderUnavailableError(SECRET),
    new IdsUnavailableError(SECRET, inAMinute),
    new UpstreamError('UNAVAILABLE', SECRET),
    new UpstreamError('RATE_LIMITED', SECRET, { retryAtMs: inAMinute, hint: SECRET }),
    new Error(SECRET),
  ]) {
    const next = () => {
      throw error;
    };
    const edge = await openEdge({ replace: () => ({ ids: { next, run: async () => {}, stop: () => {} } }) });
    t.after(() => edge.close());
    const answer = await edge.ask('mutation { nextIds }', { userId: 'ann' });
    assert.equal(answer.errors.length, 1);
    assert.doesNotMatch(answer.text, /ECONN|10\.1|6379/, error.name);
    assert.ok(edge.logged.some((line) => line.includes(SECRET)));
  }
  const next = () => {
    throw new RateLimitedError('at most 9 ids a second', inAMinute);
  };
  const edge = await openEdge({ replace: () => ({ ids: { next, run: async () => {}, stop: () => {} } }) });
  t.after(() => edge.close());
  const { errors } = await edge.ask('mutation { nextIds }', { userId: 'ann' });
  assert.equal(errors[0]?.message, 'at most 9 ids a second', 'what the client did is said as it is');
});

test("a page's problems tell the message of a source that the viewer may read, and never its hint", async (t) => {
  const town = createSource('town');
  const edge = await openEdge({ sources: [town] });
  t.after(() => edge.close());
  const message = 'GET https://town.example/x answered 301 (redirects are not followed)';
  const hint = 'it moved, set url to https://elsewhere.example';
  const problems = [
    { code: 'UNAVAILABLE', message, hint, retryAtMs: NOW_MS },
    { code: 'STORE_UNAVAILABLE', message: SECRET },
  ] as const;
  await publish(edge, town, [createPost(town, 1)]);
  await edge.store.timelines.writeStatus(town.logId, { state: 'FAILING', overlapMs: 1, problems });
  const answer = await edge.ask('{ timeline { problems { code message source { id } } } }');
  assert.deepEqual(codesOf(answer), []);
  assert.deepEqual(answer.data.timeline.problems, [
    { code: 'UNAVAILABLE', message, source: { id: 'source:town' } },
    { code: 'STORE_UNAVAILABLE', message: 'the store does not answer: try again', source: { id: 'source:town' } },
  ]);
  assert.doesNotMatch(answer.text, /elsewhere/);
});
