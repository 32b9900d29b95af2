import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { FeedInstance, InstanceHeader, Publication } from '../../src/stores/feed-store.ts';
import type { Store } from '../../src/stores/store.ts';
import { HOUR } from '../stores/samples.ts';
import type { Call } from './calls.ts';

const ITEMS = 20;
const PAGE = 5;

/** An instance whose id tells what it holds. */
export function sampleInstance(feedId: string, items = ITEMS): FeedInstance {
  const nowMs = Date.now();
  return {
    feedId,
    generatedAtMs: nowMs,
    items: Array.from({ length: items }, (_, n) => ({ hash: itemOf(feedId, n) })),
  };
}

export function samplePublication(
  viewerId: string,
  feedId: string,
  items = ITEMS,
): Publication & { aliasTtlMs: number } {
  const instance = sampleInstance(feedId, items);
  return { viewerId, instance, nowMs: Date.now(), ttlMs: HOUR, aliasTtlMs: HOUR, keep: 4 };
}

export function itemOf(feedId: string, n: number): string {
  return createHash('sha256').update(`${feedId} ${n}`).digest('hex').slice(0, 16);
}

/** A viewer who opens the feed, now and then makes a new one, and reads a page of it, which must be its own. */
export function scrollFeeds(store: Store, viewerIds: readonly string[], name: string): (call: Call) => Promise<void> {
  let turns = 0;
  return async (call) => {
    const viewerId = viewerIds[(turns * 7) % viewerIds.length] ?? '';
    turns += 1;
    const found = await call(() => store.feeds.current(viewerId, Date.now()));
    if (!found) return;
    const isNew = !found.instance || turns % 3 === 0;
    const publication = samplePublication(viewerId, `${viewerId}.${name}.${turns}`);
    const { items } = publication.instance;
    const publish = () =>
      call(async () => {
        const references = items.map(({ hash }) => ({ hash, key: hash, postId: hash }));
        const put = store.feeds.putReferences(references, publication.nowMs + 2 * HOUR);
        const [winner] = await Promise.all([store.feeds.publish({ ...publication, replaces: found.alias }), put]);
        return winner;
      });
    const header = isNew ? ((await publish()) ?? (await publish())) : found.instance;
    if (header) await readPage(store, { viewerId, header, offset: PAGE * (turns % 4) }, call);
  };
}

async function readPage(
  store: Store,
  { viewerId, header, offset }: { viewerId: string; header: InstanceHeader; offset: number },
  call: Call,
): Promise<void> {
  const { feedId } = header;
  const page = { viewerId, feedId, offset, count: PAGE, nowMs: Date.now(), ttlMs: HOUR };
  const cut = await call(() => store.feeds.cut(page));
  if (!cut) return;
  assert.deepEqual([cut.feedId, cut.size], [feedId, ITEMS]);
  assert.deepEqual(
    cut.items.map(({ hash }) => hash),
    Array.from({ length: PAGE }, (_, n) => itemOf(feedId, offset + n)),
  );
}
