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

/** Uses every part of a log, and of its lease: shows `town1`, and `town2` with `nested` in it; removes `town3`, trims `trimmed`. */
export async function useLog(store: Store, logId: string): Promise<void> {
  const { timelines, leases } = store;
  const repost = samplePost('town2', { repostOf: samplePost('nested') });
  const record = (place: number, postId: string) => sampleRecord(`${place}`, { postId, uri: `uri:${postId}` });
  await leases.acquire({ name: `poll:${logId}`, holder: 'a', ttlMs: HOUR, nowMs: NOW });
  await commitTo(store, logId, {
    append: [record(1, 'trimmed')],
    posts: [written(samplePost('trimmed'))],
    holder: 'a',
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
    ...{ counts: { posts: 4 }, lateness: { counts: [1], samples: 1, maxMs: 1, fadedAtMs: NOW }, sweep: {} as never },
  });
  await commitTo(store, logId, {
    append: [
      { ...record(4, 'town3'), kind: 'remove' },
      { ...record(3, 'town2'), kind: 'edit' },
    ],
  });
  await timelines.trim({ logId, beforeMs: NOW + 2, keepEntries: 99, keepKnown: 99 });
  // As a sweep reads a post once more whose record is gone.
  await commitTo(store, logId, { posts: [written(samplePost('again'))] });
  await timelines.liftHead(logId, `${NOW + 1}-0`);
  await timelines.writeStatus(logId, { state: 'OK', overlapMs: 0, problems: [] });
  await leases.release(`poll:${logId}`, 'b');
}

/** Brings the post `fetched` by id, and makes a secret and a lease of a generator. */
export async function useTheRest({ posts, secrets, generators }: Store): Promise<void> {
  await posts.putPosts([written(samplePost('fetched'))]);
  await posts.markGone(['fetched'], NOW);
  await secrets.getOrCreate('tokens', Buffer.from('secret'));
  await until('a generator is leased', async () => {
    const lease = { holder: 'a', ttlMs: HOUR, markMs: NOW, pauseMs: 1, nowMs: NOW };
    return typeof (await generators.lease(lease)) === 'object';
  });
}
