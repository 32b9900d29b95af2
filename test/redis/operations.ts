import type { Store } from '../../src/stores/store.ts';
import { cutOf, publication, reference } from '../stores/contract-feeds.ts';
import { commitTo, HOUR, NOW, orderKey, samplePost, sampleRecord, written } from '../stores/samples.ts';
import { until } from './until.ts';

/** Leaves `f1` as the current instance, which has successors. */
export async function useFeeds({ feeds }: Store, viewerId: string): Promise<void> {
  await feeds.putReferences([reference(1), { ...reference(2), postId: 'post 2' }], NOW + HOUR);
  await feeds.publish({ ...publication(viewerId, 'f1'), aliasTtlMs: HOUR });
  await feeds.publish({ ...publication(viewerId, 'f0'), aliasTtlMs: HOUR });
  await feeds.publishSuccessor({ ...publication(viewerId, 's1'), of: { feedId: 'f1', offset: 20 } });
  await feeds.publishSuccessor({ ...publication(viewerId, 's2'), of: { feedId: 's1', offset: 20 } });
  await feeds.cut(cutOf(viewerId, 'f1', { nowMs: NOW + HOUR / 2 }));
  await feeds.current(viewerId, NOW, { ttlMs: HOUR, count: 20 });
  await feeds.newest(viewerId, NOW);
}

/** Uses every part of a log: shows `town1`, and `town2` with `nested` in it; removes `town3`, trims `trimmed`. */
export async function useLog(store: Store, logId: string): Promise<void> {
  const { timelines } = store;
  const repost = samplePost('town2', { repostOf: samplePost('nested') });
  const record = (place: number, postId: string) => sampleRecord(`${place}`, { postId, uri: `uri:${postId}` });
  await commitTo(store, logId, {
    append: [record(1, 'trimmed')],
    posts: [written(samplePost('trimmed'))],
  });
  await commitTo(store, logId, {
    append: [record(2, 'town1'), record(3, 'town2'), record(4, 'town3')],
    posts: [samplePost('town1'), repost, samplePost('town3')].map((post) => written(post)),
    ...{
      floorKey: orderKey(0),
      watermark: { upstreamId: '4', orderKey: orderKey(4) },
      gaps: [],
      memory: { walk: '1' },
    },
    ...{
      counts: { posts: 4 },
      lateness: { counts: [1], samples: 1, maxMs: 1, fadedAtMs: NOW },
      repair: { rescannedMs: [], candidates: [] },
    },
  });
  await commitTo(store, logId, {
    append: [
      { ...record(4, 'town3'), kind: 'remove' },
      { ...record(3, 'town2'), kind: 'edit' },
    ],
  });
  await timelines.trim({ logId, beforeMs: NOW + 2, keepEntries: 99, keepKnown: 99 });
  // As a rescan reads a post once more whose record is gone.
  await commitTo(store, logId, { posts: [written(samplePost('again'))] });
  await timelines.liftHead(logId, `${NOW + 1}-0`);
  await timelines.writeStatus(logId, { state: 'OK', overlapMs: 0, problems: [] });
}

/** Brings the post `fetched` by id, and makes a secret, leases, a note and a quota. */
export async function useTheRest({ posts, secrets, leases, notes, quotas, generators }: Store): Promise<void> {
  await posts.putPosts([written(samplePost('fetched'))]);
  await secrets.getOrCreate('tokens', Buffer.from('secret'));
  await leases.acquire({ name: 'poll:town', holder: 'a', ttlMs: HOUR, nowMs: NOW });
  await leases.release('poll:town', 'b');
  await notes.write({ name: 'town a', body: 'x' });
  await quotas.take({ name: 'by id', count: 1, everyMs: 1000, burst: 9, nowMs: NOW });
  await until('a generator is leased', async () => {
    const lease = { holder: 'a', ttlMs: HOUR, markMs: NOW, pauseMs: 1, nowMs: NOW };
    return typeof (await generators.lease(lease)) === 'object';
  });
}
