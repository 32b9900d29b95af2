import { randomBytes } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { Redis } from 'ioredis';
import { systemClock } from '../../src/clock.ts';
import { createForYou, type ForYouRequest } from '../../src/feed/for-you.ts';
import { createStoryKeys } from '../../src/ids/story-key.ts';
import { createTokens } from '../../src/ids/tokens.ts';
import { openRedisStore } from '../../src/stores/redis.ts';
import type { Pool } from './pool.ts';
import { HOUR_MS, PAGE } from './workload.ts';

/** Keeps feeds in a Redis, in one of the ways that are compared. */
export interface Keeper {
  /** Makes a feed, keeps it and shows its first page. `atMs` is ms of the day. */
  first(viewerId: string, atMs: number): Promise<Scroll>;
  close(): Promise<void>;
}

export interface Scroll {
  next(atMs: number): Promise<Outcome>;
}

/** What became of a page that was asked for with a cursor. */
export interface Outcome {
  /** There was nothing to go on with. */
  readonly isDead: boolean;
  /** A story of this scroll came again; of a dead one: would have, had a new feed stood in for the lost one. */
  readonly repeats: boolean;
}

interface KeeperDeps {
  readonly url: string;
  readonly pool: Pool;
  /** Ms of the day in a ms of real time: what lives for an hour lives for so much less. */
  readonly factor: number;
}

/** Lists of the best 500 by plain SET and EX, of which the published rule shows an empty page once they are gone. */
export function listKeeper(deps: KeeperDeps & { ttlMs: number; render: Render }): Keeper {
  const { pool, render } = deps;
  const redis = new Redis(deps.url, { enableAutoPipelining: true });
  const ttlMs = Math.round(deps.ttlMs / deps.factor);
  return {
    async first(viewerId, atMs) {
      const order = pool.order(atMs);
      const key = `{${viewerId}}:HOMEPAGE:${randomBytes(8).toString('hex')}`;
      await redis.set(key, render(order), 'PX', ttlMs);
      const served = order.slice(0, PAGE);
      return {
        async next(nowMs) {
          const isDead = (await redis.exists(key)) === 0;
          const from = isDead ? pool.order(nowMs) : order;
          const page = from.slice(served.length, served.length + PAGE);
          const repeats = page.some((index) => served.includes(index));
          served.push(...page);
          return { isDead, repeats };
        },
      };
    },
    async close() {
      redis.disconnect();
    },
  };
}

/** What is kept of a feed, of the indexes of its posts. */
type Render = (order: readonly number[]) => string | Buffer;
export type Rendering = (pool: Pool) => Render;

/** The ids as 8 bytes each, without reasons. */
export function packedIds(pool: Pool): Render {
  const ids = pool.posts.map(({ upstreamId }) => BigInt(upstreamId));
  return (order) => {
    const bytes = Buffer.alloc(8 * order.length);
    for (const [n, index] of order.entries()) bytes.writeBigUInt64BE(BigInt.asUintN(64, ids[index] ?? 0n), 8 * n);
    return bytes;
  };
}

/** What another rendering makes, compressed by zstd at its default level. */
export function compressed(rendering: Rendering): Rendering {
  return (pool) => {
    const render = rendering(pool);
    return (order) => zstdCompressSync(render(order));
  };
}

/** Each item as an object, as feeds are often kept. */
export function jsonItems(pool: Pool): (order: readonly number[]) => string {
  const items = pool.posts.map(({ upstreamId }, index) =>
    JSON.stringify({
      id: upstreamId,
      type: 'post',
      source: 'home',
      score: Number((1 - index / pool.posts.length).toFixed(3)),
      author: upstreamId.replace(/^1/, '2'),
      reason: pool.reasonOf(index).text,
    }),
  );
  return (order) => `[${order.map((index) => items[index]).join()}]`;
}

/** The ids alone, without reasons. */
export function jsonIds(pool: Pool): (order: readonly number[]) => string {
  const ids = pool.posts.map(({ upstreamId }) => JSON.stringify(upstreamId));
  return (order) => `[${order.map((index) => ids[index]).join()}]`;
}

/** Sluice: its For You feed over its Redis store; a scroll holds nothing but the sealed cursor that a client would. */
export async function ourKeeper({ url, pool, factor }: KeeperDeps): Promise<Keeper> {
  const spec = { kind: 'redis', url } as const;
  const store = await openRedisStore({ feeds: spec, timelines: spec });
  const seconds = (ms: number) => Math.round(ms / factor) / 1000;
  const { recommender } = pool;
  const forYou = createForYou({
    feeds: store.feeds,
    recommender,
    local: recommender,
    storyKeys: createStoryKeys([Buffer.alloc(32, 7)]),
    clock: systemClock,
    settings: {
      size: 500,
      instanceTtlSeconds: seconds(HOUR_MS),
      currentTtlSeconds: seconds(HOUR_MS / 6),
      whenGone: 'continue',
    },
  });
  const tokens = createTokens([Buffer.alloc(32, 9)]);

  function request(userId: string, atMs: number): ForYouRequest {
    return {
      userId,
      limit: PAGE,
      candidates: async () => ({ candidates: pool.candidates(atMs), problems: [] }),
      hydrate: async (ids) => ({ posts: pool.read(ids), problems: [] }),
    };
  }

  return {
    async first(viewerId, atMs) {
      const page = await forYou.page(request(viewerId, atMs));
      if (page.problems.length > 0) throw new Error(page.problems[0]?.message);
      const served = new Set(page.items.map(({ post }) => post.id));
      let cursor = page.next && tokens.sealFeedCursor(viewerId, page.next);
      return {
        async next(nowMs) {
          if (cursor === undefined) return { isDead: true, repeats: false };
          const opened = tokens.openFeedCursor(viewerId, cursor);
          const { items, next } = await forYou.page({ ...request(viewerId, nowMs), cursor: opened });
          const repeats = items.some(({ post }) => served.has(post.id));
          for (const { post } of items) served.add(post.id);
          cursor = next && tokens.sealFeedCursor(viewerId, next);
          return { isDead: items.length === 0, repeats };
        },
      };
    },
    async close() {
      await forYou.drain();
      await store.close();
    },
  };
}
