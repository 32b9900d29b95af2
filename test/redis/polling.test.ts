import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { it } from 'node:test';
import { openStore } from '../../src/stores/registry.ts';
import { startRedis } from '../redis-server.ts';
import { startSimulatedHttp } from '../simulated-http.ts';
import { simulatedId } from '../simulated-ids.ts';
import { createSimulatedTimeline } from '../simulated-timeline.ts';
import { LOG, postIdOf } from '../timeline/polling-harness.ts';

/** Requests that are waited for before each kill, and after all. */
const REQUESTS = 40;

it('three gateways poll a source as one; whoever is killed, another takes over, and every post is there once', {
  timeout: 90_000,
}, async (t) => {
  const redis = await startRedis();
  t.after(() => redis.stop());
  const timeline = createSimulatedTimeline({ pageSize: 40 });
  let requests = 0;
  let posts = 0;
  let isPublishing = true;
  let told = () => {};
  const put = () => {
    posts += 1;
    const atMs = Date.now();
    timeline.put({ id: simulatedId('mastodon', atMs, posts), atMs, visibleAtMs: 0, text: `post ${posts}` });
  };
  put();
  const server = await startSimulatedHttp(timeline, () => {
    requests += 1;
    if (isPublishing && requests % 3 === 0) put();
    told();
    return { nowMs: Date.now(), sent: undefined };
  });
  t.after(() => server.close());
  const children = ['a', 'b', 'c'].map((holder) => start(server.url, redis.url, holder));
  t.after(() => children.map((child) => child.kill('SIGKILL')));
  /** Resolves when so many more requests came, from whoever it is. */
  const more = (count: number) =>
    new Promise<void>((resolve) => {
      const until = requests + count;
      told = () => {
        if (requests >= until) resolve();
      };
    });

  for (const child of children.slice(0, 2)) {
    await more(REQUESTS);
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await more(REQUESTS);
  isPublishing = false;
  await more(REQUESTS);
  children[2]?.stdin?.end();
  assert.deepEqual(await once(children[2] as ChildProcess, 'exit'), [0, null]);

  const [one, other] = await Promise.all([openStore(redis.url), openStore(redis.url)]);
  const [records, same] = await Promise.all(
    [one, other].map((store) => store.timelines.recordsAfter({ logId: LOG, limit: 10_000 })),
  );
  await Promise.all([one, other].map((store) => store.close()));
  assert.deepEqual(records, same, 'all gateways see one order');
  const entries = records?.map(({ postId }) => postId) ?? [];
  assert.ok(entries.length > 20);
  assert.deepEqual(entries.toSorted(), [...timeline.posts.keys()].map(postIdOf).toSorted());
});

function start(url: string, spec: string, holder: string): ChildProcess {
  const child = join(import.meta.dirname, '../kill-child.ts');
  return spawn(process.execPath, [child, url, spec, holder], { stdio: ['pipe', 'ignore', 'inherit'] });
}
