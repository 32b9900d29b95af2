import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnswerSize, MAX_ANSWER_LENGTH } from '../../../src/server/graphql/answer-size.ts';
import { codesOf, createPost, createSource, openEdge, publish } from '../../edge-fixture.ts';

const aliases = (count: number) => Array.from({ length: count }, (_, n) => `a${n}: html`).join(' ');

test('an answer is counted to its last character', () => {
  const size = createAnswerSize();
  assert.deepEqual([size.add(MAX_ANSWER_LENGTH), size.isExceeded], [true, false]);
  assert.deepEqual([size.add(1), size.isExceeded], [false, true]);
});

test('an answer that would be too long is an error instead, and is not made', async (t) => {
  const town = createSource('town');
  const edge = await openEdge({ sources: [town] });
  t.after(() => edge.close());
  const html = `<p>${'x'.repeat(90_000)}</p>`;
  const posts = Array.from({ length: 20 }, (_, n) => createPost(town, n + 1, { html, hashtags: ['a'.repeat(90_000)] }));
  await publish(edge, town, posts);

  const whole = await edge.ask(`{ timeline(limit: 20) { entries { post { ${aliases(5)} } } } }`);
  assert.deepEqual([whole.status, codesOf(whole)], [200, []]);
  for (const selection of [aliases(6), `${aliases(3)} t1: hashtags t2: hashtags t3: hashtags`]) {
    const answer = await edge.ask(`{ timeline(limit: 20) { entries { post { ${selection} } } } }`);
    assert.deepEqual([answer.status, codesOf(answer), answer.data], [400, ['BAD_USER_INPUT'], undefined]);
    assert.match(answer.errors[0]?.message ?? '', /longer than 10000000 characters/);
  }
});

test('what escaping adds counts, too', async (t) => {
  const town = createSource('town');
  const edge = await openEdge({ sources: [town] });
  t.after(() => edge.close());
  const text = '"'.repeat(90_000);
  await publish(
    edge,
    town,
    Array.from({ length: 20 }, (_, n) => createPost(town, n + 1, { text })),
  );
  const query = (count: number) =>
    `{ timeline(limit: 20) { entries { post { ${Array.from({ length: count }, (_, n) => `a${n}: text`).join(' ')} } } } }`;
  assert.equal((await edge.ask(query(2))).status, 200);
  assert.deepEqual(codesOf(await edge.ask(query(3))), ['BAD_USER_INPUT']);
});

test('a list that is longer than its cost says is not walked when that is too much', async (t) => {
  const town = createSource('town');
  const edge = await openEdge({ sources: [town] });
  t.after(() => edge.close());
  const gaps = Array.from({ length: 5_000 }, (_, n) => ({ id: `g${n}`, reason: 'PAGE_CAP' as const, final: true }));
  let looked = 0;
  for (const gap of gaps) {
    const { reason } = gap;
    Object.defineProperty(gap, 'reason', {
      get() {
        looked += 1;
        return reason;
      },
    });
  }
  const { timelines } = edge.store;
  t.mock.method(timelines, 'readLog', async () => ({ version: 0, gaps, counts: {} }));
  const query = (count: number) =>
    `{ timeline(limit: 1) { gaps { ...G } } } fragment G on TimelineGap { ${Array.from({ length: count }, (_, n) => `r${n}: reason`).join(' ')} }`;
  assert.deepEqual(codesOf(await edge.ask(query(900))), ['BAD_USER_INPUT']);
  assert.equal(looked, 0);
  const answer = await edge.ask(query(3));
  assert.deepEqual([codesOf(answer), answer.data.timeline.gaps.length, looked], [[], 5_000, 15_000]);
});
