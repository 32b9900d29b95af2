import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createHydrator } from '../../src/loaders.ts';
import { createPollingHarness, type PollingHarnessOptions, postIdOf } from '../timeline/polling-harness.ts';

const MINUTE = 60_000;

/** A source with ten posts, and pages that read them by id again once they are stale. */
async function setUp(options: PollingHarnessOptions = {}) {
  const harness = await createPollingHarness({ polling: { sweepIntervalMs: 5 * MINUTE }, ...options });
  const ids = Array.from({ length: 10 }, (_, n) => harness.publish({ agoMs: (10 - n) * 1000 }));
  harness.pollers.start();
  await harness.clock.advance(11 * MINUTE);
  const { store, source, clock } = harness;
  const { readsById } = harness.pollers;
  const hydrator = createHydrator({ ...store, ...readsById, sources: [source], clock });
  return {
    harness,
    id: ids[4] ?? '',
    async read(id: string) {
      const postId = postIdOf(id);
      const { posts } = await hydrator.forViewer({}).hydrate([postId, postIdOf(ids[0] ?? '')]);
      return posts.get(postId)?.text;
    },
    async removed() {
      return (await harness.records()).filter(({ kind }) => kind === 'remove').map(({ postId }) => postId);
    },
  };
}

describe('a 404 by id that a page meets', () => {
  it('hides the post from that page alone: read again, it is whole', async () => {
    let isOdd = true;
    const { harness, id, read } = await setUp({ fetchById: () => (isOdd ? 'gone' : undefined) });
    assert.equal(await read(id), undefined);
    isOdd = false;
    await harness.clock.advance(MINUTE);
    assert.equal(await read(id), 'post 5');
    const stored = (await harness.store.posts.getPosts([postIdOf(id)])).get(postIdOf(id));
    assert.equal(stored?.post.text, 'post 5');
    await harness.pollers.stop();
  });

  it('of a living post never removes it', async () => {
    let isOdd = true;
    const { harness, id, read, removed } = await setUp({ fetchById: () => (isOdd ? 'gone' : undefined) });
    await read(id);
    isOdd = false;
    await harness.clock.advance(300 * MINUTE);
    assert.deepEqual(await removed(), []);
    assert.equal((await harness.entries()).length, 10);
    await harness.pollers.stop();
  });

  it('of a deleted post has it looked into: it is removed once that is confirmed, not before', async () => {
    const { harness, id, read, removed } = await setUp();
    // The next rescan of it is hours away.
    await harness.clock.advance(30 * MINUTE);
    harness.server.timeline.change(id, { isDeleted: true });
    assert.equal(await read(id), undefined);
    await harness.clock.advance(4 * MINUTE);
    assert.deepEqual(await removed(), []);
    await harness.clock.advance(8 * MINUTE);
    assert.deepEqual(await removed(), [postIdOf(id)]);
    await harness.pollers.stop();
  });
});
