import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { Hydrate } from '../../src/feed/for-you.ts';
import type { Post } from '../../src/post.ts';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import type { Store } from '../../src/stores/store.ts';
import { candidatesOf, idsOf, post, posts, scriptedRecommender, world } from './fixture.ts';

const uri = 'https://town.example/posts/1';
const home = post({ id: '1@town.example', uri });
const [forged, copied] = ['77@pond.example', '88@lake.example'].map((id) => post({ id, uri }));
const others = posts(9).slice(1);
assert.ok(forged && copied);

let store: Store;
before(async () => {
  store = await openSqliteStore({ file: ':memory:' });
});
after(() => store.close());

let userId = '';
let tests = 0;
beforeEach(() => {
  userId = `viewer ${tests++}`;
});

/** Names these in this order; hydration shows the home copy in the place of all others, as the loaders do. */
function scroll(order: readonly Post[], candidates: readonly Post[]) {
  const all = [home, forged, copied, ...others].filter((one) => one !== undefined);
  const byId = new Map(all.map((one) => [one.id, one.uri === uri ? home : one]));
  const hydrate: Hydrate = async (ids) => ({
    posts: new Map(ids.flatMap((id) => byId.get(id) ?? []).map((one, index) => [ids[index] ?? '', one])),
    problems: [],
  });
  const recommender = scriptedRecommender(() => order.map(({ id }) => ({ postId: id })));
  const { forYou, request } = world({ feeds: store.feeds, posts: all, recommender });
  const known = async () => ({ candidates: candidatesOf(candidates), problems: [] });
  return async (limit: number) => {
    const shown: string[] = [];
    let page = await forYou.page(request({ userId, limit, hydrate, candidates: known }));
    shown.push(...idsOf(page));
    while (page.next) {
      page = await forYou.page(request({ userId, limit, hydrate, candidates: known, cursor: page.next }));
      shown.push(...idsOf(page));
    }
    return shown;
  };
}

const homeFirst = [home.id, ...others.map(({ id }) => id)];

test('the home copy takes the place of one from elsewhere, and does not come again, on that page or another', async () => {
  for (const limit of [2, 20]) {
    for (const known of [
      [forged, ...others],
      [forged, home, ...others],
    ]) {
      userId += '.';
      const shown = await scroll([forged, ...others, home], known)(limit);
      assert.deepEqual(shown, homeFirst);
    }
  }
});

test('where the home copy was named before, one from elsewhere is left out', async () => {
  for (const limit of [2, 20]) {
    for (const known of [[forged, copied], [home], []]) {
      userId += '.';
      const shown = await scroll([home, ...others, forged, copied], known)(limit);
      assert.deepEqual(shown, homeFirst);
    }
  }
});

test('copies from elsewhere that were named by their ids alone do not show one post twice', async () => {
  for (const limit of [2, 20]) {
    userId += '.';
    const shown: readonly string[] = await scroll([forged, ...others, copied, home], [])(limit);
    assert.equal(shown.filter((id) => id === home.id).length, 1);
  }
});

test('a page ends when its posts reach 4 MB, and the pages together are the whole instance', async () => {
  const heavy = posts(100).map((one) => ({ ...one, text: 'x'.repeat(99_000) }));
  const { forYou, request } = world({ feeds: store.feeds, posts: heavy });
  let page = await forYou.page(request({ userId, limit: 100 }));
  const pages = [idsOf(page)];
  while (page.next) {
    page = await forYou.page(request({ userId, limit: 100, cursor: page.next }));
    pages.push(idsOf(page));
  }
  assert.deepEqual(
    pages.flat(),
    heavy.map(({ id }) => id),
  );
  assert.deepEqual(
    pages.map(({ length }) => length),
    [41, 41, 18],
  );
});

test("an item's cursor is made once", async () => {
  const { forYou, request } = world({ feeds: store.feeds, posts: others });
  for (const item of (await forYou.page(request({ userId }))).items) assert.equal(item.cursor, item.cursor);
});
