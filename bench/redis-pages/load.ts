import { openRedisStore } from '../../src/stores/redis.ts';
import { createSource, publish } from '../../test/edge-fixture.ts';
import { createPool } from '../redis-memory/pool.ts';
import { createGateway, type Feed, PAGE } from './gateway.ts';

/** Puts the posts of a source into the Redis and one feed of 500 for each viewer; reads each to its end for its cursors. */
export async function load(url: string, viewers: number): Promise<readonly Feed[]> {
  const spec = { kind: 'redis', url } as const;
  const store = await openRedisStore({ feeds: spec, timelines: spec });
  const pool = createPool(1);
  const candidates = pool.candidates(0);
  await publish(
    { store, time: { nowMs: Date.now() } },
    createSource('town'),
    candidates.map(({ post }) => post),
  );
  const { forYou, tokens, hydrateFor } = createGateway(store);
  const feeds: Feed[] = [];
  for (let n = 0; n < viewers; n += 1) {
    const viewerId = `u${123_456 + n}`;
    const request = {
      userId: viewerId,
      limit: PAGE,
      candidates: async () => ({ candidates, problems: [] }),
      hydrate: hydrateFor(viewerId),
    };
    let page = await forYou.page(request);
    const feedId = page.feed?.feedId ?? '';
    const cursors: string[] = [];
    while (page.next) {
      cursors.push(tokens.sealFeedCursor(viewerId, page.next));
      page = await forYou.page({ ...request, cursor: page.next });
    }
    feeds.push({ viewerId, feedId, cursors });
  }
  await store.close();
  return feeds;
}
