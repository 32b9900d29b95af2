import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import {
  appendTo,
  commitTo,
  deleteAllExpired,
  HOUR,
  NOW,
  orderKey,
  samplePost,
  sampleRecord,
  written,
} from './samples.ts';

const MANY = Array.from({ length: 1200 }, (_, index) => `${index + 1}`);

/** How often others had their turn while this was done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = () => {
    if (isDone) return;
    turns++;
    setImmediate(count);
  };
  setImmediate(count);
  await work;
  isDone = true;
  return turns;
}

describe('the embedded store, whose work is synchronous,', () => {
  it('trims a long log in steps, to what one step would leave', async (t) => {
    const store = await openSqliteStore({ file: ':memory:' });
    t.after(() => store.close());
    await appendTo(store, 'town', MANY);
    await commitTo(store, 'town', { append: [sampleRecord('1', { kind: 'edit' }), sampleRecord('9000')] });
    const trim = { logId: 'town', beforeMs: 0, keepEntries: 101, keepKnown: 50 };
    assert.ok((await turnsDuring(store.timelines.trim(trim))) >= 3);

    const records = await store.timelines.recordsAfter({ logId: 'town', limit: 9999 });
    assert.deepEqual(
      records.map(({ postId }) => postId),
      [...MANY.slice(1100), '1', '9000'],
    );
    const { trimmedTo, floorKey } = await store.timelines.readLog('town');
    assert.deepEqual([trimmedTo, floorKey], [`${NOW}-1099`, orderKey(1151)]);
    assert.equal((await store.timelines.known('town', [...MANY, '9000'])).size, 50);
    const kept = await store.posts.getPosts(MANY);
    const shown = [...kept].filter(([, { shownBy }]) => shownBy.length > 0).map(([id]) => id);
    assert.deepEqual(shown, ['1', ...MANY.slice(1100)], 'the first has an edit that stays');
  });

  it('trims by bytes in steps that are as long as those by count', async (t) => {
    const store = await openSqliteStore({ file: ':memory:' });
    t.after(() => store.close());
    await appendTo(store, 'town', MANY);
    const trim = { logId: 'town', beforeMs: 0, keepEntries: 9999, keepBytes: 1, keepKnown: 9999 };
    const turns = await turnsDuring(store.timelines.trim(trim));
    assert.equal((await store.timelines.recordsAfter({ logId: 'town', limit: 9999 })).length, 0);
    assert.ok(turns >= 3 && turns <= 20, `${turns} turns for ${MANY.length} records`);
  });

  it('drops a long log in steps', async (t) => {
    const store = await openSqliteStore({ file: ':memory:' });
    t.after(() => store.close());
    await appendTo(store, 'town', MANY);
    assert.ok((await turnsDuring(store.timelines.dropLog('town'))) >= 3);
    assert.equal((await store.posts.getPosts(MANY)).size, 0);
  });

  it('lets go in steps of posts that were read again after their records had gone', async (t) => {
    const store = await openSqliteStore({ file: ':memory:' });
    t.after(() => store.close());
    await appendTo(store, 'town', ['1', '2']);
    await commitTo(store, 'town', { posts: MANY.map((id) => written(samplePost(id))) });
    const trim = { logId: 'town', beforeMs: NOW + 2, keepEntries: 9, keepKnown: 9 };
    assert.ok((await turnsDuring(store.timelines.trim(trim))) >= 3);
    const shown = [...(await store.posts.getPosts(MANY))].filter(([, { shownBy }]) => shownBy.length > 0);
    assert.deepEqual(
      shown.map(([id]) => id),
      ['2'],
    );
  });

  it('deletes in steps what has expired', async (t) => {
    const store = await openSqliteStore({ file: ':memory:' });
    t.after(() => store.close());
    await store.posts.putPosts(MANY.map((id) => written(samplePost(id))));
    assert.ok((await turnsDuring(deleteAllExpired(store, NOW + 99 * HOUR))) >= 2);
    assert.equal((await store.posts.getPosts(MANY)).size, 0);
  });
});
