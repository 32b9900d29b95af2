import assert from 'node:assert/strict';
import { after, beforeEach, it } from 'node:test';
import { openStore } from '../../src/stores/registry.ts';
import type { Store } from '../../src/stores/store.ts';
import { startRedis } from '../redis-server.ts';
import { appendTo, commitTo, NOW, samplePost, written } from './samples.ts';

const redis = await startRedis();
after(() => redis.stop());
beforeEach(() => redis.client.flushall());

it('a body that an earlier release took for gone is as good as lost, until it is read again', async (t) => {
  const store = await openStore(redis.url);
  t.after(() => store.close());
  const outer = samplePost('outer', { quoted: samplePost('1') });
  await appendTo(store, 'town', ['1'], { posts: [written(outer), written(samplePost('1'), NOW + 5)] });
  const [line = '', body = ''] = ((await redis.client.get('body:1')) ?? '').split('\n');
  const [readAtMs, , ...head] = JSON.parse(line);
  await redis.client.set('body:1', `${JSON.stringify([readAtMs, NOW + 9, ...head])}\n${body}`);
  const found = await store.posts.getPosts(['1', 'outer']);
  assert.deepEqual([...found.keys()], ['outer']);
  assert.equal(found.get('outer')?.post.quoted, undefined);

  await commitTo(store, 'town', { posts: [written(samplePost('1'), NOW + 1)] });
  const again = (await store.posts.getPosts(['1'])).get('1');
  assert.deepEqual(again, { post: samplePost('1'), readAtMs: NOW + 1, shownBy: ['town'] });
});

for (const [use, work] of Object.entries({
  named: (store: Store) => store.timelines.nameLogs(['town'], NOW),
  'committed to': (store: Store) => appendTo(store, 'town', ['2']),
  read: (store: Store) => store.timelines.readLog('town'),
})) {
  it(`a log of an earlier release is listed once it was ${use}`, async (t) => {
    const before = await openStore(redis.url);
    t.after(() => before.close());
    await appendTo(before, 'town', ['1']);
    await redis.client.del('LOGS');
    const store = await openStore(redis.url);
    t.after(() => store.close());
    assert.deepEqual(await store.timelines.listLogs(), []);
    await work(store);
    assert.deepEqual(
      (await store.timelines.listLogs()).map(({ logId }) => logId),
      ['town'],
    );
  });
}

it('a log of an earlier release can be dropped before anybody used it', async (t) => {
  const store = await openStore(redis.url);
  t.after(() => store.close());
  await appendTo(store, 'town', ['1']);
  await redis.client.del('LOGS');
  assert.equal(await store.timelines.dropLog('town'), true);
  assert.deepEqual(await redis.client.keys('*:LOG:*'), ['{town}:LOG:state']);
  await store.timelines.readLog('town');
  assert.deepEqual(await store.timelines.listLogs(), [], 'what is left of it is no log');
});
