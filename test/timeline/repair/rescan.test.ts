import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  createPollingHarness as createQuietHouse,
  type PollingHarness,
  type PollingHarnessOptions,
  postIdOf,
} from '../polling-harness.ts';

const MINUTE = 60_000;

function createPollingHarness({ polling, ...options }: PollingHarnessOptions = {}): Promise<PollingHarness> {
  return createQuietHouse({ ...options, polling: { sweepIntervalMs: 5 * MINUTE, ...polling } });
}

/** A town that posts every 10 s for as long, polled and swept. Gives the ids. */
async function townOf(house: PollingHarness, minutes: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < minutes * 6; n += 1) {
    ids.push(house.publish());
    await house.clock.advance(10_000);
  }
  return ids;
}

async function removedIds(house: PollingHarness): Promise<string[]> {
  return (await house.records()).filter(({ kind }) => kind === 'remove').map(({ postId }) => postId);
}

describe('rescans', () => {
  for (const scheme of ['mastodon', 'twitter', 'ulid', 'uuidv7'] as const) {
    it(`finds a post that shows hours late, on a server with ${scheme} ids`, async () => {
      const house = await createPollingHarness({ scheme, polling: { overlapMs: 5000 } });
      house.publish();
      house.pollers.start();
      await townOf(house, 20);
      const late = house.publish({ lateMs: 3 * 60 * MINUTE });
      await townOf(house, 20);
      await house.clock.advance(3 * 60 * MINUTE);
      assert.ok(!(await house.entries()).includes(late));
      await house.clock.advance(90 * MINUTE);
      assert.equal((await house.entries()).filter((id) => id === late).length, 1);
      const { counts } = await house.log();
      assert.deepEqual([counts.backfilled, counts.leaksPrevented], [1, 0]);
      const record = (await house.records()).find(({ postId }) => postId === postIdOf(late));
      assert.equal(record?.late, true);
      await house.pollers.stop();
    });
  }

  it('finds a post that shows in its old place, and a removal, where ids tell nothing', async () => {
    const house = await createPollingHarness({ scheme: 'opaque', isOpaque: true, polling: { overlapMs: 5000 } });
    house.publish();
    house.pollers.start();
    await townOf(house, 10);
    const late = house.publish({ lateMs: 20 * MINUTE });
    const [doomed = ''] = (await townOf(house, 10)).slice(-9);
    await house.clock.advance(5 * MINUTE);
    assert.ok(!(await house.entries()).includes(late));
    house.server.timeline.change(doomed, { isDeleted: true });
    await house.clock.advance(5 * 60 * MINUTE);
    assert.equal((await house.entries()).filter((id) => id === late).length, 1);
    const removed = (await house.records()).filter(({ kind }) => kind === 'remove').map(({ postId }) => postId);
    assert.deepEqual(removed, [postIdOf(doomed)]);
    assert.deepEqual((await house.log()).gaps, []);
    await house.pollers.stop();
  });

  it('finds a late post that stands first on its page, where ids tell nothing', async () => {
    const house = await createPollingHarness({
      scheme: 'opaque',
      isOpaque: true,
      pageSize: 3,
      polling: { overlapMs: 5000 },
    });
    house.publish();
    house.pollers.start();
    await house.clock.advance(MINUTE);
    const late = house.publish({ lateMs: 20 * MINUTE });
    await townOf(house, 1);
    await house.clock.advance(5 * 60 * MINUTE);
    assert.equal((await house.entries()).filter((id) => id === late).length, 1);
    await house.pollers.stop();
  });

  it('takes nothing from before history for late', async () => {
    for (const options of [{ scheme: 'opaque', isOpaque: true }, { scheme: 'mastodon' }] as const) {
      const house = await createPollingHarness({ ...options, pageSize: 10, polling: { idleIntervalMs: 10 * MINUTE } });
      const history = Array.from({ length: 30 }, (_, n) => house.publish({ agoMs: (30 - n) * 1000 }));
      house.pollers.start();
      const ids = await townOf(house, 1);
      await house.clock.advance(48 * 60 * MINUTE);
      assert.deepEqual((await house.entries()).toSorted(), [...history.slice(-9), ...ids].toSorted());
      await house.pollers.stop();
    }
  });

  it('goes on where a gateway left off that was killed, page by page', async () => {
    const house = await createPollingHarness({ pageSize: 5, polling: { overlapMs: 1000, minIntervalMs: MINUTE } });
    house.publish();
    house.pollers.start();
    await townOf(house, 30);
    const late = house.publish({ agoMs: 15 * MINUTE });
    const walkUnderWay = async () => (await house.store.timelines.readRepair(house.source.logId))?.walk;
    for (let n = 0; n < 120 && (await walkUnderWay()) === undefined; n += 1) await house.clock.advance(5000);
    const walk = await walkUnderWay();
    const next = await createPollingHarness({
      clock: house.clock,
      server: house.server,
      store: house.store,
      holder: 'next',
    });
    await house.pollers.stop();
    const before = house.server.requests.length;
    next.pollers.start();
    await house.clock.advance(6 * MINUTE);
    const asked = house.server.requests.slice(before).map((request) => request.next);
    assert.ok(walk !== undefined && asked.includes(walk.next), 'the walk went on from its page');
    await house.clock.advance(8 * 60 * MINUTE);
    assert.ok((await house.entries()).includes(late));
    await next.pollers.stop();
  });

  it('costs an idle source one request an interval at most, and a busy one a tenth of its polls', async () => {
    const house = await createPollingHarness();
    house.publish();
    house.pollers.start();
    await townOf(house, 60);
    const rescans = house.server.requests.filter(({ sinceId }) => sinceId === undefined).length - 1;
    assert.ok(rescans >= 6, `${rescans} in an hour`);
    assert.ok(rescans <= 12 + house.server.requests.length / 10, `${rescans} of ${house.server.requests.length}`);
    await house.pollers.stop();
  });

  it('writes nothing to the log of an idle source, and little of how far it has come to another', async () => {
    const house = await createPollingHarness();
    house.publish();
    house.pollers.start();
    await house.clock.advance(6 * 60 * MINUTE);
    const { version } = await house.log();
    await house.clock.advance(6 * 60 * MINUTE);
    assert.ok((await house.log()).version - version <= 7, 'one an hour');
    await house.clock.advance(36 * 60 * MINUTE);
    const before = await house.log();
    const asked = house.server.requests.length;
    await house.clock.advance(12 * 60 * MINUTE);
    assert.equal((await house.log()).version, before.version);
    const rescans = house.server.requests.slice(asked).filter(({ sinceId }) => sinceId === undefined).length;
    assert.ok(rescans > 100 && rescans <= 150, `${rescans} in 12 hours`);
    await house.pollers.stop();
  });

  it('leaves what is newer than the last poll to the polls', async () => {
    const house = await createPollingHarness({
      pageSize: 4,
      polling: { idleIntervalMs: 40 * MINUTE, minIntervalMs: 40 * MINUTE },
    });
    house.publish();
    house.pollers.start();
    await house.clock.advance(1000);
    for (let n = 0; n < 9; n += 1) house.publish({ agoMs: n });
    await house.clock.advance(30 * MINUTE);
    assert.ok(house.server.requests.length > 1, 'a rescan came');
    assert.equal((await house.entries()).length, 1);
    await house.clock.advance(12 * MINUTE);
    assert.equal((await house.entries()).length, 10);
    await house.pollers.stop();
  });

  it('finds an edit where the server does not say when, and new counts without an entry', async () => {
    const house = await createPollingHarness({ polling: { overlapMs: 1000 } });
    const [edited, liked] = [house.publish(), house.publish()];
    house.pollers.start();
    await townOf(house, 2);
    house.server.timeline.change(edited, { text: 'another text' });
    house.server.timeline.change(liked, { likes: 7 });
    await house.clock.advance(30 * MINUTE);
    const edits = (await house.records()).filter(({ kind }) => kind === 'edit');
    assert.deepEqual(
      edits.map(({ postId }) => postId),
      [postIdOf(edited)],
    );
    const posts = await house.store.posts.getPosts([postIdOf(edited), postIdOf(liked)]);
    assert.equal(posts.get(postIdOf(edited))?.post.text, 'another text');
    assert.equal(posts.get(postIdOf(liked))?.post.counts.likes, 7);
    await house.pollers.stop();
  });
});

