import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { Redis } from 'ioredis';
import { systemClock } from '../../src/clock.ts';
import { createForYou } from '../../src/feed/for-you.ts';
import { createStoryKeys } from '../../src/ids/story-key.ts';
import { createTokens } from '../../src/ids/tokens.ts';
import { createHydrator } from '../../src/loaders.ts';
import { openRedisStore } from '../../src/stores/redis.ts';
import { redisKeys } from '../../src/stores/redis-keys.ts';
import type { Store } from '../../src/stores/store.ts';
import { createSource } from '../../test/edge-fixture.ts';
import { createPool } from '../redis-memory/pool.ts';

export const PAGE = 20;
const TTL_MS = 3_600_000;

/** A viewer's instance, with the sealed cursors of its pages from the second on. */
export interface Feed {
  readonly viewerId: string;
  readonly feedId: string;
  readonly cursors: readonly string[];
}

export const WORKS = ['GETRANGE', 'cut + posts', 'page'] as const;
export type Work = (typeof WORKS)[number];

/** `total` pieces of work, so many of them under way at once. */
export interface Job {
  readonly work: Work;
  readonly total: number;
  readonly atOnce: number;
}

/** The For You feed as a gateway has it, over the Redis store. All gateways share keys and the one source. */
export function createGateway(store: Store) {
  const { recommender } = createPool(1);
  const tokens = createTokens([Buffer.alloc(32, 9)]);
  const forYou = createForYou({
    feeds: store.feeds,
    recommender,
    local: recommender,
    storyKeys: createStoryKeys([Buffer.alloc(32, 7)]),
    clock: systemClock,
    settings: { size: 500, instanceTtlSeconds: TTL_MS / 1000, currentTtlSeconds: 600, whenGone: 'continue' },
  });
  const sources = [createSource('town')];
  const hydrator = createHydrator({ ...store, sources, takeById: async () => 0, clock: systemClock });
  return { forYou, tokens, hydrateFor: (userId: string) => hydrator.forViewer({ userId }).hydrate };
}

/** In a thread of its own: takes jobs, and gives the ms that each piece took. */
async function serve(parent: NonNullable<typeof parentPort>, { url, feeds }: { url: string; feeds: readonly Feed[] }) {
  const spec = { kind: 'redis', url } as const;
  const store = await openRedisStore({ feeds: spec, timelines: spec });
  const redis = new Redis(url, { enableAutoPipelining: true });
  const { forYou, tokens, hydrateFor } = createGateway(store);
  let turn = 0;

  const works: Record<Work, (feed: Feed, page: number) => Promise<number>> = {
    async GETRANGE({ viewerId, feedId }, page) {
      const from = 32 + 8 * PAGE * page;
      const key = redisKeys('').feeds(viewerId) + feedId;
      return (await redis.getrangeBuffer(key, from, from + 8 * PAGE - 1)).length / 8;
    },
    async 'cut + posts'({ viewerId, feedId }, page) {
      const range = { offset: PAGE * page, count: PAGE };
      const cut = await store.feeds.cut({ viewerId, feedId, ...range, nowMs: Date.now(), ttlMs: TTL_MS });
      const ids = cut?.items.flatMap(({ postId }) => postId ?? []) ?? [];
      return (await store.posts.getPosts(ids)).size;
    },
    async page({ viewerId, cursors }, page) {
      const cursor = tokens.openFeedCursor(viewerId, cursors[page - 1] ?? '');
      const candidates = () => Promise.reject(new Error('the instance is there'));
      const hydrate = hydrateFor(viewerId);
      const { items, next } = await forYou.page({ userId: viewerId, limit: PAGE, cursor, candidates, hydrate });
      if (next) tokens.sealFeedCursor(viewerId, next);
      return items.length;
    },
  };

  async function run({ work, total, atOnce }: Job): Promise<readonly number[]> {
    const times: number[] = [];
    let started = 0;
    const workOn = async () => {
      while (started < total) {
        started += 1;
        turn += 1;
        const feed = feeds[turn % feeds.length];
        if (!feed) throw new Error('no feed');
        const page = 1 + (Math.floor(turn / feeds.length) % feed.cursors.length);
        const fromMs = performance.now();
        const count = await works[work](feed, page);
        times.push(performance.now() - fromMs);
        if (count !== PAGE) throw new Error(`${work}: page ${page + 1} has ${count} items`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, workOn));
    return times;
  }

  parent.on('message', async (job: Job) => parent.postMessage(await run(job)));
  parent.postMessage('ready');
}

if (!isMainThread && parentPort) await serve(parentPort, workerData);
