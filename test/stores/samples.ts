import type { Post } from '../../src/post.ts';
import type { PostWrite } from '../../src/stores/post-store.ts';
import type { Store } from '../../src/stores/store.ts';
import type { LogCommit, NewRecord } from '../../src/stores/timeline-store.ts';

/** Near the real time, because a store may also let its server's own clock expire what is long past. */
export const NOW = Date.now() - (Date.now() % 1000);
export const HOUR = 3_600_000;

export function samplePost(id: string, changes: Partial<Post> = {}): Post {
  return {
    id,
    upstreamId: id.split('@')[0] ?? id,
    network: 'mastodon',
    idScheme: 'mastodon',
    uri: `https://town.example/${id}`,
    text: `text of ${id}`,
    html: `<p>text of ${id}</p>`,
    createdAtMs: NOW,
    visibility: 'PUBLIC',
    sensitive: false,
    media: [],
    hashtags: [],
    mentions: [],
    emojis: [],
    counts: { likes: 1 },
    ...changes,
  };
}

/** The record of a post whose id is a number: the number is its place in time and order. */
export function sampleRecord(id: string, changes: Partial<NewRecord> = {}): NewRecord {
  const place = Number.parseInt(id, 10);
  return {
    kind: 'entry',
    postId: id,
    uri: `uri:${id}`,
    upstreamId: `up:${id}`,
    orderKey: orderKey(place),
    revision: 'r1',
    sortAtMs: NOW + place,
    arrivedAtMs: NOW + place,
    late: false,
    ...changes,
  };
}

export function orderKey(place: number): string {
  return String(place).padStart(8, '0');
}

/** Commits on the log's present version; throws when that is lost. */
export async function commitTo(store: Store, logId: string, changes: Partial<LogCommit> = {}) {
  const { version } = await store.timelines.readLog(logId);
  const commit = { logId, expectedVersion: version, nowMs: NOW, append: [], posts: [], ...changes };
  const result = await store.timelines.commit(commit);
  if (!result.committed) throw new Error('this commit should have won');
  return result.state;
}

/** Appends these entries with their bodies. */
export async function appendTo(store: Store, logId: string, ids: readonly string[], changes: Partial<LogCommit> = {}) {
  const append = ids.map((id) => sampleRecord(id));
  return commitTo(store, logId, { append, posts: ids.map((id) => written(samplePost(id))), ...changes });
}

export function written(post: Post, readAtMs = NOW): PostWrite {
  return { post, readAtMs };
}

export async function postIdsOf(records: Promise<readonly { readonly postId: string }[]>): Promise<readonly string[]> {
  return (await records).map((record) => record.postId);
}

/** Until nothing is left that has expired. */
export async function deleteAllExpired(store: Store, nowMs: number): Promise<void> {
  for (let calls = 0; await store.deleteExpired(nowMs); calls++) {
    if (calls > 1000) throw new Error('deleting does not end');
  }
}
