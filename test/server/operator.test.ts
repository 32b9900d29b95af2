import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createPost, createSource, dataOf, openEdge, publish } from '../edge-fixture.ts';

const TOKEN = 'an operator token';
const town = createSource('town');
const edge = await openEdge({
  sources: [town],
  replace: ({ settings }) => ({ settings: { ...settings, operator: { token: TOKEN } } }),
});
after(() => edge.close());
await publish(
  edge,
  town,
  Array.from({ length: 5 }, (_, n) => createPost(town, n + 1)),
);

const PAGE = '{ state items { post { id } } nextPage { cursor } }';
const send = (path: string, init: { method?: string; token?: string; body?: string } = {}) =>
  fetch(`${edge.url}${path}`, {
    method: init.method ?? 'GET',
    headers: {
      ...(init.token !== undefined && { authorization: `Bearer ${init.token}` }),
      ...(init.body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(init.body !== undefined && { body: init.body }),
  });
const purge = (body: string) => send('/purge', { method: 'POST', token: TOKEN, body });

test('the metrics say what must stay 0', async () => {
  dataOf(await edge.ask(`{ forYou(limit: 2) ${PAGE} }`, { userId: 'zoe' }));
  const response = await send('/metrics', { token: TOKEN });
  assert.equal(response.status, 200);
  const text = await response.text();
  assert.match(text, /^sluice_feed_pages_total 1$/m);
  assert.match(text, /^sluice_feed_repeats_total 0$/m);
  assert.match(text, /^sluice_feed_dead_ends_total 0$/m);
});

test('a purge removes a viewer’s feeds, and no other’s; old cursors behave as gone', async () => {
  const first = async (userId: string) => dataOf(await edge.ask(`{ forYou(limit: 2) ${PAGE} }`, { userId })).forYou;
  const anns = await first('ann');
  await first('bob');
  const response = await purge('{"viewer":"ann"}');
  assert.deepEqual([response.status, await response.json()], [200, { removed: 1 }]);
  assert.equal((await first('bob')).state, 'CACHED');
  const on = `{ forYou(limit: 9, cursor: "${anns.nextPage.cursor}") ${PAGE} }`;
  const { forYou } = dataOf(await edge.ask(on, { userId: 'ann' }));
  assert.equal(forYou.state, 'CONTINUED');
  const ids = [...anns.items, ...forYou.items].map(({ post }) => post.id);
  assert.equal(new Set(ids).size, 5);
  assert.equal(ids.length, 5);
  assert.equal((await first('ann')).state, 'GENERATED');
});

test('whoever is not the operator gets nothing', async () => {
  for (const token of [undefined, '', 'another token!!!!', `${TOKEN} `.trimEnd().slice(1)]) {
    for (const path of ['/metrics', '/purge']) {
      const response = await send(path, token === undefined ? {} : { token });
      assert.equal(response.status, 401, `${path} with ${token}`);
    }
  }
  const other = await openEdge({ sources: [town] });
  for (const path of ['/metrics', '/purge']) assert.equal((await fetch(`${other.url}${path}`)).status, 404);
  await other.close();
});

test('a wrong method or body is refused', async () => {
  assert.equal((await send('/purge', { token: TOKEN })).status, 405);
  assert.equal((await send('/metrics', { method: 'POST', token: TOKEN, body: '{}' })).status, 405);
  for (const body of [
    '',
    '{',
    'null',
    '[]',
    '{}',
    '{"viewer":""}',
    '{"viewer":7}',
    `{"viewer":"${'a'.repeat(257)}"}`,
  ]) {
    assert.equal((await purge(body)).status, 400, body.slice(0, 20));
  }
  assert.deepEqual(await (await purge('{"viewer":"nobody"}')).json(), { removed: 0 });
});
