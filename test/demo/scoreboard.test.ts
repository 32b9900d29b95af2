import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMastodonDemo, snowflakeIds } from '../../src/demo/mastodon-demo.ts';
import { createPlainPoller } from '../../src/demo/plain-poller.ts';
import { readRecording } from '../../src/demo/recording.ts';
import { keepScore } from '../../src/demo/scoreboard.ts';
import { formatPostId } from '../../src/ids/post-id.ts';
import { openSqliteStore } from '../../src/stores/sqlite.ts';
import { createPost, createSource } from '../edge-fixture.ts';

const START = Date.parse('2026-11-20T12:00:00Z');

test('the score counts what became visible since the start, once every poller had its chance', async () => {
  const { replay, answer } = createMastodonDemo({
    host: 'town.example',
    version: '4.4.2',
    sourceUrl: 'https://github.com/mastodon/mastodon',
    recording: readRecording('town'),
    newId: snowflakeIds,
  });
  const plain = createPlainPoller('http://127.0.0.1:1', async (input) => {
    const { pathname, searchParams } = new URL(String(input));
    return Response.json(answer({ path: pathname, query: searchParams }).body);
  });
  const source = createSource('town');
  const store = await openSqliteStore({ file: ':memory:' });

  replay.publish(START);
  const onTime = replay.publish(START + 1000);
  await plain.poll();
  const late = replay.publish(START + 2000, 5000);
  const justNow = replay.publish(START + 9000);
  await plain.poll();
  const kept = [onTime, late].map((id) => {
    const postId = formatPostId(id, source.host);
    const { createdAtMs: sortAtMs, uri } = createPost(source, 1);
    return {
      kind: 'entry',
      postId,
      uri,
      upstreamId: id,
      orderKey: id,
      revision: '',
      sortAtMs,
      arrivedAtMs: START,
      late: false,
    } as const;
  });
  await store.timelines.commit({ logId: source.logId, expectedVersion: 0, nowMs: START, append: kept, posts: [] });

  const timelines = store.timelines;
  const score = (nowMs: number) => keepScore({ source, timelines, replay, plain, fromMs: START + 1, nowMs });
  assert.deepEqual(await score(START + 10_000), { published: 2, missedByPlain: 1, missedBySluice: 0 });
  assert.ok(plain.seen.has(justNow));
  assert.deepEqual(await score(START + 17_000), { published: 3, missedByPlain: 1, missedBySluice: 1 });
  await store.close();
});