describe('removals', () => {
  async function townWithHistory(options: PollingHarnessOptions = {}) {
    const house = await createPollingHarness({ polling: { overlapMs: 1000 }, ...options });
    house.publish();
    house.pollers.start();
    const ids = await townOf(house, 5);
    await house.clock.advance(MINUTE);
    return { house, ids };
  }

  it('removes a post that is gone twice, a rescan apart', async () => {
    const { house, ids } = await townWithHistory();
    const [doomed = ''] = ids;
    house.server.timeline.change(doomed, { isDeleted: true });
    while (house.server.byId.length === 0) await house.clock.advance(1000);
    assert.deepEqual(await removedIds(house), [], 'one answer is not enough');
    const askedAtMs = house.clock.now();
    while (house.server.byId.length === 1) await house.clock.advance(1000);
    assert.ok(house.clock.now() - askedAtMs >= 5 * MINUTE - 1000);
    await house.clock.advance(1000);
    assert.deepEqual(await removedIds(house), [postIdOf(doomed)]);
    assert.ok(!(await house.store.posts.getPosts([postIdOf(doomed)])).has(postIdOf(doomed)), 'no content is kept');
    await house.pollers.stop();
  });

  it('keeps who is alive though missing, and asks once a round at most', async () => {
    const { house, ids } = await townWithHistory();
    for (const id of ids.slice(0, 10)) house.server.timeline.change(id, { isHidden: true });
    house.server.timeline.put({ id: '1', atMs: 0, visibleAtMs: 0, text: 'so that pages are full' });
    await house.clock.advance(90 * MINUTE);
    // A hidden row is left out of pages, but is there by id.
    assert.ok(house.server.byId.length >= 10);
    const times = Map.groupBy(house.server.byId.flat(), (id) => id);
    assert.ok(
      [...times.values()].every(({ length }) => length <= 4),
      'there are four rounds',
    );
    assert.deepEqual(await removedIds(house), []);
    await house.pollers.stop();
  });

  it('takes a closed server for at most 40 deletions a rescan', async () => {
    const { house } = await townWithHistory({ fetchById: () => 'gone' });
    const ids = await townOf(house, 15);
    await house.clock.advance(MINUTE);
    for (const [n, id] of ids.entries()) house.server.timeline.change(id, { isHidden: n % 3 > 0 });
    await house.clock.advance(24 * 60 * MINUTE);
    const times = (await house.records()).filter(({ kind }) => kind === 'remove').map((record) => record.arrivedAtMs);
    assert.ok(times.length > 40, `${times.length} in a day`);
    for (const atMs of times) {
      const within = times.filter((other) => other >= atMs && other < atMs + 5 * MINUTE);
      assert.ok(within.length <= 40, `${within.length} in one rescan`);
    }
    await house.pollers.stop();
  });

  it('keeps a post about which nothing is known', async () => {
    const { house, ids } = await townWithHistory({ fetchById: () => 'failed' });
    house.server.timeline.change(ids[0] ?? '', { isDeleted: true });
    await house.clock.advance(120 * MINUTE);
    assert.ok(house.server.byId.length > 1);
    assert.deepEqual(await removedIds(house), []);
    await house.pollers.stop();
  });

  it('brings a removed post back as an entry when a later read shows it', async () => {
    const { house, ids } = await townWithHistory({ polling: { overlapMs: 60 * MINUTE } });
    const [doomed = ''] = ids;
    house.server.timeline.change(doomed, { isDeleted: true });
    await house.clock.advance(60 * MINUTE);
    assert.deepEqual(await removedIds(house), [postIdOf(doomed)]);
    house.server.timeline.change(doomed, { isDeleted: false });
    await house.clock.advance(30 * MINUTE);
    const kinds = (await house.records()).filter(({ postId }) => postId === postIdOf(doomed));
    assert.deepEqual(
      kinds.map(({ kind, removedAt }) => [kind, removedAt !== undefined]),
      [
        ['entry', true],
        ['remove', false],
        ['entry', false],
      ],
    );
    await house.pollers.stop();
  });
});
