import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { codesOf, createPost, createSource, dataOf, openEdge, publish } from '../edge-fixture.ts';

const town = createSource('town');
const edge = await openEdge({ sources: [town] });
after(() => edge.close());
await publish(
  edge,
  town,
  Array.from({ length: 12 }, (_, n) => createPost(town, n + 1)),
);

const PAGE =
  '{ items { position cursor post { text } reason { kind } } nextPage { cursor } state feed { id size generatedAt } problems { code } }';
const page = async (args = '', userId = 'ann') =>
  dataOf(await edge.ask(`{ forYou${args} ${PAGE} }`, { userId })).forYou;
const codes = async (args: string, userId?: string) =>
  codesOf(await edge.ask(`{ forYou${args} { state } }`, userId === undefined ? {} : { userId }));
const places = ({ items }: { items: { position: number }[] }) => items.map(({ position }) => position);

test('pages go on to the end, where nextPage is null', async () => {
  const first = await page('(limit: 5)');
  assert.deepEqual([first.state, places(first)], ['GENERATED', [0, 1, 2, 3, 4]]);
  assert.equal(first.items[0].post.text, 'post of town, 1 s ago');
  assert.equal(first.feed.size, 12);
  const second = await page(`(limit: 5, cursor: "${first.nextPage.cursor}")`);
  assert.deepEqual([second.state, places(second), second.feed.id], ['CACHED', [5, 6, 7, 8, 9], first.feed.id]);
  const last = await page(`(cursor: "${second.nextPage.cursor}")`);
  assert.deepEqual([places(last), last.nextPage], [[10, 11], null]);
});

test('the cursor of an item goes on after it', async () => {
  const { items } = await page('(limit: 5)');
  assert.deepEqual(places(await page(`(limit: 2, cursor: "${items[1].cursor}")`)), [2, 3]);
});

test('a refresh makes another feed the current one, and old cursors stay valid', async () => {
  const old = await page('(limit: 5)', 'bob');
  edge.time.nowMs += 60_000;
  const refresh = `mutation { refreshForYou(limit: 3) ${PAGE} }`;
  const { refreshForYou: fresh } = dataOf(await edge.ask(refresh, { userId: 'bob' }));
  assert.deepEqual([fresh.state, places(fresh)], ['GENERATED', [0, 1, 2]]);
  assert.notEqual(fresh.feed.id, old.feed.id);
  assert.equal((await page('', 'bob')).feed.id, fresh.feed.id);
  assert.deepEqual(places(await page(`(cursor: "${old.nextPage.cursor}", limit: 1)`, 'bob')), [5]);
});

test('nobody signed in has no feed', async () => {
  assert.deepEqual(await codes(''), ['UNAUTHENTICATED']);
  assert.deepEqual(codesOf(await edge.ask('mutation { refreshForYou { state } }')), ['UNAUTHENTICATED']);
});

test('limits outside 1 to 100 are refused, null is the default', async () => {
  for (const limit of [0, -1, 101]) {
    assert.deepEqual(await codes(`(limit: ${limit})`, 'ann'), ['BAD_USER_INPUT limit']);
    const refresh = `mutation { refreshForYou(limit: ${limit}) { state } }`;
    assert.deepEqual(codesOf(await edge.ask(refresh, { userId: 'ann' })), ['BAD_USER_INPUT limit']);
  }
  for (const limit of [1, 100, null]) assert.deepEqual(await codes(`(limit: ${limit})`, 'ann'), []);
  assert.deepEqual(await codes('(cursor: null)', 'ann'), []);
});

test("a broken cursor, another viewer's and a timeline's are bad cursors, all alike", async () => {
  const { nextPage } = await page('(limit: 5)');
  const { timeline } = dataOf(await edge.ask('{ timeline(limit: 1) { since } }', { userId: 'ann' }));
  const answers = await Promise.all([
    edge.ask(`{ forYou(cursor: "${nextPage.cursor}") { state } }`, { userId: 'bob' }),
    edge.ask(`{ forYou(cursor: "${timeline.since}") { state } }`, { userId: 'ann' }),
    edge.ask(`{ forYou(cursor: "${nextPage.cursor.slice(0, -4)}") { state } }`, { userId: 'ann' }),
    edge.ask('{ forYou(cursor: "") { state } }', { userId: 'ann' }),
  ]);
  assert.deepEqual(new Set(answers.map(({ text }) => text)).size, 1);
  assert.deepEqual(answers.flatMap(codesOf), Array(4).fill('BAD_CURSOR'));
});
