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

test("For You shows a post as its own server has it, also where another's copy came first and was ranked", async () => {
  const town = createSource('town');
  const pond = createSource('pond');
  const own = await openEdge({ sources: [town, pond] });
  const genuine = Array.from({ length: 20 }, (_, n) => createPost(town, n + 1, { text: 'genuine' }));
  const forged = genuine.map(({ uri }, n) => createPost(pond, n + 1, { uri, text: 'forged' }));
  await publish(own, pond, forged);
  const shown = async (cursor: string | undefined, userId = 'ann') => {
    const args = cursor === undefined ? '' : `, cursor: "${cursor}"`;
    const query = `{ forYou(limit: 10${args}) { items { post { id uri text } } nextPage { cursor } } }`;
    return dataOf(await own.ask(query, { userId })).forYou;
  };
  const texts = ({ items }: { items: { post: { text: string } }[] }) => items.map(({ post }) => post.text);
  const first = await shown(undefined);
  assert.deepEqual(texts(first), Array(10).fill('forged'), 'nobody knows better yet');
  await publish(own, town, genuine);
  const again = await shown(undefined);
  const second = await shown(again.nextPage.cursor);
  assert.deepEqual(texts(again).concat(texts(second)), Array(20).fill('genuine'));
  const other = await shown(undefined, 'bob');
  const rest = await shown(other.nextPage.cursor, 'bob');
  const ids = [...other.items, ...rest.items].map(({ post }: { post: { id: string } }) => post.id);
  assert.deepEqual(ids.toSorted(), genuine.map(({ id }) => id).toSorted());
  await own.close();
});

test('a recommender that names a copy of a candidate means the candidate', async () => {
  const town = createSource('town');
  const pond = createSource('pond');
  const genuine = createPost(town, 60, { text: 'genuine' });
  const copy = createPost(pond, 59, { uri: genuine.uri, text: 'copy' });
  const other = createPost(town, 90, { text: 'other' });
  const own = await openEdge({
    sources: [town, pond],
    recommender: { recommend: async () => [copy, other, genuine].map(({ id }) => ({ postId: id })) },
  });
  await publish(own, town, [genuine, other]);
  await publish(own, pond, [copy]);
  const { forYou } = dataOf(await own.ask('{ forYou { items { post { text } } } }', { userId: 'ann' }));
  assert.deepEqual(
    forYou.items.map(({ post }: { post: { text: string } }) => post.text),
    ['genuine', 'other'],
  );
  await own.close();
});

test('what a recommender says holds nothing that turns or hides what stands beside it', async () => {
  const town = createSource('town');
  const post = createPost(town, 1);
  const reason = { kind: 'OTHER' as const, text: 'a\u0000b\u202ec\nd\u2067' };
  const own = await openEdge({
    sources: [town],
    recommender: { recommend: async () => [{ postId: post.id, reason }] },
  });
  await publish(own, town, [post]);
  const { forYou } = dataOf(await own.ask('{ forYou { items { reason { text } } } }', { userId: 'ann' }));
  assert.equal(forYou.items[0].reason.text, 'abc d');
  await own.close();
});
